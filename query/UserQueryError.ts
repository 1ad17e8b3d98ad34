/** Why a user query was not answered, in words and a place the analyst can act on. */

import { MillraceError } from '#errors.ts'

/**
 * - `signature_invalid`: a signature that names no event or function;
 * - `sql_invalid`: not SQL we understand, or it names what does not exist;
 * - `sql_refused`: understood, but not allowed here;
 * - `sql_failed`: the engine could not run it (division by zero, out of memory, too many rows
 *   read);
 * - `sql_timeout`: ran longer than asked;
 * - `sql_busy`: no slot became free in time;
 * - `sql_allowance`: the caller's exports took all the time they may take for now;
 * - `sql_cancelled`: the caller went away;
 * - `sql_unavailable`: the engine cannot be reached.
 */
export type UserQueryErrorCode =
  | 'signature_invalid'
  | 'sql_invalid'
  | 'sql_refused'
  | 'sql_failed'
  | 'sql_timeout'
  | 'sql_busy'
  | 'sql_allowance'
  | 'sql_cancelled'
  | 'sql_unavailable'

const statuses: Record<UserQueryErrorCode, number> = {
  signature_invalid: 422,
  sql_invalid: 422,
  sql_refused: 422,
  sql_failed: 422,
  sql_timeout: 504,
  sql_busy: 503,
  sql_allowance: 429,
  sql_cancelled: 499,
  sql_unavailable: 502,
}

const retryable: ReadonlySet<UserQueryErrorCode> = new Set([
  'sql_timeout',
  'sql_busy',
  'sql_allowance',
  'sql_unavailable',
])

/** A place in the user's text; both count from 1, columns in UTF-16 units. */
export interface SqlPosition {
  readonly line: number
  readonly column: number
}

export interface UserQueryErrorDetail {
  readonly position?: SqlPosition | undefined
  readonly hint?: string | undefined
  /** After how many milliseconds it may be tried again, where that is known. */
  readonly retryMs?: number | undefined
  readonly cause?: unknown
}

/** `message` is safe to show: it never holds paths, hosts or other tenants' data. */
export class UserQueryError extends MillraceError {
  override readonly name = 'UserQueryError'
  override readonly code: UserQueryErrorCode
  override readonly remedy: 'retry' | 'stop'
  /** HTTP status the error maps to. */
  readonly status: number
  readonly line: number | undefined
  readonly column: number | undefined
  readonly hint: string | undefined
  readonly retryMs: number | undefined

  constructor(code: UserQueryErrorCode, problem: string, detail: UserQueryErrorDetail = {}) {
    super(problem, detail.cause === undefined ? {} : { cause: detail.cause })
    this.code = code
    this.remedy = retryable.has(code) ? 'retry' : 'stop'
    this.status = statuses[code]
    this.line = detail.position?.line
    this.column = detail.position?.column
    this.hint = detail.hint
    this.retryMs = detail.retryMs
  }
}

/** The place of a UTF-16 offset. */
export function positionAt(sql: string, offset: number): SqlPosition {
  const before = sql.slice(0, Math.max(0, offset))
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: before.length - lineStart + 1 }
}

/** The UTF-16 offset of a UTF-8 byte offset, which is what Postgres counts in. */
export function offsetOfByte(sql: string, byteOffset: number): number {
  let bytes = 0
  let offset = 0
  for (const character of sql) {
    if (bytes >= byteOffset) break
    bytes += Buffer.byteLength(character)
    offset += character.length
  }
  return offset
}
