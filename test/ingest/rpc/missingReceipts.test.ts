// Goal: on a chain whose roots cover neither transactions nor receipts, a block whose list of
// receipts lacks some is stored with those that its node has one by one; a transaction that never
// ran is left out, and only far below the head; one endpoint of two leaves out nothing (L38).
// Method: real sources over HTTP; their nodes answer with such blocks, as three of Cronos are
// (6541, 68216, 131465).
import { afterEach, expect, test } from 'vitest'
import { fetchVerified } from '#ingest/lanes/fetchVerified.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { type EncodedBatch, sameRows } from '#transform/batch.ts'
import { decodeRaw } from '#transform/decode/decodeRange.ts'
import type { ChainProfile } from '#transform/profile.ts'
import { type ForeignBlock, foreignChain } from '../../support/foreignChain.ts'
import { type FakeNode, type NodeCall, startNode } from '../support/proxyNode.ts'

const CHAIN_ID = 9_025
const LAST = 8
/** Transactions of each block, and logs of each. */
const LOGS = [3, 0, 2]

const profile: ChainProfile = {
  ...{ chainId: CHAIN_ID, kind: 'evm', checks: 'roots', headerRule: 'unknown' },
  loose: ['transactionsRoot', 'receiptsRoot', 'bloom', 'logIndexes'],
}

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

type Lack = 'from the list' | 'everywhere' | 'in this block'
type Lacks = Readonly<Record<number, readonly [transaction: number, lack: Lack]>>

/** A node whose blocks lack receipts, each one of a transaction. */
async function nodeLacking(lacks: Lacks, head = 1_000): Promise<FakeNode> {
  const blocks = await foreignChain(LAST + 1, 'restart')
  const blockAt = (tag: unknown) => {
    if (tag === 'latest' || tag === 'finalized' || Number(tag) === head) return headOf(blocks, head)
    const block = blocks[Number(tag)]?.block ?? null
    return block?.['gasUsed'] === '0x0' ? { ...block, transactions: null } : block
  }
  const receiptOf = (hash: unknown) => {
    for (const [number, { receipts }] of blocks.entries()) {
      const index = receipts.findIndex((receipt) => receipt['transactionHash'] === hash)
      if (index < 0) continue
      const [lacking, lack] = lacks[number] ?? []
      if (index !== lacking || lack === 'from the list') return receipts[index]
      return lack === 'everywhere' ? null : { ...receipts[index], blockHash: blocks[number + 1]?.block.hash }
    }
    return null
  }
  const node = await startNode({
    call: ({ method, params: [asked] }: NodeCall) => {
      if (method === 'eth_chainId') return { result: `0x${CHAIN_ID.toString(16)}` }
      if (method === 'eth_getBlockByNumber') return { result: blockAt(asked) }
      if (method === 'eth_getTransactionReceipt') return { result: receiptOf(asked) }
      if (method !== 'eth_getBlockReceipts') return { error: { code: -32601, message: 'no such method' } }
      const [lacking] = lacks[Number(asked)] ?? []
      return { result: blocks[Number(asked)]?.receipts.filter((_, index) => index !== lacking) ?? null }
    },
  })
  open.push(node)
  return node
}

function headOf([genesis]: readonly ForeignBlock[], head: number) {
  return { ...genesis?.block, number: `0x${head.toString(16)}`, hash: `0x${'ee'.repeat(32)}` }
}

function sourceOf(nodes: readonly FakeNode[]): RpcSource {
  const source = createSource({
    ...{ chainId: CHAIN_ID, urls: nodes.map(({ url }) => url), finalityDepth: 0, announcements: false },
    ...{ runtime: systemRuntime(), log: silentLogger },
  })
  open.push(source)
  return source
}

const witnessing = {
  isProved: ({ proofs }: EncodedBatch) => proofs.unprovableBlocks === 0,
  isSame: sameRows,
  takenAlone: () => {},
  takenSurely: () => {},
}

/** Transactions and logs stored of each block. */
async function storedOf(nodes: readonly FakeNode[]): Promise<readonly (readonly number[])[]> {
  const source = sourceOf(nodes)
  await source.head()
  const stored: number[][] = []
  for (let from = 1; from <= LAST; ) {
    const { batch } = await fetchVerified(
      {
        ...{ source, witnessing, failpoint: () => {}, lane: 'history' },
        decode: async (raw) => decodeRaw(profile, raw).batch,
      },
      { from, to: LAST },
    )
    batch.tables.txs.blockRowCounts.forEach((txs, index) => {
      stored.push([from + index, txs, batch.tables.logs.blockRowCounts[index] ?? 0])
    })
    from = batch.range.to + 1
  }
  return stored
}

const whole = [LOGS.length, LOGS.reduce((sum, count) => sum + count, 0)]
const blocksWith = (others: Readonly<Record<number, readonly number[]>>) =>
  Array.from({ length: LAST }, (_, index) => [index + 1, ...(others[index + 1] ?? whole)])

const lacks: Lacks = { 3: [0, 'from the list'], 4: [2, 'everywhere'], 7: [0, 'in this block'] }

test.each([1, 2])('%i endpoints that lack the same store what ran, and all of its logs', async (count) => {
  const nodes = await Promise.all(Array.from({ length: count }, () => nodeLacking(lacks)))
  expect(await storedOf(nodes)).toEqual(blocksWith({ 4: [2, 3], 7: [2, 2] }))
  const asked = nodes.map(({ calls }) => calls.get('eth_getTransactionReceipt') ?? 0)
  expect(Math.max(...asked)).toBeLessThanOrEqual(3 * Object.keys(lacks).length)
})

test('one of two endpoints leaves out nothing', async () => {
  const [liar, honest] = [await nodeLacking({ 4: [2, 'everywhere'] }), await nodeLacking({})]
  await expect(storedOf([liar, honest])).rejects.toMatchObject({ code: 'unproved_differ', blockNumber: 4 })
})

test('near the head a receipt that is not there yet is waited for', async () => {
  await expect(storedOf([await nodeLacking({ 4: [2, 'everywhere'] }, 130)])).rejects.toMatchObject({
    name: 'SourceError',
    message: expect.stringContaining('null in place of a receipt'),
  })
})

test('a chain whose roots cover its receipts has them all', async () => {
  const node = await nodeLacking({ 4: [2, 'everywhere'] })
  const source = sourceOf([node])
  await source.head()
  const strict: ChainProfile = { ...profile, loose: ['transactionsRoot', 'logIndexes'] }
  const raw = await source.fetch({ from: 4, to: 4 }, { receiptsSingly: true })
  expect(() => decodeRaw(strict, raw)).toThrow(expect.objectContaining({ code: 'receipts_missing' }))
  await expect(source.fetch({ from: 4, to: 4 })).resolves.toMatchObject({ range: { from: 4, to: 4 } })
})

test('a block without transactions may have null for their list', async () => {
  const source = sourceOf([await nodeLacking({})])
  await source.head()
  const raw = await source.fetch({ from: 0, to: 1 }, { receiptsSingly: true })
  expect([...decodeRaw(profile, raw).batch.tables.txs.blockRowCounts]).toEqual([0, LOGS.length])
})
