// Goal: the fee pools are those of genesis and those somebody added liquidity to, with the mints
// and reserves that the chain's events and fees make, whatever was reverted on the way.
// Method: the recorded chain in a real store; expectations by viem over the raw recording, fee by
// fee.

import {
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
  type RpcLog,
} from 'viem'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { MillraceError } from '#errors.ts'
import { poolAudit } from '#store/follow/feePools/auditPools.ts'
import { toHex } from '#store/sql.ts'
import { batchesOf } from '../../api/support/writtenChain.ts'
import { type RecordedBlock, readRecording } from '../../chain/recordings.ts'
import { genesisTokens, readBalances } from '../support/balanceOracle.ts'
import { type ChainStore, openChainStore, recordedBatches } from '../support/chainStore.ts'
import { followersOf, genesisReserve, recordedCalls } from '../support/followers.ts'

const recording = 'tempo-dev-2k'
const lastBlock = 122
const feeManager: string = '0xfeec000000000000000000000000000000000000'
const pathUsd = '0x20c0000000000000000000000000000000000000'
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const abi = parseAbi([
  'event Mint(address sender, address indexed to, address indexed userToken, address indexed validatorToken, uint256 amountValidatorToken, uint256 liquidity)',
  'event Burn(address indexed sender, address indexed userToken, address indexed validatorToken, uint256 amountUserToken, uint256 amountValidatorToken, uint256 liquidity, address to)',
  'event RebalanceSwap(address indexed userToken, address indexed validatorToken, address indexed swapper, uint256 amountIn, uint256 amountOut)',
  'event ValidatorTokenSet(address indexed validator, address indexed token)',
  'event TokenCreated(address indexed token, string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt)',
])

interface NodeReceipt {
  readonly logs: RpcLog[]
}

interface Pool {
  readonly user: string
  readonly validator: string
  readonly created: number
  mints: number
  reserveUser: bigint
  reserveValidator: bigint
}

const idOf = (userToken: string, validatorToken: string) =>
  keccak256(
    encodeAbiParameters(parseAbiParameters('address, address'), [userToken as Hex, validatorToken as Hex]),
  )

/** Pools up to and including a block, by id, and how many fees were turned into another token. */
function poolsAt(
  block: number,
  chain: readonly RecordedBlock[] = readRecording(recording),
): { readonly pools: Map<string, Pool>; readonly feeSwaps: number } {
  const pools = new Map<string, Pool>()
  const chosen = new Map<string, string>()
  const quotes = new Map(genesisTokens.map((token) => [token, pathUsd as string]))
  let feeSwaps = 0
  const poolOf = (user: string, validator: string, created: number, reserve = 0n): Pool => {
    const id = idOf(user, validator)
    const found = pools.get(id)
    if (found) return found
    const pool = {
      ...{ user, validator, created, mints: 0 },
      reserveUser: reserve,
      reserveValidator: reserve,
    }
    pools.set(id, pool)
    return pool
  }
  for (const user of genesisTokens)
    for (const validator of genesisTokens) if (user !== validator) poolOf(user, validator, 0, genesisReserve)
  for (const [number, { block: header, receipts }] of chain.slice(0, block + 1).entries()) {
    const { miner } = header as { miner: string }
    for (const { logs } of receipts as readonly NodeReceipt[]) {
      for (const { eventName, args, address } of parseEventLogs({ abi, logs })) {
        if (eventName === 'TokenCreated') {
          quotes.set(args.token.toLowerCase(), args.quoteToken.toLowerCase())
          continue
        }
        if (address !== feeManager) continue
        if (eventName === 'ValidatorTokenSet') {
          chosen.set(args.validator.toLowerCase(), args.token.toLowerCase())
          continue
        }
        const pool = poolOf(args.userToken.toLowerCase(), args.validatorToken.toLowerCase(), number)
        if (eventName === 'Mint') {
          pool.mints += 1
          pool.reserveValidator += args.amountValidatorToken
        } else if (eventName === 'Burn') {
          pool.reserveUser -= args.amountUserToken
          pool.reserveValidator -= args.amountValidatorToken
        } else {
          pool.reserveUser -= args.amountOut
          pool.reserveValidator += args.amountIn
        }
      }
      // The fee is the last log of a transaction that is not free.
      const last = logs.at(-1)
      const paid = last?.topics[0] === transferTopic && `0x${last.topics[2]?.slice(26)}` === feeManager
      const taken = chosen.get(miner.toLowerCase()) ?? pathUsd
      if (!paid || last.address === taken) continue
      // Where none is between the two tokens, two others turned the fee.
      const between = quotes.get(last.address) ?? pathUsd
      const direct = pools.get(idOf(last.address, taken))
      const hops = direct
        ? [direct]
        : [pools.get(idOf(last.address, between)), pools.get(idOf(between, taken))]
      if (hops.includes(undefined)) continue
      feeSwaps += 1
      let amount = BigInt(last.data)
      for (const pool of hops) {
        if (!pool) continue
        pool.reserveUser += amount
        amount = (amount * 9_970n) / 10_000n
        pool.reserveValidator -= amount
      }
    }
  }
  return { pools, feeSwaps }
}

