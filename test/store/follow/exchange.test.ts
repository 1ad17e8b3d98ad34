// Goal: what is stored of the order book is what its raw logs say, after every block and every
// fill, whatever was reverted or cut into pieces on the way.
// Method: the recorded chain in a real store; expectations by viem over the raw recording, order by
// order.
import { decodeFunctionData, type Hex } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, describe, expect, test } from 'vitest'
import { bookFollower } from '#store/follow/exchange/bookFollower.ts'
import { toHex } from '#store/sql.ts'
import { type RecordedBlock, readRecording } from '../../chain/recordings.ts'
import { few, onceTest } from '../../support/breadth.ts'
import { readBalances } from '../support/balanceOracle.ts'
import { type BookOracle, bookOf } from '../support/bookOracle.ts'
import { type ChainStore, openChainStore, recordedRuns } from '../support/chainStore.ts'
import { followersOf, recordedCalls } from '../support/followers.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122

/** A place in the book: amounts are decimal text, bytes hex. */
interface PlaceRow {
  readonly pair: string
  readonly is_bid: boolean
  readonly tick: number
}

interface LevelRow extends PlaceRow {
  readonly size: string
  readonly order_count: number
}

interface OrderRow extends PlaceRow {
  readonly order_id: string
  readonly maker: string
  readonly base: string
  readonly quote: string
  readonly amount: string
  readonly remaining: string
  readonly state: string
}

interface FillRow extends OrderRow {
  readonly block_num: number
  readonly block_timestamp: Date
  readonly log_idx: number
  readonly swap_log_idx: number
  readonly tx_hash: string
  readonly tx_idx: number
  readonly tx_log_idx: number
  readonly taker: string
  readonly quote_amount: string
  readonly reserve0: string
  readonly reserve1: string
}

/** Rows of a table, bytes as hex. */
async function rowsOf<Row>({ postgres, schema }: ChainStore, table: string, order: string): Promise<Row[]> {
  const { rows } = await postgres.pool.query(`SELECT * FROM ${schema}.${table} ORDER BY ${order}`)
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, Buffer.isBuffer(value) ? toHex(value) : value]),
    ),
  ) as Row[]
}

/** Orders, levels and fills as stored, in the oracle's words. */
async function stored(store: ChainStore) {
  const orders = await rowsOf<OrderRow>(store, 'exchange_orders_current', 'order_id')
  const levels = await rowsOf<LevelRow>(store, 'exchange_levels_current', 'level')
  const fills = await rowsOf<FillRow>(store, 'exchange_fills', 'block_num, log_idx')
  return {
    orders: orders.map((row) => ({
      ...{ id: BigInt(row.order_id), maker: row.maker, base: row.base, quote: row.quote },
      ...{ pair: row.pair, isBid: row.is_bid, tick: row.tick, amount: BigInt(row.amount) },
      ...{ remaining: BigInt(row.remaining), open: row.state === 'open' },
    })),
    levels: levels.map((row) => [`${row.pair} ${row.is_bid} ${row.tick}`, BigInt(row.size), row.order_count]),
    fills: fills.map((row) => ({
      ...{ block: row.block_num, timestamp: row.block_timestamp.getTime() / 1000 },
      ...{
        logIndex: row.log_idx,
        txHash: row.tx_hash,
        txIndex: row.tx_idx,
        txLogIndex: row.tx_log_idx,
      },
      ...{ orderId: BigInt(row.order_id), maker: row.maker, taker: row.taker, pair: row.pair },
      ...{ base: row.base, quote: row.quote, isBid: row.is_bid, tick: row.tick },
      ...{ amount: BigInt(row.amount), quoteAmount: BigInt(row.quote_amount) },
      ...{ reserve0: BigInt(row.reserve0), reserve1: BigInt(row.reserve1) },
    })),
  }
}

/** The same by the oracle: levels as sums over all of its orders. */
function expected({ orders, fills }: BookOracle) {
  const levels = new Map<string, [bigint, number]>()
  for (const { pair, isBid, tick, remaining, open } of orders) {
    const [size, count] = levels.get(`${pair} ${isBid} ${tick}`) ?? [0n, 0]
    levels.set(`${pair} ${isBid} ${tick}`, open ? [size + remaining, count + 1] : [size, count])
  }
  return {
    orders,
    levels: [...levels].map(([key, [size, count]]) => [key, size, count]),
    fills,
  }
}

const sorted = (state: ReturnType<typeof expected> | Awaited<ReturnType<typeof stored>>) => ({
  ...state,
  levels: state.levels.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
})

interface NodeCall {
  readonly to: string
  readonly input: Hex
}

/** A node's account of a block, as far as swaps are read from it. */
interface NodeBlock {
  readonly transactions: readonly (NodeCall & {
    readonly hash: string
    readonly calls?: readonly NodeCall[]
  })[]
}

/**
 * Swaps called by these transactions, in their order: directly, or among the calls of a 0x76
 * transaction.
 */
