/** Requests that are for the way of payment alone: answered before a route, and sold nothing. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { sendChallenge } from './answer/challenge.ts'
import type { Access, Managed } from './request/access.ts'
import type { Deadlines } from './request/deadline.ts'

/** A transaction is sent and seen in a block within it. */
const DEADLINE_MS = 60_000

export function addManagement(app: FastifyInstance, access: Access, deadlines: Deadlines): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, method, url, ip: remoteAddress, routeOptions } = request
    const length = headers['content-length']
    const hasBody = (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined
    if (hasBody && routeOptions.config.takesPayments) return done()
    const managing = access.manage?.({ headers, method, url, remoteAddress, hasBody })
    if (!managing) return done()
    const { bound } = deadlines.start(reply.raw, DEADLINE_MS)
    bound(managing).then((managed) => void answer(managed, reply), done)
  })
}

function answer(managed: Managed, reply: FastifyReply): void {
  if (managed.kind === 'challenged') sendChallenge(managed, reply)
  else {
    const status = reply.request.method === 'HEAD' ? 200 : 204
    reply.headers(managed.headers).header('cache-control', 'private, no-store').code(status).send()
  }
}