/**
 * The recording as two validators made it in turn; the second one asks for other tokens on the way.
 */
function madeByTwo(): readonly RecordedBlock[] {
  const chosen = new Map([
    [20, genesisTokens[1]],
    [70, genesisTokens[2]],
  ])
  return readRecording(recording).map(({ block, receipts }, number) => {
    const miner = validators[number % 2]
    const written = structuredClone(receipts) as NodeReceipt[]
    const token = chosen.get(number)
    const logs = written.find((receipt) => receipt.logs.length > 0)?.logs ?? []
    const [first] = logs
    if (token && first) {
      const topics = encodeEventTopics({
        ...{ abi, eventName: 'ValidatorTokenSet', args: { validator: validators[1], token: token as Hex } },
      })
      logs.unshift({ ...first, address: feeManager as Hex, topics: topics as [Hex, ...Hex[]], data: '0x' })
    }
    for (const [index, log] of written.flatMap(({ logs }) => logs).entries())
      log.logIndex = numberToHex(index)
    return { block: { ...(block as object), miner }, receipts: written }
  })
}
const validators = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`] as const

/** A node that went away. */
class NodeLostError extends MillraceError {
  readonly code = 'lost'
  readonly remedy = 'retry'
}

async function storedPools({ postgres, schema }: ChainStore): Promise<Map<string, Pool>> {
  const { rows } = await postgres.pool.query(`SELECT * FROM ${schema}.fee_pools_current`)
  return new Map(
    rows.map((row) => [
      toHex(row.pool),
      {
        ...{ user: toHex(row.user_token), validator: toHex(row.validator_token) },
        ...{ created: Number(row.created_block), mints: row.mint_count },
        ...{ reserveUser: BigInt(row.reserve_user), reserveValidator: BigInt(row.reserve_validator) },
      },
    ]),
  )
}

describe('fee pools', () => {
  test('are those of genesis and those of the events, with what fees made of them, after reverts too', async () => {
    const store = await openChainStore({ headFrom: 0 })
    afterAll(() => store.close())
    const batches = recordedBatches(recording, 1)
    for (const batch of batches) await store.head.append(batch)
    const { settle } = followersOf(store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
    })
    await settle()
    const { pools, feeSwaps } = poolsAt(lastBlock)
    expect(pools.size).toBeGreaterThan(12)
    expect(feeSwaps).toBeGreaterThan(500)
    expect(await storedPools(store)).toEqual(pools)
    const tip = Math.max(...[...pools.values()].map(({ created }) => created)) - 1
    await store.head.revert(await store.head.refAt(tip))
    await settle()
    const before = poolsAt(tip).pools
    expect(await storedPools(store)).toEqual(before)
    expect(before.size).toBeLessThan(pools.size)
  })

  test('are those that each validator chose at that block, of two that make blocks in turn', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    const chain = madeByTwo()
    for (const batch of batchesOf(chain)) await store.head.append(batch)
    await followersOf(store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
      only: ['tokens', 'fee_pools'],
    }).settle()
    const { pools, feeSwaps } = poolsAt(lastBlock, chain)
    expect(feeSwaps).toBeGreaterThan(500)
    // The result if every block's validator took the first one's token.
    expect(pools).not.toEqual(poolsAt(lastBlock).pools)
    expect(await storedPools(store)).toEqual(pools)
  })
})

describe('fee pools beside what nodes tell', () => {
  test('are compared with the node: one that differs is marked, a node that does not tell holds nothing up', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    const [first, second] = recordedBatches(recording, 10)
    await store.head.append(first ?? expect.fail())
    const honest = recordedCalls(recording, readBalances(recording))
    let asked = 0
    const told = followersOf(store, {
      callContracts: async (calls, at, signal) => {
        const [call] = calls
        if (call?.to !== feeManager || at === 'latest' || at === (await store.head.refAt(0))?.hash)
          return honest(calls, at, signal)
        asked += 1
        // One unit more than genesis gave, of every token.
        const word = (genesisReserve + 1n).toString(16).padStart(64, '0')
        return calls.map((): Hex => `0x${word}${word}`)
      },
    })
    await told.settle()
    const marked = async () => {
      const { rows } = await store.postgres.pool.query(
        `SELECT pool FROM ${store.schema}.fee_pool_checks WHERE differs`,
      )
      return rows.length
    }
    expect([asked, (await marked()) >= 12]).toEqual([1, true])
    const inspect = async () =>
      told.followers.find(({ name }) => name === 'fee_pools')?.inspect?.(store.postgres.pool, store.schema)
    expect(await inspect()).toMatchObject({
      strays: 0,
      differs: expect.stringMatching(/^1\d fee pools had other/),
    })
    // The next round is many blocks later.
    await store.head.append(second ?? expect.fail())
    await told.settle()
    expect(asked).toBe(1)
    const lost = followersOf(store, {
      callContracts: async (calls, at, signal) => {
        if (calls[0]?.to === feeManager) throw new NodeLostError()
        return honest(calls, at, signal)
      },
    })
    await lost.settle()
  })

  test('that final blocks changed are compared by the audit as of the last of them, and marked under its fence', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    for (const batch of recordedBatches(recording, 10)) await store.head.append(batch)
    await followersOf(store, {
      callContracts: recordedCalls(recording, readBalances(recording)),
    }).settle()
    const [from, to] = [20, 60]
    const { pools } = poolsAt(to)
    const last = (await store.head.refAt(to)) ?? expect.fail()
    const wrong = [...pools].find(
      ([id, { reserveUser }]) => reserveUser !== poolsAt(from).pools.get(id)?.reserveUser,
    )
    const [wrongId] = wrong ?? expect.fail('no pool changed')
    const asked: unknown[] = []
    const { signal } = new AbortController()
    /** The chain's reserves after the block, but for one pool a unit more. */
    const audit = (fence: bigint, lie: bigint) =>
      poolAudit({
        ...{ postgres: store.postgres, schema: store.schema, fence },
        call: async (calls, at) => {
          asked.push(at)
          return calls.map(({ data }): Hex => {
            const [user, validator] = [data.slice(34, 74), data.slice(98)].map((hex) => `0x${hex}`)
            const id = idOf(user ?? '', validator ?? '')
            const { reserveUser = 0n, reserveValidator = 0n } = pools.get(id) ?? {}
            const words = [reserveUser + (id === wrongId ? lie : 0n), reserveValidator]
            return `0x${words.map((word) => word.toString(16).padStart(64, '0')).join('')}`
          })
        },
      })({ from, to }, signal)
    const marked = async () => {
      const { rows } = await store.postgres.pool.query(
        `SELECT pool, block_num FROM ${store.schema}.fee_pool_checks WHERE differs`,
      )
      return rows.map((row) => [toHex(row.pool), row.block_num])
    }
    await audit(1n, 0n)
    expect([asked, await marked()]).toEqual([[last.hash], []])
    await expect(audit(7n, 1n)).rejects.toMatchObject({ code: 'fenced_out' })
    expect(await marked()).toEqual([])
    await audit(1n, 1n)
    expect(await marked()).toEqual([[wrongId, to]])
    const lost = poolAudit({
      ...{ postgres: store.postgres, schema: store.schema, fence: 1n },
      call: async () => {
        throw new NodeLostError()
      },
    })
    await lost({ from, to }, signal)
  })

  test('of genesis have no reserves where no node tells of them', async () => {
    const store = await openChainStore({ headFrom: 0 })
    onTestFinished(() => store.close())
    await store.head.append(recordedBatches(recording, 10)[0] ?? expect.fail())
    const honest = recordedCalls(recording, readBalances(recording))
    const silent = followersOf(store, {
      callContracts: async (calls, at, signal) =>
        (await honest(calls, at, signal)).map((answer, index) =>
          calls[index]?.to === feeManager ? null : answer,
        ),
    })
    await silent.settle()
    const { rows } = await store.postgres.pool.query(
      `SELECT * FROM ${store.schema}.fee_pools_current WHERE created_block = 0`,
    )
    expect(rows.length).toBe(12)
    expect(rows.every((row) => row.reserve_user === null && row.reserve_validator === null)).toBe(true)
  })
})
