// Goal: fees are turned by the pools the chain turned them by, where the direct pool is thin: it is
// tried first, against the most the gas may cost, else two pools take turns; and pools that a node
// tells otherwise are mended by it.
// Method: chains written by hand and by a seed; an oracle that runs transaction by transaction.

import { type Hex, numberToHex } from 'viem'
import { afterAll, describe, expect, test } from 'vitest'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import { feePoolsFollower } from '#store/follow/feePools/poolFollower.ts'
import { createFollowers } from '#store/follow/followers.ts'
import { toHex } from '#store/sql.ts'
import type { RpcObject } from '../../api/support/oracle.ts'
import { events, logOf, maker, pathUsd, taker, token } from '../../api/support/writtenBook.ts'
import { batchesOf, type WrittenLog, writtenChain } from '../../api/support/writtenChain.ts'
import type { RecordedBlock } from '../../chain/recordings.ts'
import { type ChainStore, openChainStore } from '../support/chainStore.ts'
import { FeeRouteOracle, feeManager, idOf, type Reserves } from '../support/feeRouteOracle.ts'
import { followersOf, silentCalls } from '../support/followers.ts'

const recording = 'tempo-dev-2k'
const tokenOf = (letter: string): Hex => `0x20c000000000000000000000${letter.repeat(16)}`
const [alpha, middle, taken, lonely, near] = ['a', 'b', 'c', 'd', 'e'].map(tokenOf) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
]
const [validator, other]: readonly [Hex, Hex] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
const mint = (userToken: Hex, validatorToken: Hex, amountValidatorToken: bigint) =>
  logOf(
    feeManager,
    'event Mint(address sender, address indexed to, address indexed userToken, address indexed validatorToken, uint256 amountValidatorToken, uint256 liquidity)',
    { sender: maker, to: maker, userToken, validatorToken, amountValidatorToken, liquidity: 1n },
  )
const burn = (userToken: Hex, validatorToken: Hex, amountValidatorToken: bigint) =>
  logOf(
    feeManager,
    'event Burn(address indexed sender, address indexed userToken, address indexed validatorToken, uint256 amountUserToken, uint256 amountValidatorToken, uint256 liquidity, address to)',
    {
      sender: maker,
      userToken,
      validatorToken,
      amountUserToken: 0n,
      amountValidatorToken,
      liquidity: 1n,
      to: maker,
    },
  )
const rebalance = (userToken: Hex, validatorToken: Hex, amountOut: bigint) =>
  logOf(
    feeManager,
    'event RebalanceSwap(address indexed userToken, address indexed validatorToken, address indexed swapper, uint256 amountIn, uint256 amountOut)',
    { userToken, validatorToken, swapper: maker, amountIn: (amountOut * 9_985n) / 10_000n + 1n, amountOut },
  )
const takes = (who: Hex, token: Hex) =>
  logOf(feeManager, 'event ValidatorTokenSet(address indexed validator, address indexed token)', {
    ...{ validator: who, token },
  })
const quoted = (of: Hex, newQuoteToken: Hex) =>
  logOf(of, events.quoteTokenUpdate, { updater: maker, newQuoteToken })

/** A transaction: the most its gas may cost and what it cost, in units of the token it pays in. */
interface Paid {
  readonly in: Hex
  readonly most: bigint
  readonly cost: bigint
  readonly logs?: readonly WrittenLog[]
  /** Attodollars above the base fee. */
  readonly tip?: bigint
}
interface WrittenBlock {
  readonly miner?: Hex
  readonly txs: readonly (Paid | { readonly logs: readonly WrittenLog[] })[]
}

const BASE_FEE = 20_000_000_000n
const UNIT = 10n ** 12n
const feeLog = (token: Hex, amount: bigint) =>
  logOf(token, events.transfer, { from: taker, to: feeManager, amount })

// biome-ignore lint/suspicious/noExplicitAny: a node's JSON
type Written = Record<string, any>

/** Gas limits and prices as the transactions have them: half a unit below what rounds up to it. */
function chainOf(blocks: readonly WrittenBlock[]): readonly RecordedBlock[] {
  const written = writtenChain(
    recording,
    blocks.map(({ txs }) =>
      txs.map((tx) => ({
        from: taker,
        logs: [...(tx.logs ?? []), ...('in' in tx ? [feeLog(tx.in, tx.cost)] : [])],
      })),
    ),
  )
  return written.map(({ block, receipts }, number) => {
    const of = blocks[number - 1]
    if (!of) return { block, receipts }
    const header = structuredClone(block) as Written
    const told = structuredClone(receipts) as Written[]
    header['miner'] = of.miner ?? validator
    header['baseFeePerGas'] = numberToHex(BASE_FEE)
    for (const [index, tx] of of.txs.entries()) {
      if (!('in' in tx)) continue
      const price = BASE_FEE + (tx.tip ?? 0n)
      const transactions = header['transactions']
      transactions[index].gas = numberToHex((tx.most * UNIT - UNIT / 2n) / price)
      transactions[index].maxFeePerGas = numberToHex(price * 3n)
      transactions[index].maxPriorityFeePerGas = numberToHex(tx.tip ?? 0n)
      const receipt = told[index] ?? expect.fail()
      receipt['effectiveGasPrice'] = numberToHex(price)
    }
    return { block: header, receipts: told }
  })
}

