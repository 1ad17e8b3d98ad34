/** What is to be paid: 402, as the protocols of payment write it. */
import type { FastifyReply } from 'fastify'
import type { Challenged } from '../request/access.ts'
import { withoutQuota } from './cache.ts'

export function sendChallenge({ headers, contentType, body }: Challenged, reply: FastifyReply): 'challenged' {
  reply.headers(headers)
  withoutQuota(reply)
  reply.code(402).header('cache-control', 'no-store').type(contentType).send(body)
  return 'challenged'
}
