// Goal: the branch under a certificate wins over the one that every endpoint shows, and nothing that was
// final is changed for it.
// Method: a lane over a chain in memory that lies, and the certified chain by the hashes of its headers.
import { expect, test } from 'vitest'
import { CertifiedBranchMissingError, FinalityEquivocatedError } from '#ingest/lanes/certifiedFork.ts'
import { converge, StaleAnswerError } from '#ingest/lanes/converge.ts'
import { FinalContradictedError, FinalityViolationError } from '#ingest/lanes/reorg.ts'
import type { ChainHead, Source } from '#ingest/source.ts'
import { type BlockRef, type Hash, hash } from '#primitives.ts'
import { FakeChain } from '../support/fakeChain.ts'
import { type HeadBench, openHeadBench, settleDown } from '../support/headBench.ts'

/** The blamed: endpoints that tell another block than one of these, or by name. */
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

test.each([
  ['of the newest final block', 12, FinalityEquivocatedError],
  ['of one below it, above the fork', 11, FinalityEquivocatedError],
  ['of the fork', 10, FinalityViolationError],
  ['of a block on neither branch', null, FinalityViolationError],
])('a final block on another branch: a certificate %s', async (_of, height, wanted) => {
  const { b, branch, blamed } = await opened(10)
  await b.sink.finalize(12)
  const { lane } = certifiedBy(b, branch, 18, blamed)
  const held = [...b.sink.blocks]
  const ours = height === null ? branch[12] : held.find(({ number }) => number === height)
  if (!ours) throw new RangeError('the lane is too short')
  const parted: unknown[] = []
  const certifiedBlocks = { blocks: [ours], part: (...both: BlockRef[]) => void parted.push(both) }
  const source = { ...lane.source, certifiedBlocks }
  await expect(converge({ ...lane, source })).rejects.toThrow(wanted)
  expect(parted).toEqual(wanted === FinalityEquivocatedError ? [[ours, branch[18]]] : [])
  expect([b.sink.blocks, b.sink.reverts]).toEqual([held, []])
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

test('an old certificate takes back nothing that was final above it, and its word stops nothing', async () => {
  const { b, blamed } = await opened(10)
  await b.sink.finalize(15)
  const ours = b.chain.snapshot()
  b.chain.reorg(8, 12)
  const shown = b.chain.snapshot()
  await expect(converge(certifiedBy(b, ours, 10, blamed).lane)).rejects.toThrow(FinalContradictedError)
  expect([b.sink.reverts, b.sink.blocks, blamed.names]).toEqual([[], ours.slice(1), []])
  // A certificate as new as what is final is evidence, either way.
  await expect(converge(certifiedBy(b, ours, 19, blamed).lane)).rejects.toThrow(StaleAnswerError)
  expect(blamed.names).toEqual(['fake'])
  await expect(converge(certifiedBy(b, shown, 20, blamed).lane)).rejects.toThrow(FinalityViolationError)
  expect(b.sink.blocks).toEqual(ours.slice(1))
})

test('above what is final a fork is taken as it is without a certificate', async () => {
  const { b, blamed } = await opened(10)
  await b.sink.finalize(15)
  const ours = b.chain.snapshot()
  b.chain.reorg(3, 6)
  const bench = certifiedBy(b, ours, 10, blamed)
  expect(await converge(bench.lane)).toBe('reverted')
  expect(b.sink.reverts).toEqual([16])
})

test('a certificate of another block below what is final is evidence against it', async () => {
  const { b, branch, blamed } = await opened(10)
  const held = [...b.sink.blocks]
  await b.sink.finalize(15)
  b.chain.restore(branch)
  await expect(converge(certifiedBy(b, branch, 12, blamed).lane)).rejects.toThrow(FinalityViolationError)
  expect([b.sink.blocks, b.sink.reverts]).toEqual([held, []])
})

/** The lane begins above the certificate: it holds blocks 12 to 19. */
async function openedAbove() {
  const { b, blamed } = await opened(10)
  const ours = b.chain.snapshot()
  b.sink.blocks = b.sink.blocks.filter(({ number }) => number >= 12)
  return { ...certifiedBy(b, ours, 10, blamed), ours, blamed }
}

test('a certificate below all that is held is no evidence against it', async () => {
  const { lane, ours, blamed, sink } = await openedAbove()
  const [below, last] = ours.slice(18)
  if (!below || !last) throw new RangeError('the chain is too short')
  const lie = { number: 19, hash: hash(`0x${'ab'.repeat(32)}`), parentHash: below.hash }
  const lying = { ...lane.source, head: async () => ({ ...(await lane.source.head()), head: lie }) }
  await expect(converge({ ...lane, source: lying })).rejects.toThrow(StaleAnswerError)
  expect([sink.reverts, sink.blocks.length, blamed.names]).toEqual([[], 8, ['liar']])
})

test.each([true, false])('words alone take no lane back whole (by certificates: %s)', async (isProved) => {
  const { lane, ours, sink } = await openedAbove()
  const other = new FakeChain(25, 'other').blocks
  const lying: Source = {
    ...lane.source,
    head: async () => {
      const { isProved: _, ...told } = await lane.source.head()
      return { ...told, head: other[19] ?? told.head, ...(isProved && { isProved }) }
    },
    blockRef: async (number) => other[number] ?? null,
    fetch: async (range, { not } = {}) => {
      const raw = await lane.source.fetch(range)
      return { ...raw, endpoint: not?.has('one') ? 'two' : 'one' }
    },
  }
  await expect(converge({ ...lane, source: lying })).rejects.toThrow(StaleAnswerError)
  expect([sink.reverts, sink.blocks]).toEqual([[], ours.slice(12)])
})

/** An empty lane at block 20 on the history of blocks 0 to 19. */
async function openedEmpty() {
  const { b, branch, blamed } = await opened(10)
  const history = [...b.sink.blocks]
  b.sink.blocks = []
  b.sink.finalizedNumber = 19
  const inLane = b.sink.refAt.bind(b.sink)
  b.sink.refAt = async (number) => (number <= 19 ? (history[number - 1] ?? null) : inLane(number))
  Object.assign(b.sink, { emptyFrom: async () => 20 })
  b.chain.restore(branch)
  return { b, branch, blamed }
}

test('history below an empty lane is contradicted by a certified branch alone', async () => {
  const { b, branch, blamed } = await openedEmpty()
  const { lane } = certifiedBy(b, branch, 5, blamed)
  await expect(converge(lane)).rejects.toThrow(FinalContradictedError)
  const { lane: proved } = certifiedBy(b, branch, 24, blamed)
  await expect(converge(proved)).rejects.toThrow(FinalityViolationError)
})

test('an empty lane that a certificate reaches does not begin below it for a lower head', async () => {
  const { b, branch, blamed } = await openedEmpty()
  const restarts: number[] = []
  const sink = Object.assign(b.sink, {
    emptyFrom: async () => 300,
    restart: async (next: number) => restarts.push(next) > 0,
  })
  const { source } = certifiedBy(b, branch, 2, blamed).lane
  const certified = { number: 299, hash: hash(`0x${'ab'.repeat(32)}`), parentHash: branch[0]?.hash as Hash }
  b.chain.restore(branch.slice(0, 3))
  const lied: Source = {
    ...source,
    head: async () => ({ ...(await source.head()), finalized: 2, finalizedBy: certified }),
    fetch: async (range) => ({
      ...{ range, endpoint: 'honest' },
      bytes: new TextEncoder().encode(JSON.stringify([certified])),
    }),
  }
  expect(await converge({ ...b.lane, sink, source: lied })).toBe('idle')
  expect(restarts).toEqual([])
})
