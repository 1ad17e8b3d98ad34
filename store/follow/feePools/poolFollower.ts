/** Fee pools as a follower: their events, and the fees of each block. */

import type { BlockRange } from '#ingest/range.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { type Address, address } from '#primitives.ts'
import {
  feePoolBurn,
  feePoolMint,
  feePoolMintWithUserAmount,
  rebalanceSwap,
} from '#transform/events/feeAmm.ts'
import { validatorTokenSet } from '#transform/events/feeManager.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf, toHex } from '../../sql.ts'
import type { PlacedLog } from '../fold.ts'
import { eventFollower } from '../foldFollower.ts'
import { byteaText, insertChanges, insertRows, insertTouched, readStates } from '../foldTables.ts'
import type { BlockFollower, FollowerTransaction } from '../follower.ts'
import { readGenesisSeconds } from '../genesisBlock.ts'
import { GENESIS_LOG_INDEX } from '../tokens/genesisTokens.ts'
import { findDiffering, poolCheck } from './checkPools.ts'
import { readGenesisPools } from './genesisPools.ts'
import {
  type PoolEvent,
  type PoolStates,
  poolId,
  poolOfFees,
  poolsTable,
  reducePools,
  validatorsTable,
} from './pools.ts'

export const feePoolsProjection = { name: 'fee_pools', version: 3 } as const

const poolEvents = [feePoolMint, feePoolMintWithUserAmount, feePoolBurn, rebalanceSwap, validatorTokenSet]

/** Blocks of one piece: each may have a row for every token that fees are paid in. */
const BLOCKS_MAX = 4_096

/** `callContracts`: none on chains whose fees are paid in no token. */
export function feePoolsFollower(callContracts: CallContracts | null): BlockFollower {
  const follower = eventFollower({
    ...feePoolsProjection,
    needs: ['token_transfers'],
    events: callContracts ? poolEvents : [],
    tables: [poolsTable, validatorsTable],
    rowTables: ['fee_pool_mints'],
    blocksMax: BLOCKS_MAX,
    prepare: async (context) => {
      const found = callContracts ? await readGenesisPools(callContracts, context) : []
      const changes = found.map(({ tokens, state }) => ({
        ...{ entity: poolId(tokens), blockNumber: 0, logIndex: GENESIS_LOG_INDEX, state },
      }))
      return ({ client, schema }) => insertChanges(client, schema, poolsTable, changes)
    },
    take,
  })
  return callContracts
    ? { ...follower, clear, complete: poolCheck(callContracts, feePoolsProjection), inspect: findDiffering }
    : follower

  async function clear(transaction: FollowerTransaction): Promise<void> {
    await follower.clear(transaction)
    await transaction.client.query(`TRUNCATE ${relationOf(transaction.schema, 'fee_pool_checks')}`)
  }
}

async function take(
  { client, schema }: FollowerTransaction,
  logs: readonly PlacedLog[],
  blocks: BlockRange,
): Promise<void> {
  const fees = await readFees(client, schema, blocks)
  const events = [...logs.flatMap(eventOf), ...fees].sort(byPlace)
  if (events.length === 0) return
  const states = await readPools(client, schema, events)
  const { pools, validators } = reducePools(events, states, await readGenesisSeconds(client, schema))
  await insertTouched(client, schema, poolsTable, pools)
  await insertTouched(client, schema, validatorsTable, validators)
  await insertRows(client, relationOf(schema, 'fee_pool_mints'), logs.flatMap(mintOf))
}

const byPlace = ({ place: a }: PoolEvent, { place: b }: PoolEvent): number =>
  a.blockNumber - b.blockNumber || a.logIndex - b.logIndex

