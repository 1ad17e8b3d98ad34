/** How an error leaves: the envelope of the specification, on every path a response can take. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { messageOf } from '#errors.ts'
import type { Logger } from '#telemetry.ts'
import { ApiError, type ErrorCode, linkOf } from '../errors.ts'
import { ClientGoneError } from '../request/deadline.ts'
import { lingeringReply } from './lingeringReply.ts'
import { apiErrorOf } from './thrown.ts'

/** `{error: {code, message, details?}, requestId}`. */
function errorEnvelope(error: ApiError, requestId: string): object {
  const { code, message, details } = error
  return { error: { code, message, ...(details.length > 0 && { details }) }, requestId }
}

/**
 * Sends any thrown value. What is not the client's doing is logged with its cause, under the
 * request's id.
 */
export function sendError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Logger,
): FastifyReply {
  if (thrown instanceof ClientGoneError || (request.raw.destroyed && !request.raw.complete))
    return abandon(reply)
  const error = apiErrorOf(thrown)
  if (error.status >= 500) logFailure(error, request, log)
  const extra = request.routeOptions.config.errorFields ?? {}
  const text = JSON.stringify({ ...extra, ...errorEnvelope(error, request.id) })
  reply
    .code(error.status)
    .removeHeader('etag')
    .headers({
      'cache-control': 'no-store',
      'content-type': jsonType,
      'svc-request-id': request.id,
      link: linkOf(error.code),
      ...error.headers,
    })
  if (error.code !== 'body_too_large' || request.raw.complete) return reply.send(text)
  // The client has it all before it ends: its length is told, and the compressor would hold it
  // back.
  request.headers['x-no-compression'] = 'lingering'
  return reply.header('content-length', Buffer.byteLength(text)).send(lingeringReply(text, request.raw))
}

/** Sends no answer: nobody reads it. 499 is what proxies log for it. */
export function abandon(reply: FastifyReply): FastifyReply {
  reply.raw.statusCode = 499
  return reply.hijack()
}

/**
 * Answers a request that the HTTP parser refused, on its bare socket. Nothing is written into a
 * response that has begun; such a connection is cut.
 */
export function sendParserError(
  error: Error,
  socket: Socket,
  requestId: string,
  answering: boolean,
  common: Readonly<Record<string, string>>,
): void {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'ECONNRESET' || !socket.writable || answering) return void socket.destroy()
  const refusal = new ApiError(parserCodes.get(code) ?? 'request_invalid')
  const body = JSON.stringify(errorEnvelope(refusal, requestId))
  const headers = {
    ...common,
    'cache-control': 'no-store',
    'content-type': jsonType,
    'content-length': `${Buffer.byteLength(body)}`,
    'svc-request-id': requestId,
    link: linkOf(refusal.code),
    connection: 'close',
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${head.join('')}\r\n${body}`)
}

const jsonType = 'application/json; charset=utf-8'

/** Node's parser and timer errors (node:http "clientError"). */
const parserCodes = new Map<string, ErrorCode>([
  ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'body_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_incomplete'],
])

/** The route's pattern, never its URL: a query string can hold a key. */
function logFailure(error: ApiError, request: FastifyRequest, log: Logger): void {
  const facts = {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.config.template ?? 'unmatched',
    code: error.code,
    cause: error.cause === undefined ? undefined : messageOf(error.cause),
    stack: error.code === 'internal_error' && error.cause instanceof Error ? error.cause.stack : undefined,
  }
  if (error.code === 'internal_error') log.error(facts, 'a request failed through a defect of ours')
  // Strangers can have as many of these as they like: they fill no log.
  else if (error.code === 'overloaded' && error.cause === undefined) log.debug(facts, 'a request was put off')
  else log.warn(facts, 'a request failed')
}
