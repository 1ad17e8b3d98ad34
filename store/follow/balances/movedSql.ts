/** What an account gained of a token in some blocks, summed from the transfers it was a side of. */
import { zeroAddress } from '#transform/addresses.ts'
import { literalBytes, pairHash, relationOf } from '../../sql.ts'

/**
 * One row `delta`, NULL where nothing moved. `holder` and `token` are expressions, `within` a
 * condition on `block_num`. The view `holder_deltas` says the same, but only the indexes of pairs
 * find one account's transfers of one token.
 */
export function movedSql(schema: string, holder: string, token: string, within: string): string {
  const side = (column: string, delta: string) =>
    `SELECT ${delta} AS delta FROM ${relationOf(schema, 'token_transfers')} AS moved
     WHERE ${pairHash([`moved.${column}`, 'moved.token'])} = ${pairHash([holder, token])}
       AND moved.${column} = ${holder} AND moved.token = ${token} AND ${within}`
  // The zero address holds nothing.
  return `SELECT sum(delta) AS delta FROM (${side('"to"', 'amount')} UNION ALL ${side('"from"', '-amount')}) AS sides
    WHERE ${holder} <> ${literalBytes(zeroAddress)}`
}
