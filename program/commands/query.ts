/** `millrace query`: runs SQL on a running program over its API, once or for every new block. */

import { text as readText } from 'node:stream/consumers'
import { toCsv } from '#console/model/csv.ts'
import { runQuery } from '#console/model/indexerClient.ts'
import { type LiveEvent, readLive } from '#console/model/liveStream.ts'
import { type QueryAnswer, type QueryRequest, RequestFailure, type Row } from '#console/model/queryAnswer.ts'
import { renderTable } from '#console/terminal/table.ts'
import { MillraceError, SettingError } from '#errors.ts'
import { type Engine, engines } from '#primitives.ts'
import { EXPORT_ROWS_MAX, isExport, ROWS_MAX } from '#query/limits.ts'
import type { Clock } from '#runtime/runtime.ts'
import { counted } from '#text/quantity.ts'
import type { Config } from '../config.ts'
import { exportFormats, exportRows, type QueryStreams } from './exportQuery.ts'

const printed = ['table', 'json', 'csv'] as const
type Format = (typeof printed)[number]
const formats = [...printed, 'ndjson', 'arrow', 'parquet'] as const

/**
 * Prints the rows; `asked` holds the options as they were typed. False where rows that a program
 * may read, as JSON or CSV, were cut at the limit. @throws SettingError for a bad option,
 * QueryFailedError with the server's words
 */
export async function printQuery(
  config: Config,
  asked: Readonly<Record<string, unknown>>,
  streams: QueryStreams,
  clock: Clock,
  stop: AbortSignal,
): Promise<boolean> {
  const text = (name: string): string | null => (typeof asked[name] === 'string' ? asked[name] : null)
  const sql = text('sql') ?? '-'
  const [chain, limit] = [text('chain'), text('limit')]
  const format = wordOf('--format', text('format') ?? 'table', formats)
  const request: QueryRequest = {
    sql: sql === '-' ? await readText(process.stdin) : sql,
    signatures: (text('signature') ?? '').split(';').filter((signature) => signature.trim() !== ''),
    engine: wordOf('--engine', text('engine') ?? 'postgres', engines),
    chainId: chain === null ? null : wholeOf('--chain', chain, Number.MAX_SAFE_INTEGER),
    limit: limit === null ? ROWS_MAX : wholeOf('--limit', limit, EXPORT_ROWS_MAX),
  }
  const mode = asked['snapshot'] === true ? 'snapshot' : asked['live'] === true ? 'blocks' : null
  const exported = exportFormats.find((name) => name === format) ?? null
  if (isExport(request.limit) && (exported === null || mode !== null))
    throw new SettingError('--limit', `more than ${ROWS_MAX} rows come once, as ${exportFormats.join(', ')}`)
  const origin = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}/`
  try {
    if (exported !== null && mode === null) return await exportRows(origin, request, exported, streams, stop)
    const shown = wordOf('--format', format, printed)
    return mode === null
      ? printAnswer(await runQuery(origin, request, stop), shown, streams)
      : await printLive(readLive(origin, request, mode, clock, stop), shown, streams)
  } catch (error) {
    if (stop.aborted) return true
    throw error instanceof RequestFailure ? failureOf(error, request.sql, origin) : error
  }
}

function printAnswer(answer: QueryAnswer, format: Format, { rows, notes }: QueryStreams): boolean {
  rows.write(`${linesOf(answer, format, true).join('\n')}\n`)
  const more = answer.truncated ? ', more exist' : ''
  if (format === 'table')
    notes.write(
      `${counted(answer.rows.length, 'row')} in ${answer.elapsedMs} ms on ${engineName(answer.engine)}${more}\n`,
    )
  return format === 'table' || !noteCut(answer, notes)
}

/**
 * Says that rows are missing, where some are: `--limit` gives more, up to the most that one query
 * may have.
 */
function noteCut({ truncated, rows }: QueryAnswer, notes: QueryStreams['notes']): boolean {
  if (truncated) notes.write(`cut after ${counted(rows.length, 'row')}, more exist\n`)
  return truncated
}

/**
 * Rows as they come, the header once; what is taken back is said, because a printed row cannot be.
 */
async function printLive(
  events: AsyncIterable<LiveEvent>,
  format: Format,
  { rows, notes }: QueryStreams,
): Promise<boolean> {
  let begins = true
  let isWhole = true
  for await (const event of events) {
    const note = noteOf(event)
    if (note !== null) notes.write(`${note}\n`)
    if (event.kind !== 'result') continue
    const lines = linesOf(event.answer, format, begins || event.isWhole)
    if (event.isWhole && !begins && format === 'table') rows.write('\n')
    if (lines.length > 0) rows.write(`${lines.join('\n')}\n`)
    if (noteCut(event.answer, notes)) isWhole = format === 'table'
    begins = false
  }
  return isWhole
}

function linesOf(answer: QueryAnswer, format: Format, withHeader: boolean): string[] {
  const { columns, columnTypes, rows } = answer
  switch (format) {
    case 'table':
      return renderTable(columns, columnTypes, rows).slice(withHeader ? 0 : 2)
    case 'csv':
      return toCsv(answer)
        .trimEnd()
        .split('\r\n')
        .slice(withHeader ? 0 : 1)
    case 'json':
      return rows.map((row) => jsonLine(columns, row))
  }
}

/**
 * One object a line: a stream and a result then look the same, and both can be read as they come.
 */
const jsonLine = (columns: readonly string[], row: Row): string =>
  JSON.stringify(Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])))

function noteOf(event: LiveEvent): string | null {
  switch (event.kind) {
    case 'retract':
      return `taken back: blocks ${event.blocks.map(({ num }) => num).join(', ')}`
    case 'lagged':
      return `left out: blocks ${event.from} to ${event.to}`
    case 'failed':
      return event.message
    case 'waiting':
      return `${event.reason} Trying again in ${Math.ceil(event.waitMs / 1_000)} s.`
    default:
      return null
  }
}

const engineName = (engine: Engine): string => (engine === 'postgres' ? 'Postgres' : 'ClickHouse')

function wordOf<Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text)
  if (word === undefined) throw new SettingError(option, `\`${text}\` is not one of ${words.join(', ')}`)
  return word
}

function wholeOf(option: string, text: string, max: number): number {
  const value = Number(text)
  if (!/^[0-9]+$/.test(text) || !Number.isSafeInteger(value) || value < 1 || value > max)
    throw new SettingError(option, `\`${text}\` is not a whole number from 1 to ${max}`)
  return value
}

/** Shows the line of the query that is wrong, with a mark under the place. */
function failureOf(failure: RequestFailure, sql: string, origin: string): MillraceError {
  if (failure.code === 'no_answer')
    return new SettingError('PORT', `no Millrace answers at ${new URL(origin).host}`, { cause: failure })
  const { place } = failure
  const line = place && sql.split('\n')[place.line - 1]
  const marked = line ? `\n  ${line}\n  ${' '.repeat(place.column - 1)}^` : ''
  return new QueryFailedError(`${failure.message}${marked}`, failure)
}

/** The program refused the query or could not answer it; the message is the server's. */
export class QueryFailedError extends MillraceError {
  override readonly name = 'QueryFailedError'
  readonly code = 'query_failed'
  readonly remedy: 'retry' | 'stop'

  constructor(message: string, cause: RequestFailure) {
    super(message, { cause })
    this.remedy = cause.passes ? 'retry' : 'stop'
  }
}
