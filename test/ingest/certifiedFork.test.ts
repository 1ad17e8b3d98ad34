// Goal: the branch under a certificate wins over the one that every endpoint shows, and nothing that was
// final is changed for it.
// Method: a lane over a chain in memory that lies, and the certified chain by the hashes of its headers.
import { expect, test } from 'vitest'
import { CertifiedBranchMissingError } from '#ingest/lanes/certifiedFork.ts'
import { converge, StaleAnswerError } from '#ingest/lanes/converge.ts'
import { FinalityViolationError } from '#ingest/lanes/reorg.ts'
import type { ChainHead, Source } from '#ingest/source.ts'
import type { BlockRef } from '#primitives.ts'
import { type HeadBench, openHeadBench, settleDown } from './support/headBench.ts'

/** What was blamed: endpoints that tell another block than one of these, or by name. */
interface Blamed {
  readonly others: BlockRef[]
  readonly names: string[]
}

/** A lane whose endpoints show its chain, while one certificate proves a block of another. */
function certifiedBy(b: HeadBench, branch: readonly BlockRef[], proved: number, blamed: Blamed) {
  const certified = branch[proved]
  if (!certified) throw new RangeError('the branch is too short')
  const source: Source = {
    chainId: b.source.chainId,
    batchBlocks: b.source.batchBlocks,
    head: async (): Promise<ChainHead> => {
      const told = await b.source.head()
      const finalized = Math.min(proved, told.head.number)
      const toldBy = { head: 'liar', finalized: 'honest' }
      return { ...told, finalized, finalizedBy: certified, isProved: true, toldBy }
    },
    blockRef: (number) => b.source.blockRef(number),
    fetch: (range) => b.source.fetch(range),
    waitForHead: async () => {},
    certified: async (digest) => branch.find(({ hash }) => hash === digest) ?? null,
    leaveOutOthers: async (block) => {
      blamed.others.push(block)
      b.chain.restore(branch)
    },
    reportRefuted: (endpoint) => blamed.names.push(endpoint),
    close: async () => {},
  }
  return { ...b, lane: { ...b.lane, source } }
}

/** A lane that holds 20 blocks, and a branch that leaves them behind block `fork`. */
async function opened(fork: number) {
  const b = openHeadBench(20)
  b.chain.finalized = 0
  await settleDown(b)
  const shown = b.chain.snapshot()
  b.chain.reorg(19 - fork, 25 - fork)
  const branch = b.chain.snapshot()
  b.chain.restore(shown)
  return { b, branch, blamed: { others: [], names: [] } as Blamed }
}

test('blocks above the fork are taken back, and who tells others is left out', async () => {
  const { b, branch, blamed } = await opened(10)
  const bench = certifiedBy(b, branch, 18, blamed)
  expect(await converge(bench.lane)).toBe('reverted')
  expect([b.sink.reverts, blamed]).toEqual([[10], { others: [branch[11]], names: [] }])
  await settleDown(bench)
  expect(b.sink.blocks).toEqual(branch.slice(1))
  expect(b.sink.finalizedNumber).toBe(18)
})

test('a certificate above what is held decides of a conflict, not the number of endpoints', async () => {
  const { b, branch, blamed } = await opened(19)
  const bench = certifiedBy(b, branch, 24, blamed)
  // Another branch behind our tip, which the certificate covers.
  b.chain.reorg(4, 8)
  await expect(converge(bench.lane)).rejects.toThrow(StaleAnswerError)
  expect([b.sink.reverts, blamed.others]).toEqual([[], [branch[20]]])
  await settleDown(bench)
  expect(b.sink.blocks).toEqual(branch.slice(1))
})

test('a block that was final on another branch is not changed', async () => {
  const { b, branch, blamed } = await opened(10)
  await b.sink.finalize(12)
  const { lane } = certifiedBy(b, branch, 18, blamed)
  const held = [...b.sink.blocks]
  await expect(converge(lane)).rejects.toThrow(FinalityViolationError)
  expect([b.sink.blocks, blamed.others]).toEqual([held, []])
})

test('a branch that nobody serves changes nothing', async () => {
  const { b, branch, blamed } = await opened(10)
  const { lane } = certifiedBy(b, branch, 18, blamed)
  const unserved = { ...lane, source: { ...lane.source, certified: async () => null } }
  await expect(converge(unserved)).rejects.toThrow(CertifiedBranchMissingError)
  expect(b.sink.reverts).toEqual([])
})

test('endpoints that contradict a certified block that is held are behind, and finality is not violated', async () => {
  const { b, blamed } = await opened(10)
  const ours = b.chain.snapshot()
  const bench = certifiedBy(b, ours, 19, blamed)
  await settleDown(bench)
  b.chain.reorg(9, 12)
  await expect(converge(bench.lane)).rejects.toThrow(StaleAnswerError)
  expect([b.sink.blocks, b.sink.finalizedNumber, blamed.names.length]).toEqual([ours.slice(1), 19, 1])
})
