/** Reads of fee pools. */
import { feePoolsProjection } from '../follow/feePools/poolFollower.ts'
import { type FollowedChain, readFollowedRows } from '../follow/readFollowed.ts'
import { relationOf, toBytes, toHex } from '../sql.ts'

/**
 * Those of `tokens` that a fee pool turns into another token. @throws ProjectionIncompleteError
 * while pools are behind
 */
export async function findPoolTokens(
  chain: FollowedChain,
  tokens: readonly string[],
  atBlock: number | undefined,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const rows = await readFollowedRows(chain, [feePoolsProjection], signal, {
    text: `SELECT user_token FROM ${relationOf(chain.state.schema, 'fee_pools_current')}
      WHERE user_token = ANY ($1) AND created_block <= coalesce($2::bigint, created_block) GROUP BY user_token`,
    values: [tokens.map(toBytes), atBlock ?? null],
    key: 'user_token',
    order: 'user_token',
  })
  return new Set(rows.flatMap(({ user_token: token }) => (token instanceof Uint8Array ? toHex(token) : [])))
}
