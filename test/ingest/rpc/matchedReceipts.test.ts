// Goal: a node whose list of a block's receipts has more, fewer or none of them, or in another
// order, gives the same proved rows as one whose list is right; where lists fail, receipts are asked
// for one by one, for those blocks and that endpoint alone.
// Method: real sources over HTTP; true blocks, which nodes answer as Hyperliquid's, Polygon's and
// Moonriver's do.
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, test } from 'vitest'
import { fetchVerified } from '#ingest/lanes/fetchVerified.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { RawRange } from '#ingest/source.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { type EncodedBatch, sameRows } from '#transform/batch.ts'
import { decodeRaw } from '#transform/decode/decodeRange.ts'
import type { ChainProfile } from '#transform/profile.ts'
import {
  type BuiltBlock,
  type JsonObject,
  receiptJson,
  transactionJson,
  trueBlock,
} from '../../support/builtBlock.ts'
import { type FakeNode, type NodeAnswer, type NodeCall, startNode } from '../support/proxyNode.ts'

const CHAIN_ID = 998
const LAST = 12
/** Far above: none of the blocks is near the head, where receipts may be late. */
const HEAD = 1_000

const profile: ChainProfile = { chainId: CHAIN_ID, kind: 'evm', checks: 'roots', headerRule: 'ethereum' }

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const hex = (number: number) => `0x${number.toString(16)}` as const

const account = privateKeyToAccount(`0x${'a1'.repeat(32)}`)

/** Three transactions a block, with 0, 1 and 2 logs. */
async function trueBlockAt(number: number, parentHash: Hex): Promise<BuiltBlock> {
  const nonces = number === 0 ? [] : [0, 1, 2].map((nth) => 3 * number + nth)
  const signed = await Promise.all(
    nonces.map((nonce) =>
      account.signTransaction({ type: 'legacy', gas: 100_000n, gasPrice: 20n, nonce, to: account.address }),
    ),
  )
  const bare = signed.map((bytes, index) => transactionJson(bytes, index, account.address.toLowerCase()))
  const receipts = bare.map((tx, index) => receiptJson(tx, index))
  return trueBlock(signed, bare, receipts, { number: hex(number), parentHash })
}

async function trueBlocks(): Promise<readonly BuiltBlock[]> {
  const blocks: BuiltBlock[] = []
  for (let number = 0; number <= LAST; number++)
    blocks.push(await trueBlockAt(number, blocks.at(-1)?.block.hash ?? `0x${'00'.repeat(32)}`))
  return blocks
}
const blocks = await trueBlocks()

type Receipts = readonly JsonObject[]

interface Manners {
  /** Its answer for the list of a block; null: the right one. */
  readonly list?: (own: Receipts, number: number) => NodeAnswer | null
  readonly single?: (receipt: JsonObject, number: number) => NodeAnswer | null
}

async function nodeWith({ list, single }: Manners): Promise<FakeNode> {
  const blockAt = (tag: unknown) => {
    if (tag !== 'latest' && tag !== 'finalized' && Number(tag) !== HEAD) return blocks[Number(tag)]?.block
    return { ...blocks[0]?.block, number: hex(HEAD), hash: `0x${'ee'.repeat(32)}` }
  }
  const singleOf = (hash: unknown): NodeAnswer => {
    for (const [number, { receipts }] of blocks.entries())
      for (const receipt of receipts)
        if (receipt['transactionHash'] === hash) return single?.(receipt, number) ?? { result: receipt }
    return { result: null }
  }
  const node = await startNode({
    call: ({ method, params: [asked] }: NodeCall) => {
      if (method === 'eth_chainId') return { result: hex(CHAIN_ID) }
      if (method === 'eth_getBlockByNumber') return { result: blockAt(asked) ?? null }
      if (method === 'eth_getTransactionReceipt') return singleOf(asked)
      if (method !== 'eth_getBlockReceipts') return unknownMethod
      const own = blocks[Number(asked)]?.receipts
      return own ? (list?.(own, Number(asked)) ?? { result: own }) : { result: null }
    },
  })
  open.push(node)
  return node
}

