import { expect, test } from 'vitest'
import { Givers } from './Givers.ts'
import type { RawRange, Source } from './source.ts'

/** Endpoints that answer in the order of their names, but for those that are asked last. */
function open(answerBlocks: number) {
  let nowMs = 0
  const asked: [number, number, string][] = []
  const names = ['a', 'b']
  const draws = [0.9, 0.1]
  const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async () => {} }
  const givers = new Givers({ endpoints: () => names, clock, random: () => draws.shift() ?? 0 })
  const source: Source = {
    ...{ chainId: 1, batchBlocks: 8, blockRef: async () => null, waitForHead: async () => {} },
    ...{ reportRefuted: () => {}, close: async () => {} },
    head: () => Promise.reject(new Error('nobody asks')),
    fetch: async ({ from, to }, { not = new Set() } = {}): Promise<RawRange> => {
      const endpoint = names.find((name) => !not.has(name)) ?? 'a'
      const range = { from, to: Math.min(to, from + answerBlocks - 1) }
      asked.push([range.from, range.to, endpoint])
      return { range, bytes: new Uint8Array(), endpoint }
    },
  }
  const lanes = givers.remembering(source)
  const audit = givers.elsewhere(source)
  const days = (count: number) => {
    nowMs += count * 86_400_000
  }
  return { lanes, audit, asked, days }
}

test('blocks are read again at another endpoint than gave them, as far as one gave them', async () => {
  const { lanes, audit, asked } = open(10)
  await lanes.fetch({ from: 0, to: 4 })
  await lanes.fetch({ from: 5, to: 9 }, { not: new Set(['a']) })
  await audit.fetch({ from: 0, to: 9 })
  await audit.fetch({ from: 5, to: 9 })
  expect(asked.slice(2)).toEqual([
    [0, 4, 'b'],
    [5, 9, 'a'],
  ])
})

test('blocks that one endpoint gave singly are read again in one answer', async () => {
  const { lanes, audit, asked } = open(10)
  for (const block of [0, 1, 2]) await lanes.fetch({ from: block, to: block })
  await lanes.fetch({ from: 3, to: 3 }, { not: new Set(['a']) })
  await audit.fetch({ from: 0, to: 9 })
  expect(asked.slice(4)).toEqual([[0, 2, 'b']])
})

test('who gave a block last counts, and other exclusions stand', async () => {
  const { lanes, audit, asked } = open(10)
  await lanes.fetch({ from: 0, to: 9 })
  await lanes.fetch({ from: 3, to: 3 }, { not: new Set(['a']) })
  await audit.fetch({ from: 3, to: 3 })
  await audit.fetch({ from: 4, to: 4 }, { not: new Set(['b']) })
  expect(asked.slice(2)).toEqual([
    [3, 3, 'a'],
    [4, 4, 'a'],
  ])
})

test('blocks of before the start are read elsewhere from day to day, and alike within one', async () => {
  const { lanes, audit, asked, days } = open(10)
  await lanes.fetch({ from: 5, to: 9 })
  for (const _ of [1, 2]) await audit.fetch({ from: 0, to: 9 })
  days(1)
  await audit.fetch({ from: 0, to: 4 })
  expect(asked.slice(1)).toEqual([
    [0, 4, 'a'],
    [0, 4, 'a'],
    [0, 4, 'b'],
  ])
})

test('the only endpoint is asked again', async () => {
  const { lanes, audit, asked } = open(10)
  await lanes.fetch({ from: 0, to: 9 })
  await audit.fetch({ from: 0, to: 9 }, { not: new Set(['b']) })
  expect(asked.at(-1)).toEqual([0, 9, 'a'])
})
