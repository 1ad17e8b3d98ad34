/** The program's own server, asked in process: what is asked passes through its door as any request does. */
import type { FastifyInstance } from 'fastify'
import { readBounded } from '#egress/body.ts'
import type { OwnCallsOptions } from '#orchestrator/job/OwnCalls.ts'

export const askServer =
  (server: () => FastifyInstance): OwnCallsOptions['ask'] =>
  async ({ method, url, headers, remoteAddress, body, bytesMax, signal }) => {
    const answer = await server().inject({
      ...{ method, url, headers: { ...headers }, remoteAddress, signal, payloadAsStream: true },
      ...(body !== null && { payload: body }),
    })
    const read = await readBounded(answer.stream(), bytesMax, false)
    const [type = ''] = `${answer.headers['content-type'] ?? ''}`.split(';')
    return { status: answer.statusCode, contentType: type.trim().toLowerCase(), body: read }
  }
