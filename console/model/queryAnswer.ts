/**
 * Answers of the SQL endpoint and of /status and the schema, as the console and the command line
 * read them.
 */

import type { Engine } from '#primitives.ts'

export type Cell = string | number | boolean | null | readonly Cell[] | { readonly [key: string]: Cell }

export type Row = readonly Cell[]

/** A result; wide integers and exact numerics are decimal strings, bytes 0x hex, times ISO 8601. */
export interface QueryAnswer {
  readonly engine: Engine
  readonly columns: readonly string[]
  readonly columnTypes: readonly string[]
  readonly rows: readonly Row[]
  /** More rows exist than were asked for. */
  readonly truncated: boolean
  readonly elapsedMs: number
  /** Newest run of blocks the query saw whole; null where the answer speaks of single blocks. */
  readonly horizon: { readonly from: number; readonly to: number } | null
}

export interface QueryRequest {
  readonly sql: string
  readonly engine: Engine
  /** Signatures of events and functions; each is a table of the query. */
  readonly signatures?: readonly string[]
  /** Null takes the server's default. */
  readonly chainId: number | null
  /** Rows at most. */
  readonly limit: number
}

/** A place in the text of the query; both count from 1. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** One of the things that are wrong with a request. */
export interface FailureDetail {
  /** For example `["body", "nodes", 0, "path"]`. */
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** A refusal in the API's words. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure'
  readonly code: string
  /** HTTP status; 0 where no answer came. */
  readonly status: number
  readonly place: TextPlace | null
  readonly details: readonly FailureDetail[]

  constructor(
    code: string,
    message: string,
    status: number,
    place: TextPlace | null = null,
    options: ErrorOptions & { readonly details?: readonly FailureDetail[] } = {},
  ) {
    super(message, options)
    this.details = options.details ?? []
    this.code = code
    this.status = status
    this.place = place
  }

  /** The same request may succeed later. */
  get passes(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

/** @throws RequestFailure when the body is not a result */
export function parseQueryAnswer(body: unknown): QueryAnswer {
  if (
    !isObject(body) ||
    body['ok'] !== true ||
    !Array.isArray(body['columns']) ||
    !Array.isArray(body['rows'])
  )
    throw new RequestFailure('answer_invalid', 'The answer is not a result.', 0)
  // The server's own schema (QueryResult) holds for the rest; what is read here decides which
  // schema it is.
  const answer = body as unknown as ServedResult
  return {
    engine: answer.engine,
    columns: answer.columns,
    columnTypes: answer.columnTypes,
    rows: answer.rows,
    truncated: answer.truncated,
    elapsedMs: answer.query_time_ms,
    horizon: answer.horizon ?? null,
  }
}

interface ServedResult {
  readonly engine: Engine
  readonly columns: readonly string[]
  readonly columnTypes: readonly string[]
  readonly rows: readonly Row[]
  readonly truncated: boolean
  readonly query_time_ms: number
  readonly horizon?: { readonly from: number; readonly to: number }
}

/** The failure that an error body describes, whatever sent it. */
export function parseFailure(body: unknown, status: number): RequestFailure {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {}
  const { code, message, details: told } = error
  const details = Array.isArray(told) ? told : []
  return new RequestFailure(
    typeof code === 'string' ? code : 'answer_invalid',
    typeof message === 'string' ? message : `The server answered with HTTP ${status}.`,
    status,
    placeIn(details),
    { details: details.flatMap(detailOf) },
  )
}

function detailOf(detail: unknown): FailureDetail[] {
  if (!isObject(detail) || typeof detail['message'] !== 'string' || !Array.isArray(detail['path'])) return []
  const path = detail['path'].filter((step) => typeof step === 'string' || typeof step === 'number')
  return [{ path, message: detail['message'] }]
}

function placeIn(details: readonly unknown[]): TextPlace | null {
  for (const detail of details) {
    if (!isObject(detail)) continue
    const { line, column } = detail
    if (typeof line === 'number' && typeof column === 'number') return { line, column }
  }
  return null
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
