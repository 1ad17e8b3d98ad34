import { expect, test } from 'vitest'
import type { HeadLane } from '#ingest/lanes/converge.ts'
import { type FollowEvent, follow } from '#ingest/lanes/follow.ts'
import { silentLogger } from '#telemetry.ts'
import { ByteBudget } from '../../../ingest/ByteBudget.ts'
import { seedOf } from '../../support/seed.ts'
import { jumpingRuntime } from '../support/clock.ts'
import { decodeRefs, FakeChain, FakeSource, type RefBatch } from '../support/fakeChain.ts'
import { MemorySink } from '../support/memorySink.ts'
import { seededRandom } from '../support/random.ts'

function bench(length: number, budgetBytes = 1_000_000) {
  const chain = new FakeChain(length)
  const source = new FakeSource(chain)
  const sink = new MemorySink()
  const budget = new ByteBudget(budgetBytes)
  const events: FollowEvent[] = []
  const stop = new AbortController()
  const lane: HeadLane<RefBatch> = {
    lane: 'head',
    source,
    sink,
    decode: decodeRefs,
    failpoint: () => {},
    startBlock: 0,
    batchBlocksMax: 32,
    sealGapBlocks: 100_000,
  }
  const options = {
    runtime: jumpingRuntime(),
    log: silentLogger,
    ahead: { windowMax: 6, batchBlocksMax: 32, batchBytesEstimate: 16_000, budget },
    observe: (event: FollowEvent) => events.push(event),
  }
  return { chain, source, sink, budget, events, stop, lane, options }
}

type Bench = ReturnType<typeof bench>

/** Follows until `done` holds after some event, then stops and waits for the end. */
async function followUntil(b: Bench, done: () => boolean) {
  const observe = (event: FollowEvent) => {
    b.events.push(event)
    if (done()) b.stop.abort()
  }
  return await follow(b.lane, { ...b.options, observe }, b.stop.signal)
}

const atHead = (b: Bench) => () => b.sink.blocks.at(-1)?.hash === b.chain.head.hash

test('a lane far behind fetches ahead in parallel and appends in order', async () => {
  const b = bench(5_000)
  expect(await followUntil(b, atHead(b))).toEqual({ reason: 'aborted' })
  expect(b.sink.blocks).toEqual(b.chain.blocks.slice(1))
  expect(b.source.inFlightMax).toBeGreaterThan(3)
  expect(b.budget.usedBytes).toBe(0)
})

test('what is fetched ahead stays within the byte budget', async () => {
  const b = bench(2_000, 48_000)
  let peak = 0
  b.source.faults.before = () => {
    peak = Math.max(peak, b.budget.usedBytes)
  }
  await followUntil(b, atHead(b))
  expect(peak).toBeLessThanOrEqual(48_000)
  expect(b.sink.blocks).toEqual(b.chain.blocks.slice(1))
})

test('an endpoint that answers with prefixes loses no block', async () => {
  const b = bench(700)
  b.source.faults.prefixBlocksMax = 3
  await followUntil(b, atHead(b))
  expect(b.sink.blocks).toEqual(b.chain.blocks.slice(1))
})

test('a reorg while reading ahead drops what was fetched and refetches', async () => {
  const b = bench(300)
  let appends = 0
  b.sink.crash = (place) => {
    if (place === 'append.after' && ++appends === 5) b.chain.reorg(250, 260)
  }
  await followUntil(b, atHead(b))
  expect(b.sink.reverts).toEqual([49])
  expect(b.sink.blocks).toEqual(b.chain.blocks.slice(1))
})

test('a failure that passes is waited for and told once', async () => {
  const b = bench(20)
  let failures = 4
  b.sink.crash = (place) => {
    if (place === 'append.before' && failures-- > 0) throw new Error('the database is away')
  }
  await followUntil(b, atHead(b))
  const states = b.events.flatMap((event) => (event.type === 'state' ? [event] : []))
  expect(states).toEqual([
    { type: 'state', state: 'waiting', problem: { code: 'unexpected', message: 'the database is away' } },
    { type: 'state', state: 'running', problem: null },
  ])
})

test('a reorg below finality ends in finality_violated and keeps every block', async () => {
  const b = bench(50)
  b.chain.finalized = 0
  await followUntil(b, atHead(b))
  b.sink.finalizedNumber = 40
  const held = b.sink.blocks
  b.chain.reorg(20, 30)
  const end = await follow(b.lane, b.options, new AbortController().signal)
  expect(end).toMatchObject({ reason: 'stopped', state: 'finality_violated' })
  expect(b.events.at(-1)).toMatchObject({ type: 'state', problem: { code: 'finality_violated' } })
  expect(b.sink.blocks).toEqual(held)
})

test('a lane that is empty because all is final waits for a newer head instead of asking again', async () => {
  const b = bench(50)
  b.chain.finalized = b.chain.head.number
  const waits: number[] = []
  b.lane.source.waitForHead = async (after) => {
    waits.push(after)
    b.stop.abort()
  }
  await follow(b.lane, b.options, b.stop.signal)
  expect(waits).toEqual([b.chain.head.number])
})

// Goal: reading ahead changes nothing about correctness.
// Method: the same random chain as the step's test, moved while the follower runs; faults at every
// await.
const first = seedOf(1)
const seeds = Array.from({ length: process.env['SEED'] ? 1 : 40 }, (_, i) => first + i)

test.each(seeds)('a follower that reads ahead ends equal to the chain (SEED=%i)', async (seed) => {
  const b = bench(1 + (seed % 200))
  const random = seededRandom(seed)
  const crashRate = random() * 0.08
  let quiet = false
  const disturb = () => {
    if (quiet) return
    if (random() < crashRate) throw new Error('crashed')
    const open = b.chain.head.number - b.chain.finalized
    const act = random()
    if (act < 0.04 && open > 0) b.chain.reorg(Math.ceil(random() * open), Math.ceil(random() * open) + 1)
    else if (act < 0.08) b.chain.finalized += Math.floor(random() * (open + 1))
    else if (act < 0.2) b.chain.extend(Math.floor(random() * 20))
    if (b.chain.head.number > 2_000) quiet = true
  }
  b.source.faults.before = disturb
  b.sink.crash = disturb
  setTimeout(() => {
    quiet = true
  }, 200)
  await followUntil(b, () => quiet && atHead(b)())
  expect(b.sink.blocks).toEqual(b.chain.blocks.slice(b.sink.blocks[0]?.number))
  expect(b.budget.usedBytes).toBe(0)
})
