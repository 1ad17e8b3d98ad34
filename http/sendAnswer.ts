/** An answer, once it is there, on its way to the client. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { JsonAnswer, RawAnswer, WrittenAnswer } from './answer/answer.ts'
import { type CacheClass, cacheControl } from './answer/cache.ts'
import { sendChallenge } from './answer/challenge.ts'
import type { Endpoint } from './endpoint.ts'
import type { Deadline } from './request/deadline.ts'
import { EventStream, encodeFrame } from './stream/sse.ts'

/** The signals that end streams. */
interface SendContext {
  readonly clock: Clock
  readonly log: Logger
  /** Aborted when the program begins to stop. */
  readonly shutdown: AbortSignal
}

/** Sends an answer as HTTP: its status, its headers, and how it may be kept. */
export function sendAnswer<Services>(
  answer: JsonAnswer | WrittenAnswer | RawAnswer,
  endpoint: Endpoint<Services>,
  request: FastifyRequest,
  reply: FastifyReply,
  context: SendContext,
  deadline: Pick<Deadline, 'signal' | 'lift'>,
): FastifyReply | Promise<FastifyReply> {
  if (answer.kind === 'challenged') {
    sendChallenge(answer, reply)
    return reply
  }
  const { vary, ...others } = answer.headers ?? {}
  reply.headers(others)
  if (vary !== undefined) addVary(reply, vary)
  // One URL, another chain for a sandbox key: a shared cache must tell them apart.
  if (endpoint.chain !== 'none') addVary(reply, 'authorization, svc-api-key')
  switch (answer.kind) {
    case 'json': {
      const { status = endpoint.produces.kind === 'json' ? endpoint.produces.status : 200 } = answer
      return reply.code(status).header('cache-control', cachedAs(request, answer.cache)).send(answer.value)
    }
    case 'written': {
      const { text, tag, cache } = answer
      return reply
        .code(200)
        .headers({
          'cache-control': cachedAs(request, cache),
          'content-type': jsonType,
          ...(cache !== 'none' && !request.isPaid && { etag: tag }),
        })
        .send(text)
    }
    case 'bytes': {
      const { status = 200, cache = 'none', contentType, body, trailers, isLong = false } = answer
      for (const name of trailers?.names ?? [])
        reply.trailer(name, async () => trailers?.values()[name] ?? '')
      if (isLong) deadline.lift()
      if (body instanceof Readable) {
        deadline.signal.addEventListener('abort', () => body.destroy(deadline.signal.reason), { once: true })
      }
      const payload =
        body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : body
      return reply
        .code(status)
        .header('cache-control', cachedAs(request, cache))
        .type(contentType)
        .send(payload)
    }
    case 'empty':
      return reply
        .code(answer.status ?? 204)
        .header('cache-control', cacheControl('none'))
        .send()
    case 'events':
      return stream(answer, request, reply, context, deadline)
  }
}

async function stream(
  answer: Extract<RawAnswer, { kind: 'events' }>,
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, shutdown, log }: SendContext,
  deadline: Pick<Deadline, 'signal' | 'lift'>,
): Promise<FastifyReply> {
  deadline.lift()
  request.streamsSinceMs = clock.monotonic()
  if (request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send()
  reply.hijack()
  const events = new EventStream(reply.raw, reply.getHeaders(), { clock, gone: deadline.signal, shutdown })
  request.stream = events
  if (request.isPaid) void endAfter(PAID_STREAM_MS, events, clock)
  try {
    await answer.write(events)
  } catch (error) {
    // After the first byte there is no status left to send: the client sees the stream end and
    // resumes.
    if (!events.signal.aborted) log.error({ requestId: request.id, cause: error }, 'a live stream failed')
  } finally {
    events.close()
  }
  if (events.end === 'bufferFull' || events.end === 'stalled') {
    log.warn(
      { requestId: request.id, reason: events.end },
      'dropped a live stream whose client does not read',
    )
  }
  return reply
}

/** A stream that is paid for once ends at some time; its client pays for the next one. */
const PAID_STREAM_MS = 10 * 60_000

async function endAfter(ms: number, events: EventStream, clock: Clock): Promise<void> {
  const isOver = await clock.sleep(ms, events.signal).then(
    () => true,
    () => false,
  )
  if (!isOver) return
  events.send(encodeFrame({ event: 'closing', data: { ok: true, reason: 'paid_time_over' } }))
  events.close('timeOver')
}

/** A paid answer is its payer's alone, and never told by a 304. */
const cachedAs = (request: FastifyRequest, cache: CacheClass): string =>
  request.isPaid ? 'private, no-store' : cacheControl(cache)

/** Adds to what the answer varies by already, such as the origin. */
function addVary(reply: FastifyReply, names: string): void {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? names : `${before}, ${names}`)
}

const jsonType = 'application/json; charset=utf-8'
