/** The reads of a chain's order book, and the pair that a base token names. */
import { type Address, address, type Hash, hash } from '#primitives.ts'
import type { ChainKind } from '#transform/profile.ts'
import { exchangeProjection } from '../../follow/exchange/bookFollower.ts'
import { pairKey, pairsTable } from '../../follow/exchange/bookStates.ts'
import { readQuoteTokens } from '../../follow/exchange/quoteTokens.ts'
import { type FollowedChain, readFollowed } from '../../follow/readFollowed.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf, toBytes, toHex } from '../../sql.ts'

export interface ExchangeChain extends FollowedChain {
  /** There is an exchange on Tempo alone. */
  readonly kind: ChainKind
}

/** One moment of the order book: a snapshot, and the block it is of. */
export interface BookMoment {
  readonly client: Queryable
  readonly schema: string
  readonly tip: number
}

/** @throws CoverageIncompleteError, ProjectionIncompleteError */
export function readBook<Result>(
  chain: ExchangeChain,
  signal: AbortSignal,
  read: (moment: BookMoment) => Promise<Result>,
): Promise<Result> {
  const { schema } = chain.state
  return readFollowed(chain, [exchangeProjection], signal, (client, tip) => read({ client, schema, tip }))
}

/** The two tokens of a pair, base first. */
export interface PairTokens {
  readonly key: Hash
  readonly base: Address
  readonly quote: Address
}

/** A pair, and what its open orders hold. */
export interface PairRow extends PairTokens {
  readonly blockNumber: number
  readonly logIndex: number
  readonly timestampSeconds: number
  readonly txHash: Hash
  /** Base tokens left in open asks. */
  readonly reserve0: bigint
  /** Quote tokens that open bids hold back. */
  readonly reserve1: bigint
}

/** The pair of a base token and what it is quoted in after a block; null where there is none. */
export async function findPairOf(
  { client, schema }: Pick<BookMoment, 'client' | 'schema'>,
  base: Address,
  block: number,
): Promise<PairRow | null> {
  const after = { token: base, blockNumber: block + 1, logIndex: 0 }
  const [quote] = await readQuoteTokens(client, schema, [after])
  return quote ? findPair({ client, schema }, pairKey(base, quote), block) : null
}

/** The pair of a key, if it was there after a block. */
async function findPair(
  { client, schema }: Pick<BookMoment, 'client' | 'schema'>,
  key: string,
  block: number,
): Promise<PairRow | null> {
  const found = await client.query<PairColumns>(
    `SELECT * FROM ${relationOf(schema, `${pairsTable.name}_current`)} WHERE pair = $1 AND created_block <= $2`,
    [toBytes(key), block],
  )
  return found.rows[0] ? pairRow(found.rows[0]) : null
}

export interface PairColumns extends Readonly<Record<string, unknown>> {
  readonly pair: Buffer
  readonly base: Buffer
  readonly quote: Buffer
  readonly created_block: number
  readonly created_log_idx: number
  readonly created_at: Date
  readonly created_tx: Buffer
  readonly reserve0: string
  readonly reserve1: string
}

export const pairRow = (row: PairColumns): PairRow => ({
  ...pairTokens(row),
  blockNumber: row.created_block,
  logIndex: row.created_log_idx,
  timestampSeconds: row.created_at.getTime() / 1000,
  txHash: hash(toHex(row.created_tx)),
  reserve0: BigInt(row.reserve0),
  reserve1: BigInt(row.reserve1),
})

export const pairTokens = (row: {
  readonly pair: Buffer
  readonly base: Buffer
  readonly quote: Buffer
}): PairTokens => ({
  key: hash(toHex(row.pair)),
  base: addressIn(row.base),
  quote: addressIn(row.quote),
})

export const addressIn = (bytes: Buffer): Address => address(toHex(bytes))
