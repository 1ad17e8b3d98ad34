/**
 * What Postgres said about a user query, in our codes. Only classes whose text speaks of the query
 * itself are quoted.
 */

import { UserQueryError } from '../UserQueryError.ts'

/** SQLSTATE, see appendix A of the PostgreSQL manual. */
const queryCanceled = '57014'
const transactionTimeout = '25P04'
const insufficientPrivilege = '42501'
const readOnlyTransaction = '25006'
const tooManyConnections = '53300'

export function asUserQueryError(error: unknown): UserQueryError {
  if (error instanceof UserQueryError) return error
  const state = stateOf(error)
  const quoted = error instanceof Error ? error.message : ''
  if (state === queryCanceled || state === transactionTimeout) {
    return new UserQueryError('sql_timeout', 'the query ran longer than its limit', { cause: error })
  }
  if (state === insufficientPrivilege || state === readOnlyTransaction) {
    return new UserQueryError('sql_refused', 'the query asks for what is not allowed', { cause: error })
  }
  if (state === tooManyConnections) {
    return new UserQueryError('sql_busy', 'Postgres has no connection left for queries', { cause: error })
  }
  const detail = { cause: error, hint: hintOf(error) }
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

/** A '0x…' beside text is the mistake analysts make most; the server's own hint speaks of casts. */
function hintOf(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : ''
  if (message.includes('bytea')) return "'0x…' constants are bytes; write '0x…'::text where text is compared"
  const hint = error instanceof Error && 'hint' in error ? error.hint : undefined
  return typeof hint === 'string' ? hint : undefined
}
