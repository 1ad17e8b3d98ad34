/** Reads of fee pools: most mints first, as they stand after a block; and of the mints. */

import { type Address, address, type Hash, hash } from '#primitives.ts'
import type { ChainKind } from '#transform/profile.ts'
import { assertReached } from '../follow/balances/moment.ts'
import { feePoolsProjection } from '../follow/feePools/poolFollower.ts'
import { poolsTable } from '../follow/feePools/pools.ts'
import { type FollowedChain, readFollowed } from '../follow/readFollowed.ts'
import type { Queryable } from '../ledger/lane.ts'
import { Parameters, relationOf, toHex } from '../sql.ts'
import { compileStatesAt } from './exchange/statesAt.ts'
import { logWalk } from './lists/logWalk.ts'
import { pageOf } from './lists/page.ts'
import { pinOf } from './lists/pinned.ts'
import { type PageRequest, readWalk, type Walk, type WalkPage } from './lists/read.ts'

export interface FeeAmmChain extends FollowedChain {
  /** Fees are paid in tokens on Tempo alone. */
  readonly kind: ChainKind
}

export interface FeePoolRow {
  readonly id: Hash
  readonly userToken: Address
  readonly validatorToken: Address
  readonly createdAtSeconds: number
  readonly lastMintAtSeconds: number
  readonly mintCount: number
  /** Null where genesis is not known, or ours are doubted (`differs`). */
  readonly reserves: { readonly user: bigint; readonly validator: bigint } | null
  /** The node had other reserves than ours, and they are not mended, or were mended after the block. */
  readonly differs: boolean
}

export interface FeePoolPage extends Omit<WalkPage<FeePoolRow>, 'next'> {
  readonly next: readonly (number | string)[] | null
}

/** @throws BlockNotReachedError */
export function listFeePools(
  chain: FeeAmmChain,
  atBlock: number | undefined,
  page: PageRequest,
): Promise<FeePoolPage> {
  if (chain.kind !== 'tempo') return Promise.resolve({ rows: [], next: null })
  const { schema, finalized } = chain.state
  return readFollowed(chain, [feePoolsProjection], page.signal, async (client, tip) => {
    if (atBlock !== undefined) assertReached(atBlock, tip)
    const pinned = Number(page.position?.at(-1) ?? tip)
    const { block, marks } = await pinOf({ client, schema, finalized }, page, { pinned, atBlock, tip })
    const parameters = new Parameters()
    const [mints, user, validator] = page.position ?? []
    const after = page.position && [
      parameters.add(mints),
      parameters.bytes(`${user}`),
      parameters.bytes(`${validator}`),
    ]
    const text = compileStatesAt(
      schema,
      {
        ...{ table: poolsTable.name, block, branches: ['true'], order: 'desc', after },
        orderBy: ['mint_count', 'user_token', 'validator_token'],
        ...{ limit: page.limit + 1, offset: page.offset },
      },
      parameters,
    )
    const found = await client.query<PoolColumns>(
      `SELECT states.*, coalesce(checks.differs AND NOT checks.mended, false)
           OR coalesce(newest.mended_block > ${parameters.add(block)}::bigint, false) AS differs
       FROM (${text}) AS states LEFT JOIN ${relationOf(schema, 'fee_pool_checks')} AS checks USING (pool)
       LEFT JOIN ${relationOf(schema, `${poolsTable.name}_current`)} AS newest USING (pool)
       ORDER BY mint_count DESC, user_token DESC, validator_token DESC`,
      parameters.values,
    )
    const keyOf = (last: FeePoolRow) => [last.mintCount, last.userToken, last.validatorToken, block]
    return { ...pageOf(found.rows.map(poolRow), page.limit, keyOf), ...marks }
  })
}

interface PoolColumns extends Readonly<Record<string, unknown>> {
  readonly pool: Buffer
  readonly user_token: Buffer
  readonly validator_token: Buffer
  readonly created_at: Date
  readonly last_mint_at: Date
  readonly mint_count: number
  readonly reserve_user: string | null
  readonly reserve_validator: string | null
  readonly differs: boolean
}

function poolRow(row: PoolColumns): FeePoolRow {
  const { reserve_user: user, reserve_validator: validator, differs } = row
  return {
    id: hash(toHex(row.pool)),
    userToken: addressIn(row.user_token),
    validatorToken: addressIn(row.validator_token),
    createdAtSeconds: row.created_at.getTime() / 1000,
    lastMintAtSeconds: row.last_mint_at.getTime() / 1000,
    mintCount: row.mint_count,
    reserves:
      user === null || validator === null || differs
        ? null
        : { user: BigInt(user), validator: BigInt(validator) },
    differs,
  }
}

const addressIn = (bytes: Buffer): Address => address(toHex(bytes))

export interface FeeMintRow {
  readonly blockNumber: number
  readonly logIndex: number
  readonly timestampSeconds: number
  readonly txHash: Hash
  readonly userToken: Address
  readonly validatorToken: Address
  readonly minter: Address
  /** Told by the newer form of the event alone. */
  readonly recipient: Address | null
  /** Told by the older form of the event alone. */
  readonly amountUser: bigint | null
  readonly amountValidator: bigint
  readonly liquidity: bigint
}

export interface FeeMintFilters {
  readonly userToken?: Address | undefined
  readonly validatorToken?: Address | undefined
}

export function listFeeMints(
  chain: FeeAmmChain,
  filters: FeeMintFilters,
  page: PageRequest,
): Promise<WalkPage<FeeMintRow>> {
  if (chain.kind !== 'tempo')
    return Promise.resolve({ rows: [], next: null, totalCount: 0, totalCountCapped: false })
  const { schema, finalized, startBlock } = chain.state
  return readFollowed(chain, [feePoolsProjection], page.signal, (client, tip) => {
    const visible = { segment: { from: startBlock, to: tip }, startBlock, finalized }
    return readWalk({ client, schema, visible }, mintsWalk(client, schema, filters), {}, page)
  })
}

function mintsWalk(
  client: Queryable,
  schema: string,
  { userToken, validatorToken }: FeeMintFilters,
): Walk<FeeMintRow> {
  return logWalk({
    client,
    relation: relationOf(schema, 'fee_pool_mints'),
    conditions: (parameters) => [
      ...(userToken ? [`user_token = ${parameters.bytes(userToken)}`] : []),
      ...(validatorToken ? [`validator_token = ${parameters.bytes(validatorToken)}`] : []),
    ],
    rowOf: mintRow,
  })
}

interface MintColumns extends Readonly<Record<string, unknown>> {
  readonly block_num: number
  readonly log_idx: number
  readonly block_timestamp: Date
  readonly tx_hash: Buffer
  readonly user_token: Buffer
  readonly validator_token: Buffer
  readonly minter: Buffer
  readonly recipient: Buffer | null
  readonly amount_user: string | null
  readonly amount_validator: string
  readonly liquidity: string
}

const mintRow = (row: MintColumns): FeeMintRow => ({
  blockNumber: row.block_num,
  logIndex: row.log_idx,
  timestampSeconds: row.block_timestamp.getTime() / 1000,
  txHash: hash(toHex(row.tx_hash)),
  userToken: addressIn(row.user_token),
  validatorToken: addressIn(row.validator_token),
  minter: addressIn(row.minter),
  recipient: row.recipient && addressIn(row.recipient),
  amountUser: row.amount_user === null ? null : BigInt(row.amount_user),
  amountValidator: BigInt(row.amount_validator),
  liquidity: BigInt(row.liquidity),
})
