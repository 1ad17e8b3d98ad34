import { expect, test } from 'vitest'
import { addSample, historyProgress, type RateSample } from './progress.ts'

const target = { from: 0, to: 999 }

function watch(samples: readonly (readonly [number, number])[]): readonly RateSample[] {
  return samples.reduce<readonly RateSample[]>(
    (window, [atMs, blocksDone]) => addSample(window, { atMs, blocksDone }),
    [],
  )
}

test('the rate is unknown until it was watched for some seconds', () => {
  const window = watch([
    [0, 0],
    [500, 200],
  ])
  const progress = historyProgress(target, [{ range: target, tip: 199 }], window, 500)
  expect(progress).toMatchObject({ blocksDone: 200, blocksPerSecond: null, etaSeconds: null })
})

test('the estimate follows the last minute, not the whole run', () => {
  const window = watch([
    [0, 0],
    [60_000, 600],
    [120_000, 660],
  ])
  const progress = historyProgress(target, [{ range: target, tip: 659 }], window, 120_000)
  expect(progress.blocksPerSecond).toBe(1)
  expect(progress.etaSeconds).toBe(340)
})

test('a rate that has come to a stop gives no estimate instead of an endless one', () => {
  const window = watch([
    [0, 100],
    [60_000, 100],
  ])
  expect(historyProgress(target, [{ range: target, tip: 99 }], window, 60_000).etaSeconds).toBeNull()
})

test('a stall shows as a falling rate without further samples', () => {
  const window = watch([
    [0, 0],
    [10_000, 100],
  ])
  expect(historyProgress(target, [{ range: target, tip: 99 }], window, 20_000).blocksPerSecond).toBe(5)
})

test('what a restart resumes counts as done', () => {
  const open = [
    { range: { from: 0, to: 499 }, tip: 99 },
    { range: { from: 500, to: 999 }, tip: 499 },
  ]
  expect(historyProgress(target, open, [], 0)).toMatchObject({ blocksTotal: 1000, blocksDone: 100 })
})

test('the window stays small however often it is fed', () => {
  const samples = Array.from({ length: 5_000 }, (_, i) => [i * 50, i] as const)
  const window = watch(samples)
  expect(window.length).toBeLessThan(320)
  expect(window.at(-1)).toEqual({ atMs: 249_950, blocksDone: 4_999 })
})

test('blocks that are loaded again begin a new window', () => {
  const window = addSample([], { atMs: 0, blocksDone: 100 })
  expect(addSample(window, { atMs: 5_000, blocksDone: 40 })).toEqual([{ atMs: 5_000, blocksDone: 40 }])
})
