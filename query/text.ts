/**
 * Checks on the text of a user query that come before any parser, and the rule for '0x…' constants.
 */

import { positionAt, UserQueryError } from './UserQueryError.ts'

/** The contract's limit (chain-data contract, `sql`). */
export const SQL_BYTES_MAX = 65_536

/** For the reference of the API. */
export const sqlExample = 'SELECT num, hash, tx_count FROM blocks ORDER BY num DESC LIMIT 10'

/** The words the parsers and printers need; more is a flood. */
export const SQL_NODES_MAX = 20_000

/** Selects within selects. The reference allows 4; CTE chains of analysts reach 8. */
export const SELECT_DEPTH_MAX = 12

/** Sub-selects and CTEs in one statement, each of which may scan a table. */
export const SELECT_COUNT_MAX = 64

/** @throws UserQueryError `sql_invalid` on empty, oversized or malformed text. */
export function assertText(sql: string): void {
  if (sql.trim() === '') throw new UserQueryError('sql_invalid', 'the query is empty')
  if (Buffer.byteLength(sql) > SQL_BYTES_MAX) {
    throw new UserQueryError('sql_invalid', `the query is longer than ${SQL_BYTES_MAX} bytes`)
  }
  const control = controlCharacter(sql)
  if (control >= 0) {
    throw new UserQueryError('sql_invalid', 'the query contains a control character', {
      position: positionAt(sql, control),
    })
  }
  if (!sql.isWellFormed()) throw new UserQueryError('sql_invalid', 'the query is not well-formed Unicode')
}

/** Offset of the first control character other than tab and line ends, or -1. */
function controlCharacter(sql: string): number {
  for (let offset = 0; offset < sql.length; offset++) {
    const unit = sql.charCodeAt(offset)
    if ((unit < 0x20 && unit !== 0x09 && unit !== 0x0a && unit !== 0x0d) || unit === 0x7f) return offset
  }
  return -1
}

/** What a string constant of the form '0x…' means. */
export type HexConstant =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly hex: string }
  /** '0x' alone: empty bytes where it is compared with bytes, else the two characters. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'odd' }

/** Classifies a string constant; `hex` is lowercase and without the prefix. */
export function hexConstant(value: string): HexConstant {
  if (value === '0x') return { kind: 'empty' }
  if (!/^0x[0-9a-fA-F]+$/.test(value)) return { kind: 'none' }
  if (value.length % 2 === 1) return { kind: 'odd' }
  return { kind: 'bytes', hex: value.slice(2).toLowerCase() }
}

export const oddHexHint = "a '0x…' constant needs two digits per byte; write '0x…'::text for plain text"
