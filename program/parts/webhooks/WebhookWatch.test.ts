import { expect, test } from 'vitest'
import { type WebhookCounts, WebhookWatch } from './WebhookWatch.ts'

const pending = { unfinal: 1, waiting: 2, sending: 3, retrying: 4 }
const counted: WebhookCounts = { pending, reached: [{ chainId: 1, stream: 'blocks', block: 7 }] }

/** A watch whose counts end when told to, by a clock that is set by hand. */
function handWatch() {
  let nowMs = 0
  const counts: PromiseWithResolvers<WebhookCounts>[] = []
  const watch = new WebhookWatch({
    clock: { monotonic: () => nowMs, sleep: async () => {} },
    count: () => {
      const counting = Promise.withResolvers<WebhookCounts>()
      counts.push(counting)
      return counting.promise
    },
    tipOf: () => 9,
    problemOf: () => null,
    attempts: () => ({ succeeded: 0, failed: 0 }),
  })
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { watch, counts, pass }
}

/** Lets what was resolved arrive. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('fifty requests share one count, do not wait for it, and are told no number before it', async () => {
  const { watch, counts } = handWatch()
  const answers = await Promise.all(Array.from({ length: 50 }, () => watch.report()))
  expect(counts).toHaveLength(1)
  expect(answers.map((report) => report.pending)).toEqual(Array(50).fill(null))
  counts[0]?.resolve(counted)
  await settle()
  expect(await watch.report()).toMatchObject({
    pending,
    chains: [{ chainId: 1, stream: 'blocks', block: 7, lagBlocks: 2 }],
    problem: null,
  })
  expect(counts).toHaveLength(1)
})

test('a count that failed leaves what was known, and says why', async () => {
  const { watch, counts, pass } = handWatch()
  await watch.report()
  counts[0]?.reject(new Error('the database is away'))
  await settle()
  expect(await watch.report()).toMatchObject({ pending: null, problem: 'the database is away' })
  pass(1_000)
  await watch.report()
  counts[1]?.resolve(counted)
  await settle()
  pass(1_000)
  await watch.report()
  counts[2]?.reject(new Error('away once more'))
  await settle()
  expect(await watch.report()).toMatchObject({ pending, problem: 'away once more' })
})

test('a long count rests fifty times as long', async () => {
  const { watch, counts, pass } = handWatch()
  await watch.report()
  pass(2_000)
  counts[0]?.resolve(counted)
  await settle()
  pass(99_999)
  await watch.report()
  expect(counts).toHaveLength(1)
  pass(1)
  await watch.report()
  expect(counts).toHaveLength(2)
})
