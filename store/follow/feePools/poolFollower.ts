/** Fee pools as a follower: their events, and the fees of each block. */

import type { BlockRange } from '#ingest/range.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import {
  feePoolBurn,
  feePoolMint,
  feePoolMintWithUserAmount,
  rebalanceSwap,
} from '#transform/events/exchange/feeAmm.ts'
import { validatorTokenSet } from '#transform/events/exchange/feeManager.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf } from '../../sql.ts'
import type { PlacedLog } from '../fold.ts'
import { eventFollower } from '../foldFollower.ts'
import { byteaText, insertChanges, insertRows, insertTouched, readStates } from '../foldTables.ts'
import type { BlockFollower, FollowerTransaction } from '../follower.ts'
import { readGenesisSeconds } from '../genesisBlock.ts'
import { GENESIS_LOG_INDEX } from '../tokens/genesisTokens.ts'
import { findDiffering, poolCheck } from './checkPools.ts'
import { readCollected, readSingle } from './fees.ts'
import { readGenesisPools } from './genesisPools.ts'
import {
  type PoolEvent,
  type PoolStates,
  poolOfFees,
  poolsTable,
  reducePools,
  validatorsTable,
} from './pools.ts'
import { hopsOver, poolId } from './routes.ts'

export const feePoolsProjection = { name: 'fee_pools', version: 4 } as const

const poolEvents = [feePoolMint, feePoolMintWithUserAmount, feePoolBurn, rebalanceSwap, validatorTokenSet]

/** Blocks of one piece: each may have a row for every token that fees are paid in. */
const BLOCKS_MAX = 4_096

/**
 * Blocks whose fees are read one by one at once. A pool that stays thin makes every block with its
 * fees such a block; a dense one has some thousand fees.
 */
const SINGLE_BLOCKS_MAX = 16

/**
 * `callContracts`: none on chains whose fees are paid in no token. `twoHopsSince`: time of the first
 * block whose fees may take two hops; before, no chain lets a fee in that the direct pool cannot pay.
 */
export function feePoolsFollower(callContracts: CallContracts | null, twoHopsSince = 0): BlockFollower {
  const follower = eventFollower({
    ...feePoolsProjection,
    needs: ['token_transfers', 'tokens'],
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
    take: (transaction, logs, blocks) => take(transaction, logs, blocks, twoHopsSince),
  })
  return callContracts
    ? {
        ...follower,
        clear,
        revert,
        complete: poolCheck(callContracts, feePoolsProjection),
        inspect: findDiffering,
      }
    : follower

  async function clear(transaction: FollowerTransaction): Promise<void> {
    await follower.clear(transaction)
    await transaction.client.query(`TRUNCATE ${relationOf(transaction.schema, 'fee_pool_checks')}`)
  }

  /** Comparisons after a block that was taken back are made again. */
  async function revert(transaction: FollowerTransaction, fromBlock: number): Promise<void> {
    await follower.revert(transaction, fromBlock)
    const checks = relationOf(transaction.schema, 'fee_pool_checks')
    await transaction.client.query(`DELETE FROM ${checks} WHERE block_num >= $1`, [fromBlock])
  }
}

async function take(
  { client, schema }: FollowerTransaction,
  logs: readonly PlacedLog[],
  blocks: BlockRange,
  twoHopsSince: number,
): Promise<void> {
  const logged = logs.flatMap(eventOf)
  const sums = await readCollected(client, schema, blocks)
  const genesisSeconds = await readGenesisSeconds(client, schema)
  const states: PoolStates = { pools: new Map(), validators: new Map() }
  let rest = inOrder([...sums, ...logged])
  while (rest.length > 0) {
    await readTouched(client, schema, rest, states)
    const { pools, validators, thinFrom } = reducePools(rest, states, { genesisSeconds, twoHopsSince })
    await insertTouched(client, schema, poolsTable, pools)
    await insertTouched(client, schema, validatorsTable, validators)
    if (thinFrom === null) break
    const to = Math.min(thinFrom + SINGLE_BLOCKS_MAX - 1, blocks.to)
    const fees = await readSingle(client, schema, { from: thinFrom, to }, twoHopsSince)
    const isLeft = ({ kind, place: { blockNumber } }: PoolEvent) =>
      blockNumber >= thinFrom && (blockNumber > to || kind !== 'collected')
    rest = inOrder([...fees, ...rest.filter(isLeft)])
  }
  await insertRows(client, relationOf(schema, 'fee_pool_mints'), logs.flatMap(mintOf))
}

/** Fees come first among events at one place: the way of a fee is chosen before its logs. */
const inOrder = (events: PoolEvent[]): PoolEvent[] => events.sort(byPlace)

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

/**
 * Reads into `states` everything the events may touch that is not there yet: of fees, the pools of
 * each token a validator may have chosen meanwhile.
 */
async function readTouched(
  client: Queryable,
  schema: string,
  events: readonly PoolEvent[],
  states: PoolStates,
): Promise<void> {
  const named = events.flatMap((event) => {
    if (event.kind === 'routed') return [event.fee.validator]
    return event.kind === 'chose' || event.kind === 'collected' ? [event.validator] : []
  })
  await readMissing(named, states.validators, (keys) => readStates(client, schema, validatorsTable, keys))
  const pools = poolsOf(events, states.validators)
  await readMissing(pools, states.pools, (keys) => readStates(client, schema, poolsTable, keys))
}

/** Ids of the pools that the events may move. */
function poolsOf(events: readonly PoolEvent[], validators: PoolStates['validators']): readonly string[] {
  const now: PoolStates = { pools: new Map(), validators: new Map(validators) }
  return events.flatMap((event) => {
    if (event.kind === 'paid') return []
    if (event.kind === 'chose') {
      now.validators.set(event.validator, { token: event.token })
      return []
    }
    if (event.kind !== 'collected' && event.kind !== 'routed') return [poolId(event)]
    const direct = poolOfFees(now, event.kind === 'routed' ? event.fee : event)
    if (!direct) return []
    return [direct, ...(event.kind === 'routed' ? hopsOver(event.fee.quote, direct) : [])].map(poolId)
  })
}

async function readMissing<State>(
  keys: readonly string[],
  states: Map<string, State>,
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, State>>,
): Promise<void> {
  const missing = [...new Set(keys)].filter((key) => !states.has(key))
  if (missing.length === 0) return
  for (const [key, state] of await read(missing)) states.set(key, state)
}
