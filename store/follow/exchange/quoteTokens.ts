/** A token's quote token at a log: the order book's events name the base token alone. */

import { type Address, address } from '#primitives.ts'
import { pathUsdAddress, stablecoinDexAddress } from '#transform/addresses.ts'
import { pairCreated } from '#transform/events/exchange/stablecoinDex.ts'
import { quoteTokenUpdate } from '#transform/events/tokens/tip20.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { literalBytes, relationOf, toBytes, toHex } from '../../sql.ts'

export interface TokenAt {
  readonly token: Address
  readonly blockNumber: number
  readonly logIndex: number
}

/**
 * In the order asked; null where nothing tells. The last change before the log decides, else what
 * the token was created with. For a token of genesis the node tells only today's quote token. Where
 * it ever changed, it was pathUSD before, which all of them are quoted in.
 */
export async function readQuoteTokens(
  client: Queryable,
  schema: string,
  asked: readonly TokenAt[],
): Promise<readonly (Address | null)[]> {
  if (asked.length === 0) return []
  const { text, values } = quoteTokensStatement(schema, asked)
  const found = await client.query<{ quote: Buffer | null }>(text, values)
  return found.rows.map(({ quote }) => quote && address(toHex(quote)))
}

/** One row for each token asked, in order. */
export const quoteTokensStatement = (schema: string, asked: readonly TokenAt[]) => ({
  text: `SELECT ${quoteTokenSql(schema, { token: 'asked.token', block: 'asked.block_num', log: 'asked.log_idx' })} AS quote
    FROM unnest($1::bytea[], $2::bigint[], $3::int[]) WITH ORDINALITY AS asked (token, block_num, log_idx, nth)
    ORDER BY nth`,
  values: [
    asked.map(({ token }) => toBytes(token)),
    asked.map(({ blockNumber }) => blockNumber),
    asked.map(({ logIndex }) => logIndex),
  ],
})

/** A token's quote token before a log; all three are expressions. */
export function quoteTokenSql(
  schema: string,
  { token, block, log }: { readonly token: string; readonly block: string; readonly log: string },
): string {
  const logs = relationOf(schema, 'logs')
  const changes = `${logs} AS logs WHERE address = ${token} AND topic0 = ${literalBytes(quoteTokenUpdate.topic0)}`
  const before = `(logs.block_num, logs.log_idx) < (${block}, ${log})`
  return `coalesce(
      (SELECT substring(topic2 FROM 13) FROM ${changes} AND topic2 IS NOT NULL AND ${before}
       ORDER BY block_num DESC, log_idx DESC LIMIT 1),
      (SELECT CASE WHEN made.log_idx < 0 AND EXISTS (SELECT FROM ${changes}) THEN ${literalBytes(pathUsdAddress)}
                   ELSE made.quote_token END
       FROM ${relationOf(schema, 'tokens_history')} AS made
       WHERE made.token = ${token} AND made.block_num = made.created_block AND made.log_idx = made.created_log_idx
       LIMIT 1),
      (SELECT substring(topic3 FROM 13) FROM ${logs} AS logs
       WHERE address = ${literalBytes(stablecoinDexAddress)} AND topic0 = ${literalBytes(pairCreated.topic0)}
         AND topic2 = decode(repeat('00', 12), 'hex') || ${token} AND ${before}
       ORDER BY block_num DESC, log_idx DESC LIMIT 1))`
}
