/**
 * A live query as events, across lost connections: after a loss the stream goes on from the last
 * place it saw (Last-Event-ID), so that nothing is missed or doubled; where the server cannot, it
 * says `lagged`.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { postQuery } from './indexerClient.ts'
import {
  isObject,
  parseFailure,
  parseQueryAnswer,
  type QueryAnswer,
  type QueryRequest,
  RequestFailure,
} from './queryAnswer.ts'

/** A block an event speaks of. */
export interface EventBlock {
  readonly num: number
  readonly hash: string
}

export type LiveEvent =
  /** Connected; `block` is where the stream begins. */
  | { readonly kind: 'progress'; readonly block: number }
  /** The query over these blocks alone, or its whole result, which replaces the one before. */
  | {
      readonly kind: 'result'
      readonly answer: QueryAnswer
      readonly blocks: readonly EventBlock[]
      readonly isWhole: boolean
    }
  /** These blocks are orphaned. */
  | { readonly kind: 'retract'; readonly blocks: readonly EventBlock[] }
  | { readonly kind: 'finalized'; readonly block: number }
  /** Blocks of which no news, or no sure news, was told; older ones stand. */
  | { readonly kind: 'lagged'; readonly from: number; readonly to: number }
  /** No answer for a block, or none yet. */
  | { readonly kind: 'failed'; readonly message: string }
  /** Not connected; tried again after `waitMs`. */
  | { readonly kind: 'waiting'; readonly waitMs: number; readonly reason: string }

/**
 * `blocks` tells the rows of every new block, or the whole result where these do not continue it;
 * `snapshot` the whole result whenever it changed.
 */
export type LiveMode = 'blocks' | 'snapshot'

/** Waiting, by argument; a browser's or the program's clock. */
export interface Sleep {
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

const WAIT_MS_FIRST = 1_000
const WAIT_MS_MAX = 30_000
/** The server says something every 15 s; a silence of three of these is a dead connection. */
const SILENCE_MS_MAX = 45_000
/** One result of 10,000 rows of the widest columns fits; more is not one of our frames. */
const FRAME_CHARACTERS_MAX = 64 * 1024 * 1024

/**
 * Ends only with the signal. @throws RequestFailure for a query the server refuses, or the signal's
 * reason
 */
export async function* readLive(
  origin: string,
  request: QueryRequest,
  mode: LiveMode,
  clock: Sleep,
  signal: AbortSignal,
): AsyncGenerator<LiveEvent, never> {
  let lastEventId: string | null = null
  let waitMs = WAIT_MS_FIRST
  for (;;) {
    let reason = 'The stream ended.'
    try {
      const response = await postQuery(origin, request, {
        signal,
        live: mode === 'snapshot' ? mode : true,
        lastEventId,
      })
      for await (const message of messages(response, clock, signal)) {
        if (message.id !== undefined) lastEventId = message.id
        waitMs = WAIT_MS_FIRST
        const event = eventOf(message)
        if (event) yield event
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!(error instanceof RequestFailure) || !error.passes) throw error
      reason = error.message
    }
    yield { kind: 'waiting', waitMs, reason }
    await clock.sleep(waitMs, signal)
    waitMs = Math.min(2 * waitMs, WAIT_MS_MAX)
  }
}

/** The events of a response, until it ends. @throws RequestFailure, or the signal's reason */
export async function* messages(
  response: Response,
  clock: Sleep,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage> {
  const reader = response.body?.getReader()
  if (!reader) return
  const complete: EventSourceMessage[] = []
  const parser = createParser({
    onEvent: (message) => complete.push(message),
    maxBufferSize: FRAME_CHARACTERS_MAX,
  })
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { value, done } = await withoutSilence(reader.read(), clock, signal)
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      yield* complete.splice(0)
    }
  } catch (cause) {
    if (signal.aborted || cause instanceof RequestFailure) throw cause
    throw new RequestFailure('connection_lost', 'The connection was lost.', 0, null, { cause })
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function withoutSilence<Value>(
  reading: Promise<Value>,
  clock: Sleep,
  signal: AbortSignal,
): Promise<Value> {
  const read = new AbortController()
  const silence = clock.sleep(SILENCE_MS_MAX, AbortSignal.any([signal, read.signal])).then(
    () => {
      throw new RequestFailure('connection_silent', 'The connection went silent.', 0)
    },
    () => new Promise<never>(() => {}),
  )
  try {
    return await Promise.race([reading, silence])
  } finally {
    read.abort()
  }
}

function eventOf({ event, data }: EventSourceMessage): LiveEvent | null {
  const body: unknown = JSON.parse(data)
  if (!isObject(body)) return null
  switch (event) {
    case 'result':
      return {
        kind: 'result',
        answer: parseQueryAnswer(body),
        blocks: blocksOf(body),
        isWhole: body['reset'] === true,
      }
    case 'retract':
      return { kind: 'retract', blocks: blocksOf(body) }
    case 'progress':
      return { kind: 'progress', block: Number(body['block']) }
    case 'finalized':
      return { kind: 'finalized', block: Number(body['finalized']) }
    case 'lagged':
      return { kind: 'lagged', from: Number(body['from']), to: Number(body['to']) }
    case 'error':
      return { kind: 'failed', message: parseFailure(body, 0).message }
    default:
      return null
  }
}

/** The server's own schema: `blocks: [{num, hash}]`. */
const blocksOf = ({ blocks }: Readonly<Record<string, unknown>>): readonly EventBlock[] =>
  Array.isArray(blocks) ? (blocks as EventBlock[]) : []
