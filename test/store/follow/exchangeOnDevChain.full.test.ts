// Goal: the folded book and the folded fee pools are what the exchange and the fee manager
// themselves answer, block by block.
// Method: random traffic on a real dev chain, stored as its blocks come; every order, level and
// pool asked of the node's contracts as of the same block.
import { encodeFunctionData, type Hex } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import { startTraffic } from '#local/devchain/traffic.ts'
import type { Address, Hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { toHex } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { isLong } from '../../support/breadth.ts'
import { clock, startTestDevChain } from '../../support/devchain.ts'
import { type ChainStore, decode, openChainStore } from '../support/chainStore.ts'
import { followersOf, type TestFollowers } from '../support/followers.ts'

const exchange = '0xdec0000000000000000000000000000000000000' as Address
const feeManager = '0xfeec000000000000000000000000000000000000' as Address
const blocksCompared = isLong ? 1_000 : 300

let chain: Awaited<ReturnType<typeof startTestDevChain>>
let source: RpcSource
let store: ChainStore
let followers: TestFollowers
let next = 0
const end = new AbortController()
const { signal } = end

/**
 * The traffic waits between two blocks until the next one is wanted: the node keeps no old states.
 */
const turn = { isTaken: false, over: Promise.withResolvers<void>(), come: Promise.withResolvers<void>() }
async function sleep(): Promise<void> {
  if (!turn.isTaken) return
  turn.come.resolve()
  await turn.over.promise
}
async function nextBlock(): Promise<void> {
  const { over } = turn
  turn.over = Promise.withResolvers<void>()
  turn.come = Promise.withResolvers<void>()
  over.resolve()
  await turn.come.promise
}

/** Stores everything up to the node's newest block. */
async function catchUp(): Promise<void> {
  const { head } = await source.head(signal)
  while (next <= head.number) {
    const batch = decode(await source.fetch({ from: next, to: head.number }, { signal }))
    await store.head.append(batch)
    next = batch.range.to + 1
  }
  await followers.settle()
}

beforeAll(async () => {
  chain = await startTestDevChain()
  const { rpcUrl, chainId } = chain
  source = createSource({
    ...{ chainId, urls: [rpcUrl], finalityDepth: 0, runtime: systemRuntime(), log: silentLogger },
  })
  store = await openChainStore({ headFrom: 0 })
  followers = followersOf(store, { callContracts: contractCalls(source) })
  // Genesis is asked for while it is the newest state.
  await catchUp()
  const pace = { blockMs: 100, transactionsPerSecond: 30 }
  const traffic = startTraffic({
    ...{ rpcUrl, chainId, seed: 'book', log: silentLogger, clock: { ...clock, sleep }, signal, ...pace },
  })
  await traffic.settled
  turn.isTaken = true
  await turn.come.promise
})
afterAll(async () => {
  end.abort()
  turn.isTaken = false
  turn.over.resolve()
  await store?.close()
  await source?.close()
  await chain?.remove()
})

// biome-ignore lint/suspicious/noExplicitAny: rows of any table
async function rows(text: string, values: unknown[] = []): Promise<any[]> {
  return (await store.postgres.pool.query(text.replaceAll('{s}', store.schema), values)).rows
}

async function ask(to: Address, at: Hash, data: readonly Hex[]): Promise<readonly (Hex | null)[]> {
  const answers: (Hex | null)[] = []
  for (let start = 0; start < data.length; start += 100) {
    const calls = data.slice(start, start + 100).map((one) => ({ to, data: one }))
    answers.push(...(await contractCalls(source)(calls, at, signal)))
  }
  return answers
}

const word = (data: Hex | null | undefined, index: number): bigint =>
  data ? BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64)}`) : 0n

/** Levels and open orders after a block, as stored and as the exchange answers. */
async function compareAt(block: number, hash: Hash): Promise<number> {
  const levels = await rows(
    `SELECT past.*, pairs.base FROM {s}.exchange_levels_current AS level JOIN {s}.exchange_pairs_current AS pairs USING (pair)
     CROSS JOIN LATERAL (SELECT * FROM {s}.exchange_levels_history AS h WHERE h.level = level.level AND h.block_num <= $1
       ORDER BY block_num DESC, log_idx DESC LIMIT 1) AS past`,
    [block],
  )
  const abi = Abis.stablecoinDex
  const told = await ask(
    exchange,
    hash,
    levels.map((row) =>
      encodeFunctionData({
        abi,
        functionName: 'getTickLevel',
        args: [toHex(row.base), row.tick, row.is_bid],
      }),
    ),
  )
  expect(
    levels.map(({ size }) => BigInt(size)),
    `levels at ${block}`,
  ).toEqual(told.map((answer) => word(answer, 2)))
  const orders = await rows(
    `SELECT * FROM {s}.exchange_orders_history WHERE life @> $1::bigint ORDER BY order_id`,
    [block],
  )
  const answers = await ask(
    exchange,
    hash,
    orders.map((row) =>
      encodeFunctionData({ abi, functionName: 'getOrder', args: [BigInt(toHex(row.order_id))] }),
    ),
  )
  expect(
    orders.map((row) => (row.state === 'open' ? [BigInt(row.amount), BigInt(row.remaining)] : null)),
    `orders at ${block}`,
  ).toEqual(answers.map((answer) => (answer ? [word(answer, 5), word(answer, 6)] : null)))
  return orders.length
}

test('orders, levels and pools are what the contracts answer after every block', async () => {
  let orders = 0
  for (let block = 0; block < blocksCompared; block++) {
    await nextBlock()
    await catchUp()
    const ref = (await store.head.refAt(next - 1)) ?? expect.fail()
    orders = await compareAt(ref.number, ref.hash)
  }
  expect(orders).toBeGreaterThan(40)
  const tip = (await store.head.refAt(next - 1)) ?? expect.fail()
  const pools = await rows(`SELECT * FROM {s}.fee_pools_current ORDER BY pool`)
  const told = await ask(
    feeManager,
    tip.hash,
    pools.map((row) =>
      encodeFunctionData({
        ...{ abi: Abis.feeAmm, functionName: 'getPool' },
        args: [toHex(row.user_token), toHex(row.validator_token)],
      }),
    ),
  )
  expect(pools.map((row) => [BigInt(row.reserve_user), BigInt(row.reserve_validator)])).toEqual(
    told.map((answer) => [word(answer, 0), word(answer, 1)]),
  )
  expect(pools.length).toBeGreaterThan(12)
  expect(await rows(`SELECT * FROM {s}.fee_pool_checks WHERE differs`)).toEqual([])
})
