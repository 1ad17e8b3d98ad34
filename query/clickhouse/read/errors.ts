/**
 * ClickHouse's errors of a user query, in our codes. Its texts name hosts and paths, so only known kinds
 * are quoted.
 */

import { ClickHouseError } from '@clickhouse/client'
import { UserQueryError } from '../../UserQueryError.ts'
import { problemIn } from '../compile/demanded.ts'

/** Numbers of ErrorCodes.cpp. */
const timeouts = new Set(['159', '160', '209'])
const cancellations = new Set(['394'])
const overloads = new Set(['202', '290'])
const limits = new Set(['158', '241', '307', '396', '191', '243'])
const refusals = new Set(['164', '291', '497', '512', '516', '452'])
/**
 * The query itself: types, names, syntax, aggregation. Their text repeats the query and nothing
 * else.
 */
const faults = new Set(
  '6 10 27 32 34 35 36 38 41 42 43 44 46 47 48 49 50 53 56 62 69 72 80 117 125 130 131 134 135 179 184 190 207 215 258 349 386 403 427 433 465 467 475 501 636 653'.split(
    ' ',
  ),
)

const tooWide = '395'

/**
 * Failures that a row causes. The gate alone writes throwIf, for what is wider than the engine's widest
 * number.
 */
const failures: Readonly<Record<string, string>> = {
  '70': 'a number is out of the range of its type',
  '153': 'division by zero',
  [tooWide]: 'a number is wider than 256 bits',
  '407': 'a number has too many digits',
}

export function asUserQueryError(error: unknown): UserQueryError {
  if (error instanceof UserQueryError) return error
  if (!(error instanceof ClickHouseError)) {
    return new UserQueryError('sql_unavailable', 'ClickHouse cannot be reached', { cause: error })
  }
  const { code } = error
  const detail = { cause: error }
  if (timeouts.has(code))
    return new UserQueryError('sql_timeout', 'the query ran longer than its limit', detail)
  if (cancellations.has(code)) return new UserQueryError('sql_cancelled', 'the query was stopped', detail)
  if (overloads.has(code)) return new UserQueryError('sql_busy', 'ClickHouse runs too many queries', detail)
  if (refusals.has(code)) {
    return new UserQueryError('sql_refused', 'the query asks for what is not allowed', detail)
  }
  if (limits.has(code)) {
    return new UserQueryError('sql_failed', 'the query reads or holds more than it may', {
      cause: error,
      hint: 'read fewer blocks, or group by fewer values',
    })
  }
  const problem = problemIn(error.message)
  if (problem !== undefined) return new UserQueryError('sql_failed', problem, detail)
  const unread = unreadable(error.message)
  if (unread !== undefined) return new UserQueryError('sql_failed', unread, detail)
  const failure = failures[code]
  if (failure !== undefined) {
    const hint = code === tooWide ? 'leave the widest values out, or take floats: sum(x::float8)' : undefined
    return new UserQueryError('sql_failed', failure, { cause: error, hint })
  }
  if (faults.has(code)) return new UserQueryError('sql_invalid', spoken(error.message), detail)
  return new UserQueryError('sql_failed', 'the query failed', detail)
}

const typeNames: Readonly<Record<string, string>> = {
  Int16: 'smallint',
  Int32: 'integer',
  Int64: 'bigint',
  Float32: 'real',
  Float64: 'double precision',
  UUID: 'uuid',
}

/** A text that is no value of a type, in PostgreSQL's words. */
function unreadable(message: string): string | undefined {
  if (/Cannot (?:parse date here|(?:read|parse) Date(?:Time)?\b)/.test(message))
    return 'a text that is no date or time'
  const [, text, type = 'Float64'] =
    /Cannot parse string '(.*?)' as (\w+)/s.exec(message) ??
    /Cannot read floating point value here: (.*?): /s.exec(message) ??
    []
  if (text === undefined) return undefined
  return `invalid input syntax for type ${typeNames[type] ?? 'numeric'}: "${text.slice(0, MESSAGE_CHARACTERS_MAX)}"`
}

/**
 * The sentence of the message: not the place in the engine's own rewriting, and not our names for
 * the user's sources.
 */
function spoken(message: string): string {
  const [sentence = message] = message.split(
    /(?:, should be |\. Look at |\. In scope|: In scope|: while |: While |\. Stack trace|: \(at )/,
  )
  return sentence.replace(/^Code: \d+\. DB::Exception: /, '').slice(0, MESSAGE_CHARACTERS_MAX)
}

const MESSAGE_CHARACTERS_MAX = 300