function swapsCalled(chain: readonly RecordedBlock[], hashes: ReadonlySet<string>) {
  const txs = chain.flatMap(({ block }) => (block as NodeBlock).transactions)
  const swapping = txs.filter(({ hash }) => hashes.has(hash))
  return swapping.flatMap(({ calls, to, input }) =>
    (calls ?? [{ to, input }]).flatMap((call) => {
      if (call.to !== '0xdec0000000000000000000000000000000000000') return []
      const { functionName, args } = decodeFunctionData({ abi: Abis.stablecoinDex, data: call.input })
      if (functionName !== 'swapExactAmountIn' && functionName !== 'swapExactAmountOut') return []
      const [tokenIn, tokenOut, amount] = args
      return {
        isExactIn: functionName === 'swapExactAmountIn',
        ...{ tokenIn: tokenIn.toLowerCase(), tokenOut: tokenOut.toLowerCase(), amount },
      }
    }),
  )
}

const DEPTHS = [1, 2, 3, 5, 8, 13, 21, 34, 55]

describe('the order book', () => {
  const chain = readRecording(recording)
  const run = recordedRuns(recording)
  const callContracts = recordedCalls(recording, readBalances(recording))

  async function openStore() {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    return store
  }
  async function append(store: ChainStore, from: number, to: number) {
    for (const batch of run(from, to)) await store.head.append(batch)
  }
  const histories = async (store: ChainStore) => ({
    orders: await rowsOf(store, 'exchange_orders_history', 'order_id, block_num'),
    levels: await rowsOf(store, 'exchange_levels_history', 'level, block_num'),
    pairs: await rowsOf(store, 'exchange_pairs_history', 'pair, block_num'),
    fills: await rowsOf<FillRow>(store, 'exchange_fills', 'block_num, log_idx'),
  })

  onceTest('is what the raw logs say, order by order, level by level, fill by fill', async () => {
    const store = await openStore()
    await append(store, 0, lastBlock)
    await followersOf(store, { callContracts }).settle()
    const oracle = bookOf(chain)
    expect(oracle.fills.length).toBeGreaterThan(100)
    expect(sorted(await stored(store))).toEqual(sorted(expected(oracle)))
    const pairs = await rowsOf<PlaceRow>(store, 'exchange_pairs_current', 'pair')
    expect(new Set(pairs.map(({ pair }) => pair))).toEqual(new Set(oracle.pairs.keys()))
    expect(await rowsOf(store, 'exchange_strays', 'block_num')).toEqual([])
  })

  onceTest(
    'has one group of fills for every swap that a transaction calls, of the amount its calldata states',
    async () => {
      const store = await openStore()
      await append(store, 0, lastBlock)
      await followersOf(store, { callContracts }).settle()
      const fills = await rowsOf<FillRow>(store, 'exchange_fills', 'block_num, log_idx')
      const groups = [...Map.groupBy(fills, (row) => `${row.tx_hash}/${row.swap_log_idx}`).values()]
      const calls = swapsCalled(chain, new Set(fills.map((row) => row.tx_hash)))
      expect(groups.length).toBe(calls.length)
      expect(groups.length).toBeGreaterThan(70)
      for (const [index, { isExactIn, tokenIn, tokenOut, amount }] of calls.entries()) {
        const legs = (groups[index] ?? []).map((row) => ({
          ...(row.is_bid
            ? { source: row.base, destination: row.quote, given: row.amount, got: row.quote_amount }
            : { source: row.quote, destination: row.base, given: row.quote_amount, got: row.amount }),
        }))
        const stated = isExactIn
          ? legs.filter(({ source }) => source === tokenIn).map(({ given }) => BigInt(given))
          : legs.filter(({ destination }) => destination === tokenOut).map(({ got }) => BigInt(got))
        expect(stated.reduce((sum, value) => sum + value, 0n)).toBe(amount)
      }
    },
  )

  test('has the same rows from final blocks, from the smallest pieces, and after reverts of every depth', async () => {
    const [atHead, pieces] = [await openStore(), await openStore()]
    await append(atHead, 0, lastBlock)
    await append(pieces, 0, lastBlock)
    await pieces.head.finalize(lastBlock)
    const head = followersOf(atHead, { callContracts })
    await head.settle()
    const small = bookFollower({ callContracts, eventsMax: 1 })
    const others = head.followers.filter(({ name }) => name === 'tokens')
    await followersOf(pieces, { callContracts, followers: [...others, small] }).settle()
    const complete = await histories(atHead)
    expect(complete.orders.length).toBeGreaterThan(200)
    expect(await histories(pieces)).toEqual(complete)
    for (const depth of few(DEPTHS, 3)) {
      const tip = lastBlock - depth
      await atHead.head.revert(await atHead.head.refAt(tip))
      await head.settle()
      expect(sorted(await stored(atHead)), `${depth}`).toEqual(sorted(expected(bookOf(chain, tip))))
      await append(atHead, tip + 1, lastBlock)
      await head.settle()
      expect(await histories(atHead), `${depth}`).toEqual(complete)
    }
  })
})