const begins: readonly WrittenBlock[] = [
  {
    miner: other,
    txs: [
      {
        logs: [
          token(middle, 'Middle', 'MID', pathUsd),
          token(alpha, 'Alpha', 'ALPHA', middle),
          token(taken, 'Taken', 'TAKEN', pathUsd),
          token(lonely, 'Lonely', 'LONE', middle),
          token(near, 'Near', 'NEAR', taken),
          takes(validator, taken),
        ],
      },
    ],
  },
  {
    txs: [
      {
        logs: [
          mint(alpha, taken, 10_000n),
          mint(alpha, middle, 1_000_000n),
          mint(middle, taken, 1_000_000n),
          mint(lonely, middle, 1_000_000n),
          mint(near, taken, 5_000n),
          mint(alpha, pathUsd, 700_000n),
          mint(pathUsd, taken, 700_000n),
        ],
      },
    ],
  },
]

const thin: readonly WrittenBlock[] = [
  ...begins,
  {
    txs: [
      { in: alpha, most: 5_000n, cost: 3_000n },
      // Its cost would fit into the direct pool; the cost that it might have had would not.
      { in: alpha, most: 9_000n, cost: 100n },
      { in: alpha, most: 7_000n, cost: 333n },
      { in: taken, most: 90_000n, cost: 12n },
    ],
  },
  // Its own liquidity comes too late for a transaction, and in time for the next one.
  {
    txs: [
      { in: alpha, most: 9_000n, cost: 777n, logs: [mint(alpha, taken, 50_000n)] },
      { in: alpha, most: 9_000n, cost: 778n },
    ],
  },
  // Only the tip makes it too much.
  {
    txs: [
      { in: alpha, most: 20_000n, cost: 10n, logs: [burn(alpha, taken, 30_000n)], tip: 7_000_000_000n },
      { in: alpha, most: 25_900n, cost: 10n },
      { in: alpha, most: 27_000n, cost: 10n, tip: 1_000_000_000n },
    ],
  },
  // A quote token counts from the transaction after its change on.
  {
    txs: [
      { in: alpha, most: 40_000n, cost: 5_001n, logs: [quoted(alpha, pathUsd)] },
      { in: alpha, most: 40_000n, cost: 6_001n },
    ],
  },
  // No direct pool was ever made.
  {
    txs: [
      { in: lonely, most: 10n, cost: 1n },
      { in: near, most: 5_000n, cost: 4_999n },
    ],
  },
  { miner: other, txs: [{ in: alpha, most: 600_000n, cost: 500_000n }] },
]

const open: ChainStore[] = []
afterAll(async () => {
  for (const store of open) await store.close()
})

async function storeOf(chain: readonly RecordedBlock[], blocksOfBatch?: number): Promise<ChainStore> {
  const store = await openChainStore({ headFrom: 0 })
  open.push(store)
  for (const batch of batchesOf(chain).slice(0, blocksOfBatch)) await store.head.append(batch)
  return store
}

async function settle(store: ChainStore, calls: CallContracts = silentCalls, twoHopsSince?: number) {
  const followers = createFollowers({ kind: 'tempo', chainId: 0, callContracts: calls }).map((follower) =>
    follower.name === 'fee_pools' ? feePoolsFollower(calls, twoHopsSince) : follower,
  )
  const moved = followersOf(store, { callContracts: calls, followers, only: ['tokens', 'fee_pools'] })
  await moved.settle()
  return moved
}

async function stored({ postgres, schema }: ChainStore): Promise<Map<Hex, Reserves>> {
  const { rows } = await postgres.pool.query(`SELECT * FROM ${schema}.fee_pools_current`)
  return new Map(
    rows.map((row) => [
      toHex(row.pool),
      { user: BigInt(row.reserve_user), validator: BigInt(row.reserve_validator) },
    ]),
  )
}

function oracleOf(chain: readonly RecordedBlock[], twoHopsSince?: number): FeeRouteOracle {
  const oracle = new FeeRouteOracle(twoHopsSince)
  for (const block of chain) oracle.take(block)
  return oracle
}

