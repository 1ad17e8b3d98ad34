/**
 * The demand for payment, as the protocols of payment write it: 402, or 410 if what should have paid is
 * gone.
 */
import type { FastifyReply } from 'fastify'
import type { Challenged } from '../request/access.ts'
import { withoutQuota } from './cache.ts'

export function sendChallenge(
  { status = 402, headers, contentType, body }: Challenged,
  reply: FastifyReply,
): 'challenged' {
  reply.headers(headers)
  withoutQuota(reply)
  reply.code(status).header('cache-control', 'no-store').type(contentType).send(body)
  return 'challenged'
}
