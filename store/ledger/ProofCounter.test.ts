import { expect, it } from 'vitest'
import type { Clock } from '#runtime/runtime.ts'
import { ProofCounter } from './ProofCounter.ts'
import type { ProofCounts } from './proofs.ts'

const sums: ProofCounts = { provedBlocks: 20_000_000, unprovableBlocks: 3, unprovableTxs: 4 }

/** A counter whose counts end when told to, by a clock that is set by hand. */
function handCounter() {
  let nowMs = 0
  const counts: PromiseWithResolvers<ProofCounts>[] = []
  const clock: Clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async () => {} }
  const counter = new ProofCounter({
    clock,
    count: () => {
      const counting = Promise.withResolvers<ProofCounts>()
      counts.push(counting)
      return counting.promise
    },
  })
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { counter, counts, pass }
}

/** Lets what was resolved arrive. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

it('fifty requests at once share one count, and do not wait for it', async () => {
  const { counter, counts } = handCounter()
  const answers = await Promise.all(Array.from({ length: 50 }, () => counter.of('chain_1')))
  expect(new Set(answers)).toEqual(new Set([null]))
  expect(counts).toHaveLength(1)
  counts[0]?.resolve(sums)
  await settle()
  expect(await counter.of('chain_1')).toEqual(sums)
})

it('a count that failed leaves what was known, and null where nothing was', async () => {
  const { counter, counts, pass } = handCounter()
  await counter.of('chain_1')
  counts[0]?.reject(new Error('canceling statement due to statement timeout'))
  await settle()
  expect(await counter.of('chain_1')).toBeNull()
  pass(10_000)
  await counter.of('chain_1')
  counts[1]?.resolve(sums)
  await settle()
  pass(10_000)
  await counter.of('chain_1')
  counts[2]?.reject(new Error('the database is away'))
  await settle()
  expect(await counter.of('chain_1')).toEqual(sums)
})

it('a long count rests fifty times as long', async () => {
  const { counter, counts, pass } = handCounter()
  await counter.of('chain_1')
  pass(5_000)
  counts[0]?.resolve(sums)
  await settle()
  pass(249_999)
  await counter.of('chain_1')
  expect(counts).toHaveLength(1)
  pass(1)
  await counter.of('chain_1')
  expect(counts).toHaveLength(2)
})
