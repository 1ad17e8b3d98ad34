/** An account's gain of a token in some blocks, summed from the transfers it was a side of. */
import { zeroAddress } from '#transform/addresses.ts'
import { literalBytes, pairHash, relationOf } from '../../sql.ts'

/**
 * One row `delta`, NULL where nothing moved. `holder` and `token` are expressions, `within` a
 * condition on `block_num`.
 */
export const movedSql = (schema: string, holder: string, token: string, within: string): string =>
  // The zero address holds nothing.
  `SELECT sum(delta) AS delta FROM (${sidesSql(schema, holder, token, within)}) AS sides
    WHERE ${holder} <> ${literalBytes(zeroAddress)}`

/**
 * The first block up to `to` in which a holder of `given`, an expression, had less than nothing
 * after a log; NULL where there is none.
 */
export const firstBelowSql = (
  schema: string,
  holder: string,
  token: string,
  given: string,
  to: number,
): string =>
  `SELECT min(block_num) FROM (
      SELECT block_num, ${given} + sum(delta) OVER (ORDER BY block_num, log_idx) AS held
      FROM (${sidesSql(schema, holder, token, `block_num <= ${to}`)}) AS sides) AS moved WHERE held < 0`

/**
 * A holder's sides of its transfers of a token. The view `holder_deltas` says the same, but only the
 * indexes of pairs find one account's transfers of one token.
 */
function sidesSql(schema: string, holder: string, token: string, within: string): string {
  const side = (column: string, delta: string) =>
    `SELECT block_num, log_idx, ${delta} AS delta FROM ${relationOf(schema, 'token_transfers')} AS moved
     WHERE ${pairHash([`moved.${column}`, 'moved.token'])} = ${pairHash([holder, token])}
       AND moved.${column} = ${holder} AND moved.token = ${token} AND ${within}`
  return `${side('"to"', 'amount')} UNION ALL ${side('"from"', '-amount')}`
}
