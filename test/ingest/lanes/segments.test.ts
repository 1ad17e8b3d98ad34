// Goal: a segment of the head lane begins and ends where nothing can be wrong: above what is final,
// on the history that is held below it, and never with an orphan inside.
import { expect, test } from 'vitest'
import { converge, StaleAnswerError } from '#ingest/lanes/converge.ts'
import type { BlockRef } from '#primitives.ts'
import type { HeadSink } from '../../../ingest/sink.ts'
import { FakeChain, type RefBatch } from '../support/fakeChain.ts'
import { type HeadBench, openHeadBench, settleDown } from '../support/headBench.ts'

test('an empty lane begins at the first block that is not final', async () => {
  const b = openHeadBench(10)
  b.chain.finalized = 6
  await settleDown(b)
  expect(b.sink.blocks.map((block) => block.number)).toEqual([7, 8, 9])
})

test('an empty lane never begins below the start block', async () => {
  const b = openHeadBench(10)
  await settleDown({ ...b, lane: { ...b.lane, startBlock: 8 } })
  expect(b.sink.blocks.map((block) => block.number)).toEqual([8, 9])
})

test('an empty lane does not begin below what was final, whatever a lagging node says', async () => {
  const b = openHeadBench(20)
  b.chain.finalized = 4
  b.sink.finalizedNumber = 12
  await settleDown(b)
  expect(b.sink.blocks[0]?.number).toBe(13)
})

/** An empty lane at block 6 above history of its own chain, or of another one. */
function aboveHistory(history: readonly BlockRef[]): HeadBench {
  const b = openHeadBench(10)
  b.chain.finalized = 5
  b.sink.finalizedNumber = 5
  const inLane = b.sink.refAt.bind(b.sink)
  b.sink.refAt = async (number) => (number <= 5 ? (history[number] ?? null) : inLane(number))
  return b
}

test('a first block that does not continue history is asked for again while the node holds that history', async () => {
  const b = aboveHistory(new FakeChain(10).blocks)
  const other = new FakeChain(10, 'other')
  let stale = 7
  b.source.faults.answer = (refs, range) =>
    stale-- > 0 ? other.blocks.slice(range.from, range.to + 1) : refs
  for (let times = 0; times < 7; times++) await expect(converge(b.lane)).rejects.toThrow(StaleAnswerError)
  expect(b.source.refuted).toHaveLength(7)
  await settleDown(b)
  expect(b.sink.blocks).toEqual(b.chain.blocks.slice(6))
})

test('a node that holds another chain than our history stops the lane, and says which block', async () => {
  const history = new FakeChain(10, 'other').blocks
  const b = aboveHistory(history)
  const honest = b.source.blockRef.bind(b.source)
  const strays = [history[5], history[5]]
  // Two answers that agree with us do not stop it yet.
  b.source.blockRef = async (number) => strays.shift() ?? (await honest(number))
  for (let times = 0; times < 2; times++) await expect(converge(b.lane)).rejects.toThrow(StaleAnswerError)
  await expect(converge(b.lane)).rejects.toMatchObject({
    code: 'finality_violated',
    remedy: 'stop',
    ours: history[5],
    theirHash: b.chain.blocks[5]?.hash,
  })
  expect(b.sink.blocks).toEqual([])
})

test('far behind finality the lane seals its segment and starts at the head', async () => {
  const b = openHeadBench(10)
  await settleDown(b)
  b.chain.finalized = 9
  await settleDown(b)
  const held = [...b.sink.blocks]
  b.chain.extend(5_000)
  b.chain.finalized = 5_000
  expect(await converge(b.lane)).toBe('sealed')
  expect(b.sink.sealed).toEqual([held])
  await settleDown(b)
  expect(b.sink.blocks).toEqual(b.chain.blocks.slice(5_001))
})

test('only what is final here is sealed: orphans above it are left to history, whatever a cache says', async () => {
  const b = openHeadBench(10)
  await settleDown(b)
  b.chain.finalized = 4
  await settleDown(b)
  const ours = b.chain.snapshot()
  b.chain.reorg(3, 5_000)
  b.chain.finalized = 5_000
  b.source.blockRef = async (number) => ours[number] ?? null
  await settleDown(b)
  expect(b.sink.sealed.flat()).toEqual(b.chain.blocks.slice(1, 5))
  expect(b.sink.blocks).toEqual(b.chain.blocks.slice(5_001))
})

test('an empty lane that is far behind begins anew at the head', async () => {
  const b = openHeadBench(10)
  let emptyFrom = 1
  const sink: HeadSink<RefBatch> = Object.assign(b.sink, {
    emptyFrom: async () => emptyFrom,
    seal: async (next: number) => {
      emptyFrom = next
    },
  })
  b.chain.extend(5_000)
  b.chain.finalized = 5_000
  expect(await converge({ ...b.lane, sink })).toBe('sealed')
  await settleDown(b)
  expect(b.sink.blocks).toEqual(b.chain.blocks.slice(5_001))
})