function eventOf({ log, place }: PlacedLog): PoolEvent[] {
  const minted = feePoolMint.decode(log)
  if (minted) return [{ ...minted, kind: 'minted', place, user: 0n, validator: minted.amountValidatorToken }]
  const both = feePoolMintWithUserAmount.decode(log)
  if (both)
    return [
      { ...both, kind: 'minted', place, user: both.amountUserToken, validator: both.amountValidatorToken },
    ]
  const burned = feePoolBurn.decode(log)
  if (burned) {
    const { amountUserToken, amountValidatorToken } = burned
    return [{ ...burned, kind: 'moved', place, user: -amountUserToken, validator: -amountValidatorToken }]
  }
  const rebalanced = rebalanceSwap.decode(log)
  if (rebalanced)
    return [
      { ...rebalanced, kind: 'moved', place, user: -rebalanced.amountOut, validator: rebalanced.amountIn },
    ]
  const chosen = validatorTokenSet.decode(log)
  return chosen ? [{ kind: 'chose', place, ...chosen }] : []
}

/** Both forms of a mint as a row. */
function mintOf({ log, place }: PlacedLog): object[] {
  const minted = feePoolMint.decode(log)
  const both = minted ? null : feePoolMintWithUserAmount.decode(log)
  const args = minted ?? both
  if (!args) return []
  return [
    {
      ...{ block_num: place.blockNumber, log_idx: place.logIndex, tx_hash: byteaText(place.txHash) },
      block_timestamp: new Date(place.timestampSeconds * 1000).toISOString(),
      pool: byteaText(poolId(args)),
      user_token: byteaText(args.userToken),
      validator_token: byteaText(args.validatorToken),
      minter: byteaText(args.sender),
      recipient: minted && byteaText(minted.to),
      amount_user: both && `${both.amountUserToken}`,
      amount_validator: `${args.amountValidatorToken}`,
      liquidity: `${args.liquidity}`,
    },
  ]
}

interface FeeRow {
  readonly block_num: number
  readonly block_timestamp: Date
  readonly last_log: number
  readonly miner: Buffer
  readonly token: Buffer
  readonly paid: string
  readonly paid_out: string
}

/** Fees of each block and token. A closing transfer of a fee is an input like an event. */
async function readFees(
  client: Queryable,
  schema: string,
  { from, to }: BlockRange,
): Promise<readonly PoolEvent[]> {
  const found = await client.query<FeeRow>(
    `SELECT block_num, block_timestamp, max(log_idx) AS last_log, miner, token, sum(amount) AS paid,
       sum(div(amount * 9970, 10000)) AS paid_out
     FROM ${relationOf(schema, 'token_transfers')} AS fees JOIN ${relationOf(schema, 'blocks')} AS blocks ON num = block_num
     WHERE is_fee AND block_num BETWEEN $1 AND $2 GROUP BY block_num, block_timestamp, miner, token`,
    [from, to],
  )
  return found.rows.map((row) => ({
    kind: 'collected',
    place: {
      ...{ blockNumber: row.block_num, logIndex: row.last_log },
      timestampSeconds: row.block_timestamp.getTime() / 1000,
    },
    validator: addressOf(row.miner),
    token: addressOf(row.token),
    paid: BigInt(row.paid),
    paidOut: BigInt(row.paid_out),
  }))
}

const addressOf = (bytes: Buffer): Address => address(toHex(bytes))

/**
 * Everything the events may touch: of fees, the pools of each token a validator may have chosen
 * meanwhile.
 */
async function readPools(
  client: Queryable,
  schema: string,
  events: readonly PoolEvent[],
): Promise<PoolStates> {
  const named = events.flatMap((event) =>
    'validator' in event && typeof event.validator === 'string' ? [event.validator] : [],
  )
  const validators = await readStates(client, schema, validatorsTable, named)
  const pools = new Set<string>()
  const now: PoolStates = { pools: new Map(), validators: new Map(validators) }
  for (const event of events) {
    if (event.kind === 'chose') now.validators.set(event.validator, { token: event.token })
    const tokens = event.kind === 'collected' ? poolOfFees(now, event) : event.kind === 'chose' ? null : event
    if (tokens) pools.add(poolId(tokens))
  }
  return { pools: await readStates(client, schema, poolsTable, [...pools]), validators }
}