const unknownMethod: NodeAnswer = { error: { code: -32601, message: 'the method does not exist' } }

async function sourceOf(nodes: readonly FakeNode[]): Promise<RpcSource> {
  const source = createSource({
    ...{ chainId: CHAIN_ID, urls: nodes.map(({ url }) => url), finalityDepth: 0, announcements: false },
    ...{ runtime: systemRuntime(), log: silentLogger },
  })
  open.push(source)
  await source.head()
  return source
}

function fetcherOf(source: RpcSource) {
  const witnessing = {
    isProved: ({ proofs }: EncodedBatch) => proofs.unprovableBlocks === 0,
    isSame: sameRows,
    takenAlone: () => {},
    takenSurely: () => {},
  }
  const decode = async (raw: RawRange) => decodeRaw(profile, raw).batch
  return { source, decode, witnessing, failpoint: () => {}, lane: 'history' as const }
}

interface Stored {
  /** Number of each block, of its transactions and logs. */
  readonly blocks: readonly (readonly number[])[]
  readonly proved: number
  readonly foreign: number
}

/** @throws what keeps a block from being stored */
async function storedFrom(nodes: readonly FakeNode[]): Promise<Stored> {
  const fetcher = fetcherOf(await sourceOf(nodes))
  const stored = { blocks: [] as number[][], proved: 0, foreign: 0 }
  for (let from = 1; from <= LAST; ) {
    const { batch } = await fetchVerified(fetcher, { from, to: LAST })
    batch.tables.txs.blockRowCounts.forEach((txs, index) => {
      stored.blocks.push([from + index, txs, batch.tables.logs.blockRowCounts[index] ?? 0])
    })
    stored.proved += batch.proofs.provedBlocks
    stored.foreign += batch.foreignReceipts
    from = batch.range.to + 1
  }
  return stored
}

const whole = {
  blocks: Array.from({ length: LAST }, (_, index) => [index + 1, 3, 3]),
  proved: LAST,
}
const singlesAt = ({ calls }: FakeNode) => calls.get('eth_getTransactionReceipt') ?? 0
const listsAt = ({ calls }: FakeNode) => calls.get('eth_getBlockReceipts') ?? 0

const only = (number: number, answer: (own: Receipts) => NodeAnswer) => (own: Receipts, of: number) =>
  of === number ? answer(own) : null
const failure = (code: number, message: string): NodeAnswer => ({ error: { code, message } })
const system = (own: Receipts): JsonObject => ({
  ...own[0],
  ...{ transactionHash: `0x${'5e'.repeat(32)}`, transactionIndex: '0x0', logs: [], cumulativeGasUsed: '0x0' },
})
const bare = (receipt: JsonObject): JsonObject => ({ ...receipt, logs: [] })

