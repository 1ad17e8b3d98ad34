import { expect, test } from 'vitest'
import { LackingReceipts, RECEIPTS_AGAIN_MS } from './LackingReceipts.ts'

function bench() {
  let nowMs = 0
  const clock = { monotonic: () => nowMs, now: () => nowMs, sleep: async () => {} }
  return {
    lacking: new LackingReceipts(clock),
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

test('a range is cut where the way of asking changes', () => {
  const { lacking } = bench()
  lacking.note(30)
  expect(lacking.cut({ from: 16, to: 40 })).toEqual({ range: { from: 16, to: 29 }, singly: false })
  expect(lacking.cut({ from: 30, to: 40 })).toEqual({ range: { from: 30, to: 30 }, singly: true })
  expect(lacking.cut({ from: 31, to: 40 })).toEqual({ range: { from: 31, to: 40 }, singly: false })
})

test('behind a row of such blocks as many again are taken to be such', () => {
  const { lacking } = bench()
  for (const block of [10, 11, 12]) lacking.note(block)
  expect(lacking.cut({ from: 10, to: 99 }).range).toEqual({ from: 10, to: 12 })
  lacking.note(13)
  expect(lacking.cut({ from: 10, to: 99 }).range).toEqual({ from: 10, to: 16 })
  lacking.note(17)
  expect(lacking.cut({ from: 10, to: 99 }).range).toEqual({ from: 10, to: 24 })
})

test('what is noted is asked for again later, or at once where single receipts fail too', () => {
  const { lacking, pass } = bench()
  lacking.note(7)
  pass(RECEIPTS_AGAIN_MS - 1)
  expect(lacking.has(7)).toBe(true)
  pass(1)
  expect(lacking.has(7)).toBe(false)
  lacking.note(8)
  lacking.forget({ from: 8, to: 8 })
  expect(lacking.has(8)).toBe(false)
})

test('any number of blocks takes a bounded room', () => {
  const { lacking } = bench()
  for (let block = 0; block < 40_000; block += 2) lacking.note(block)
  expect([lacking.has(0), lacking.has(39_998)]).toEqual([false, true])
})
