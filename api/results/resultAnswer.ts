/**
 * A result as an HTTP answer, written while the engine gives it. The first bytes are held back: a
 * result that ends within them has a length, an entity tag, its facts in the headers, and an error
 * of it has a status. Of a longer one the facts follow as trailers, and an error cuts the
 * connection, so that nobody takes a part for the whole.
 */
import { createHash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { RawAnswer } from '#http/answer/answer.ts'
import type { CacheClass } from '#http/answer/cache.ts'
import { isExport } from '#query/limits.ts'
import type { QueryRequest, ResultHead, UserQueryEngine } from '#query/result.ts'
import type { FormatName, ResultEncoder, WrittenEnd, WrittenHead } from './format.ts'
import { formats } from './formats.ts'

/**
 * Most results end within this, and give their slot in the engine back before a slow client has
 * read them.
 */
const HELD_BYTES_MAX = 4 * 1024 * 1024
/** An export is longer than that anyhow: so much of it is held, and is ready while the client reads. */
const EXPORT_HELD_BYTES_MAX = 1024 * 1024

export interface ResultQuestion {
  readonly engine: UserQueryEngine
  readonly request: QueryRequest
  readonly horizon: WrittenHead['horizon']
  readonly format: FormatName
  readonly cache: CacheClass
}

/** @throws UserQueryError for what fails before the answer begins */
export async function answerResult(question: ResultQuestion): Promise<RawAnswer> {
  const { contentType } = formats[question.format]
  const facts: Facts = {}
  const pieces = writeResult(question, facts)
  const isLong = isExport(question.request.limit)
  const held: Uint8Array[] = []
  let heldBytes = 0
  while (heldBytes <= (isLong ? EXPORT_HELD_BYTES_MAX : HELD_BYTES_MAX)) {
    const { value, done } = await pieces.next()
    if (done) {
      const { cache } = question
      const headers = { ...headersOf(question, facts), ...endHeaders(facts), ...tagOf(question, facts) }
      return { kind: 'bytes', contentType, body: Buffer.concat(held), cache, headers }
    }
    held.push(value)
    heldBytes += value.length
  }
  return {
    kind: 'bytes',
    contentType,
    body: Readable.from(continued(held, pieces), { objectMode: false, highWaterMark: EXPORT_HELD_BYTES_MAX }),
    headers: headersOf(question, facts),
    trailers: { names: endHeaderNames, values: () => endHeaders(facts) },
    isLong,
  }
}

/** Facts that become known of a result while it is written. */
interface Facts {
  head?: ResultHead
  end?: WrittenEnd
}

async function* writeResult(
  { engine, request, horizon, format }: ResultQuestion,
  facts: Facts,
): AsyncGenerator<Uint8Array, void, undefined> {
  const open = await formats[format].load()
  const digest = createHash('sha256')
  let encoder: ResultEncoder | undefined
  for await (const event of engine.stream(request)) {
    if (event.kind === 'head') {
      facts.head = event.head
      digest.update(`${JSON.stringify([event.head.columns, event.head.columnTypes])}\n`)
      encoder = open({ ...event.head, horizon })
      yield encoder.head()
    } else if (event.kind === 'rows' && encoder) {
      digest.update(event.rows.json)
      yield encoder.rows(event.rows)
    } else if (event.kind === 'end' && encoder) {
      facts.end = { ...event.end, digest: `sha256:${digest.digest('hex')}` }
      yield encoder.end(facts.end)
    }
  }
}

async function* continued(
  held: readonly Uint8Array[],
  pieces: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* held
    yield* pieces
  } finally {
    // Also when the client leaves while it still reads what was held.
    await pieces.return()
  }
}

const endHeaderNames = [
  'svc-row-count',
  'svc-truncated',
  'svc-query-time-ms',
  'svc-rows-read',
  'svc-bytes-read',
  'svc-result-digest',
] as const

function headersOf({ horizon, request }: ResultQuestion, { head }: Facts): Record<string, string> {
  return {
    vary: 'accept',
    'svc-column-types': head?.columnTypes.join(',') ?? '',
    'svc-horizon': `${horizon.from}-${horizon.to}`,
    'svc-row-limit': `${request.limit}`,
  }
}

/**
 * A weak tag, of the result and of what it was read from: the time the query took is part of the
 * body, so equal results are equivalent and not the same bytes (RFC 9110, 8.8.1).
 */
function tagOf({ horizon, format, cache }: ResultQuestion, { end }: Facts): Record<string, string> {
  if (!end || cache === 'none') return {}
  const result = `${end.digest}-${end.truncated ? 'cut' : 'whole'}-${horizon.from}-${horizon.to}-${format}`
  return { etag: `W/"${hash('sha1', result, 'base64url')}"` }
}

function endHeaders({ end }: Facts): Readonly<Record<string, string>> {
  const values = end
    ? [end.rowCount, end.truncated, Math.round(end.elapsedMs), end.rowsRead, end.bytesRead, end.digest]
    : []
  return Object.fromEntries(values.map((value, index) => [endHeaderNames[index], `${value ?? 'unknown'}`]))
}
