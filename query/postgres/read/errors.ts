/**
 * Postgres' errors of a user query, in our codes. Only classes whose text speaks of the query itself are
 * quoted.
 */

import {
  noBytesHint,
  noBytesProblem,
  placeHint,
  textOfBytesHint,
  timeHint,
  unquotedHint,
} from '../../text.ts'
import { UserQueryError } from '../../UserQueryError.ts'
import { nonBytesName } from '../gate/expressions/bytesAsText.ts'
import type { PostgresStatement } from '../gate/gate.ts'

/** SQLSTATE, see appendix A of the PostgreSQL manual. */
const queryCanceled = '57014'
const transactionTimeout = '25P04'
const insufficientPrivilege = '42501'
const readOnlyTransaction = '25006'
const tooManyConnections = '53300'

/** @param placeOf the place in the user's text of an offset in the statement that was sent */
export function asUserQueryError(error: unknown, placeOf?: PostgresStatement['placeOf']): UserQueryError {
  if (error instanceof UserQueryError) return error
  const state = stateOf(error)
  const quoted = withoutOwnNames(error instanceof Error ? error.message : '')
  if (state === queryCanceled || state === transactionTimeout) {
    return new UserQueryError('sql_timeout', 'the query ran longer than its limit', { cause: error })
  }
  if (state === insufficientPrivilege || state === readOnlyTransaction) {
    return new UserQueryError('sql_refused', 'the query asks for what is not allowed', { cause: error })
  }
  if (state === tooManyConnections) {
    return new UserQueryError('sql_busy', 'Postgres has no connection left for queries', { cause: error })
  }
  const offset = positionOf(error)
  const position = offset === undefined ? undefined : placeOf?.(offset - 1)
  if (quoted.startsWith(`function ${nonBytesName}(bytea)`))
    // The place is that of the function that was put there; the word LIKE tells it.
    return new UserQueryError('sql_invalid', noBytesProblem, { cause: error, hint: noBytesHint })
  const detail = { cause: error, position, hint: hintOf(quoted, error) }
  switch (state?.slice(0, 2)) {
    case '42':
      return new UserQueryError('sql_invalid', quoted, detail)
    case '21':
    case '22':
    case '54':
    case '0A':
      return new UserQueryError('sql_failed', quoted, detail)
    case '53':
      return new UserQueryError('sql_failed', 'the query needs more memory or disk than it may use', {
        cause: error,
        hint: 'read fewer blocks, or group by fewer values',
      })
    case '08':
    case '57':
    case undefined:
      return new UserQueryError('sql_unavailable', 'Postgres cannot be reached', { cause: error })
    default:
      return new UserQueryError('sql_failed', 'the query failed', { cause: error })
  }
}

function stateOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** From 1, in the statement that was sent. */
function positionOf(error: unknown): number | undefined {
  const position = error instanceof Error && 'position' in error ? Number(error.position) : Number.NaN
  return Number.isSafeInteger(position) ? position : undefined
}

/** Names of schemas, and of what the gate puts around an operand, are none of the user's. */
const withoutOwnNames = (message: string): string =>
  message.replaceAll(/"?chain_\d+(_sql)?"?\./g, '').replace(/\bpg_catalog\./g, '')

/** The form to write instead; the server's own hints speak of types that need no cast here. */
function hintOf(message: string, error: unknown): string | undefined {
  for (const [pattern, hint] of hints) if (pattern.test(message)) return hint
  const hint = error instanceof Error && 'hint' in error ? error.hint : undefined
  return typeof hint === 'string' ? hint : undefined
}

const integers = '(?:smallint|integer|bigint|numeric)'
const hints: readonly (readonly [RegExp, string])[] = [
  [/^operator does not exist: \+ (?:text|bytea|character)/, placeHint],
  [new RegExp(`(?:bytea \\S+ ${integers}|${integers} \\S+ bytea)$`), unquotedHint],
  [/bytea (?:\S+ (?:text|character varying)|(?:->|->>|~)\S*)|text \S+ bytea/, textOfBytesHint],
  [/bytea/, "bytes are written '0x…'; a column's are text as column::text"],
  [new RegExp(`(?:timestamp|date).* . ${integers}|${integers} . (?:timestamp|date)`), timeHint],
  [
    /^operator does not exist: text (?:->|->>|#>|#>>) /,
    "a text is a document as text::jsonb: calls::jsonb->0->>'to'",
  ],
]
