/**
 * `millrace query` of more rows than a page holds, or in a format for programs: the bytes of the
 * API's answer, as they come.
 */

import { once } from 'node:events'
import { type IncomingMessage, request as startRequest } from 'node:http'
import type { Writable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { parseFailure, type QueryRequest, RequestFailure } from '#console/model/queryAnswer.ts'
import { EXPORT_MS_MAX, isExport, QUERY_MS_MAX } from '#query/limits.ts'
import { counted } from '#text/quantity.ts'

export const exportFormats = ['csv', 'ndjson', 'arrow', 'parquet'] as const
type ExportFormat = (typeof exportFormats)[number]

/** The destinations of rows and notes: rows go to standard output alone, so that they can be piped. */
export interface QueryStreams {
  readonly rows: Writable
  readonly notes: { write(text: string): unknown }
}

/**
 * Writes the rows; false where more exist. @throws RequestFailure, also where the answer ended
 * before its end: what was written is then no whole answer
 */
export async function exportRows(
  origin: string,
  request: QueryRequest,
  format: ExportFormat,
  { rows, notes }: QueryStreams,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await ask(origin, request, format, signal)
  if (answer.statusCode !== 200)
    throw parseFailure(await json(answer).catch(() => null), answer.statusCode ?? 0)
  try {
    const ends = new LineEnds()
    for await (const piece of answer) {
      const written = format === 'csv' ? ends.shorten(piece) : piece
      if (!rows.write(written)) await once(rows, 'drain', { signal })
    }
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new RequestFailure('cut', 'The answer was cut; what was written is not whole.', 0, null, { cause })
  }
  // A long answer has its facts behind the rows, as trailers.
  const facts = { ...answer.headers, ...answer.trailers }
  if (facts['svc-truncated'] !== 'true') return true
  notes.write(`cut after ${counted(Number(facts['svc-row-count']), 'row')}, more exist\n`)
  return false
}

/** Lines of CSV end in a shell's way, without the carriage return; what stands in quotes stays. */
class LineEnds {
  #isQuoted = false

  shorten(piece: Buffer): Buffer {
    let length = 0
    const shorter = Buffer.allocUnsafe(piece.length)
    for (const byte of piece) {
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted
      if (byte !== CARRIAGE_RETURN || this.#isQuoted) shorter[length++] = byte
    }
    return shorter.subarray(0, length)
  }
}

const QUOTE = 0x22
const CARRIAGE_RETURN = 0x0d

/** `fetch` gives no trailers, so this is Node's own client. */
async function ask(
  origin: string,
  { sql, signatures, engine, chainId, limit }: QueryRequest,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const asked = startRequest(new URL('v1/indexer/query', origin), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    signal,
  })
  const chosen = { ...(signatures && { signature: signatures }), ...(chainId !== null && { chainId }) }
  const timeout_ms = isExport(limit) ? EXPORT_MS_MAX : QUERY_MS_MAX
  asked.end(JSON.stringify({ sql, engine, limit, format, timeout_ms, ...chosen }))
  try {
    const [answer]: [IncomingMessage] = (await once(asked, 'response')) as [IncomingMessage]
    return answer
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new RequestFailure('no_answer', 'The program does not answer.', 0, null, { cause })
  }
}
