/** Reads of fee pools. */
import { feePoolsFold } from '../folds/feePools.ts'
import { type FollowedChain, readFollowed } from '../folds/readFollowed.ts'
import { relationOf, toBytes, toHex } from '../postgres.ts'

/** Those of `tokens` that a fee pool turns into another token. @throws ProjectionIncompleteError while pools are behind */
export function findPoolTokens(
  chain: FollowedChain,
  tokens: readonly string[],
  atBlock: number | undefined,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  return readFollowed(chain, [feePoolsFold], signal, async (client, tip) => {
    const found = await client.query<{ user_token: Buffer }>(
      `SELECT user_token FROM ${relationOf(chain.state.schema, 'fee_pools_current')}
       WHERE user_token = ANY ($1) AND created_block <= $2 GROUP BY user_token`,
      [tokens.map(toBytes), atBlock ?? tip],
    )
    return new Set(found.rows.map((row) => toHex(row.user_token)))
  })
}