describe('fees of a thin direct pool', () => {
  // Made before a store is open, whose connections would be idle for too long meanwhile.
  const chains = [1, 3].map((seed) => ({ seed, chain: generated(seed) }))

  test('take two hops where the direct pool could not pay the most the gas may cost', async () => {
    const chain = chainOf(thin)
    const { pools, routes } = oracleOf(chain)
    expect(routes).toEqual([
      ...['direct', 'twoHops', 'direct', 'same', 'twoHops', 'direct', 'direct', 'direct', 'twoHops'],
      ...['twoHops', 'twoHops', 'twoHops', 'direct', 'direct'],
    ])
    const store = await storeOf(chain)
    await settle(store)
    expect(await stored(store)).toEqual(pools)
  })

  test('take one before the fork, where no pool says otherwise', async () => {
    const chain = chainOf(thin.slice(0, 3))
    const [last] = chain.slice(-1)
    const forks = Number((last?.block as RpcObject | undefined)?.['timestamp']) + 1
    const store = await storeOf(chain)
    await settle(store, silentCalls, forks)
    // The chain let none in that the direct pool could not pay: ours is then the one that is wrong.
    expect((await stored(store)).get(idOf(alpha, taken))?.user).toBe(3_433n)
    expect((await stored(store)).get(idOf(alpha, middle))?.user).toBe(0n)
  })

  test.for(chains)(
    'are followed through a chain that seed $seed makes, to its end and after a revert',
    async ({ chain }) => {
      const { pools, routes } = oracleOf(chain)
      expect(routes.filter((route) => route === 'twoHops').length).toBeGreaterThan(20)
      expect(routes.filter((route) => route === 'direct').length).toBeGreaterThan(20)
      expect(routes).not.toContain('none')
      const store = await storeOf(chain)
      const { settle: again } = await settle(store)
      expect(await stored(store)).toEqual(pools)
      const tip = 17
      await store.head.revert(await store.head.refAt(tip))
      await again()
      expect(await stored(store)).toEqual(oracleOf(chain.slice(0, tip + 1)).pools)
    },
  )
})

/** Fees, liquidity and quote tokens by chance; no fee that no pool could pay. */
function generated(seed: number): readonly RecordedBlock[] {
  let state = seed * 7_919
  const below = (n: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  const blocks: WrittenBlock[] = [...begins]
  const txBy = (): Paid => {
    const logs = [
      ...(below(5) === 0 ? [mint(alpha, taken, BigInt(below(9_000) + 1))] : []),
      ...(below(6) === 0 ? [rebalance(alpha, taken, BigInt(below(20) + 1))] : []),
      ...(below(9) === 0 ? [quoted(alpha, below(2) === 0 ? middle : pathUsd)] : []),
      ...(below(9) === 0 ? [mint(below(2) === 0 ? near : lonely, taken, 2_000n)] : []),
    ]
    const most = BigInt(below(14_000) + 2)
    const payer = [alpha, alpha, alpha, lonely, near][below(5)] ?? alpha
    const cost = (most * BigInt(below(90) + 10)) / 100n
    return { in: payer, most, cost, logs, tip: BigInt(below(3)) * 1_000_000_000n }
  }
  while (blocks.length < 22) {
    const block = { txs: Array.from({ length: 4 }, txBy) }
    if (!oracleOf(chainOf([...blocks, block])).routes.includes('none')) blocks.push(block)
  }
  return chainOf(blocks)
}

describe('pools that the node tells otherwise', () => {
  test('are mended by it as of the block it was asked about, and folded on from there', async () => {
    const chain = chainOf(thin)
    const store = await storeOf(chain, 4)
    const [wrong, right] = [idOf(alpha, taken), idOf(alpha, middle)]
    let asked = 0
    const told: CallContracts = async (calls) => {
      if (calls[0]?.to !== feeManager) return calls.map(() => null)
      asked += 1
      if (asked > 1) return calls.map(() => null)
      const { pools } = oracleOf(chain.slice(0, 4))
      return calls.map(({ data }): Hex => {
        const id = idOf(`0x${data.slice(34, 74)}`, `0x${data.slice(98)}`)
        const { user = 0n, validator: reserve = 0n } = pools.get(id) ?? {}
        const words = [user + (id === wrong ? 7n : 0n), reserve]
        return `0x${words.map((word) => word.toString(16).padStart(64, '0')).join('')}`
      })
    }
    const { settle: again, followers } = await settle(store, told)
    const { pools } = oracleOf(chain.slice(0, 4))
    const expected = (at: ReadonlyMap<Hex, Reserves>) =>
      new Map([...at].map(([id, pool]) => [id, { ...pool, user: pool.user + (id === wrong ? 7n : 0n) }]))
    expect([asked, await stored(store)]).toEqual([1, expected(pools)])
    const marks = async () => {
      const { rows } = await store.postgres.pool.query(
        `SELECT pool, mended_block FROM ${store.schema}.fee_pools_current WHERE pool = ANY ($1)`,
        [[wrong, right].map((id) => Buffer.from(id.slice(2), 'hex'))],
      )
      return new Map(rows.map((row) => [toHex(row.pool), row.mended_block]))
    }
    expect(await marks()).toEqual(
      new Map([
        [wrong, 3],
        [right, null],
      ]),
    )
    const inspected = await followers
      .find(({ name }) => name === 'fee_pools')
      ?.inspect?.(store.postgres.pool, store.schema)
    expect(inspected?.differs).toContain(wrong)
    for (const batch of batchesOf(chain).slice(4)) await store.head.append(batch)
    await again()
    expect(await stored(store)).toEqual(expected(oracleOf(chain).pools))
    // A pool that a block that was taken back had mended is as the fold had it, and compared anew.
    await store.head.revert(await store.head.refAt(2))
    await again()
    expect(asked).toBe(2)
    expect((await stored(store)).get(right)).toEqual(oracleOf(chain.slice(0, 3)).pools.get(right))
  })
})