describe('a list of receipts', () => {
  test.each<[string, NonNullable<Manners['list']>, number]>([
    ['with those of system transactions', only(5, (own) => ({ result: [system(own), ...own] })), 1],
    ['with the last one twice, in every block', (own) => ({ result: [...own, ...own.slice(-1)] }), LAST],
    ['in another order', (own) => ({ result: own.toReversed() }), 0],
  ])('%s is enough', async (_, list, foreign) => {
    const node = await nodeWith({ list })
    expect(await storedFrom([node])).toMatchObject({ ...whole, foreign })
    expect(singlesAt(node)).toBe(0)
  })

  test.each<[string, NodeAnswer | ((own: Receipts) => NodeAnswer)]>([
    ['is empty', { result: [] }],
    ['is null', { result: null }],
    ['lacks one', (own) => ({ result: own.slice(1) })],
    ['lacks one and has a foreign one', (own) => ({ result: [system(own), ...own.slice(1)] })],
    ['has an empty place', (own) => ({ result: [own[0], null, own[2]] })],
    ['has false logs', (own) => ({ result: own.map(bare) })],
    ['is of a pending block', (own) => ({ result: own.map((one) => ({ ...one, blockHash: null })) })],
    ['fails with -32603', failure(-32603, 'Failed to retrieve substrate parent block hash')],
    ['fails with -32000', failure(-32000, 'receipts not available')],
    ['fails as one of a block that is gone', failure(-32000, 'missing trie node 0x12')],
    ['fails as too large', failure(-32008, 'response is too big')],
    ['fails for want of the method', unknownMethod],
  ])('that %s, of one block, is replaced by single receipts of that block', async (_, answer) => {
    const list = only(5, (own) => (typeof answer === 'function' ? answer(own) : answer))
    const node = await nodeWith({ list })
    expect(await storedFrom([node])).toMatchObject({ ...whole, foreign: 0 })
    expect(singlesAt(node)).toBe(3)
  })

  test('that fails for every block costs two calls a block at most', async () => {
    const node = await nodeWith({ list: () => failure(-32603, 'internal error') })
    expect(await storedFrom([node])).toMatchObject(whole)
    expect(listsAt(node)).toBeLessThanOrEqual(LAST + 2)
    expect(singlesAt(node)).toBe(3 * LAST)
  })

  test('of a method that the endpoint does not know is asked for once', async () => {
    const node = await nodeWith({ list: () => unknownMethod })
    expect(await storedFrom([node])).toMatchObject(whole)
    expect(listsAt(node)).toBe(1)
  })
})

describe('two endpoints', () => {
  test('of which one serves only single receipts of a block, the other no receipt of it', async () => {
    const list = only(5, () => failure(-32603, 'internal error'))
    const single = (_: JsonObject, of: number) => (of === 5 ? { result: null } : null)
    const nodes = [await nodeWith({ list, single }), await nodeWith({ list: () => unknownMethod })]
    expect(await storedFrom(nodes)).toMatchObject(whole)
  })

  test('of which only one lacks lists: the other one is asked for its own', async () => {
    const [lacking, right] = [await nodeWith({ list: () => unknownMethod }), await nodeWith({})]
    expect(await storedFrom([lacking, right])).toMatchObject(whole)
    expect(singlesAt(right)).toBe(0)
  })
})

test('a receipt that is there nowhere is waited for, and the reason names its block', async () => {
  let isThere = false
  const list = only(5, (own) => ({ result: own.slice(1) }))
  const single = (_: JsonObject, of: number) => (of === 5 && !isThere ? { result: null } : null)
  const fetcher = fetcherOf(await sourceOf([await nodeWith({ list, single })]))
  const asked = { from: 5, to: LAST }
  await expect(fetchVerified(fetcher, asked)).rejects.toMatchObject({
    remedy: 'retry',
    message: expect.stringMatching(/block 5\b.*receipts_missing/),
  })
  expect(fetcher.source.endpoints().map(({ state }) => state)).toEqual(['healthy'])
  isThere = true
  expect((await fetchVerified(fetcher, asked)).batch.range).toEqual({ from: 5, to: 5 })
})

test('a block that is served nowhere is named, and the blocks before it are taken', async () => {
  const list = only(5, () => failure(-32603, 'internal error'))
  const single = (_: JsonObject, of: number) => (of === 5 ? failure(-32000, 'no such luck') : null)
  const fetcher = fetcherOf(await sourceOf([await nodeWith({ list, single })]))
  expect((await fetchVerified(fetcher, { from: 4, to: LAST })).batch.range).toEqual({ from: 4, to: 4 })
  await expect(fetchVerified(fetcher, { from: 5, to: LAST })).rejects.toMatchObject({
    remedy: 'retry',
    message: expect.stringContaining('blocks 5..5: '),
  })
})
