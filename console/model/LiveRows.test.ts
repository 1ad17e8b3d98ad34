// Goal: what is shown of a live query is what the stream vouches for. Method: events by hand.
import { expect, test } from 'vitest'
import { LiveRows } from './LiveRows.ts'
import type { LiveEvent } from './liveStream.ts'
import type { QueryAnswer } from './queryAnswer.ts'

const answer = (rows: QueryAnswer['rows']): QueryAnswer => ({
  engine: 'postgres',
  columns: ['n'],
  columnTypes: ['int'],
  rows,
  truncated: false,
  elapsedMs: 1,
  horizon: null,
})
const block = (num: number) => ({ num, hash: `0x${num}` })
const result = (num: number, count = 1): LiveEvent => ({
  kind: 'result',
  answer: answer(Array.from({ length: count }, () => [num])),
  blocks: [block(num)],
  isWhole: false,
})
const numbers = (rows: LiveRows) => rows.answer()?.rows.flat()

test('blocks are shown newest first, and an orphaned one goes', () => {
  const rows = new LiveRows(100)
  expect(rows.answer()).toBeNull()
  for (const num of [1, 2, 3]) expect(rows.apply(result(num))).toBe(true)
  expect(numbers(rows)).toEqual([3, 2, 1])
  expect(rows.apply({ kind: 'retract', blocks: [block(3), { num: 2, hash: 'of another fork' }] })).toBe(true)
  expect(numbers(rows)).toEqual([2, 1])
  expect([rows.heard, rows.retracted]).toEqual([3, 1])
  expect(rows.apply({ kind: 'finalized', block: 2 })).toBe(false)
})

test('what a lag made unsure goes, older blocks stay', () => {
  const rows = new LiveRows(100)
  for (const num of [1, 2, 3]) rows.apply(result(num))
  expect(rows.apply({ kind: 'lagged', from: 2, to: 9 })).toBe(true)
  expect(numbers(rows)).toEqual([1])
})

test('the oldest blocks make room and the answer says that more exist', () => {
  const rows = new LiveRows(5)
  for (const num of [1, 2, 3]) rows.apply(result(num, 2))
  expect(numbers(rows)).toEqual([3, 3, 2, 2])
  expect(rows.answer()?.truncated).toBe(true)
  rows.apply(result(4, 9))
  expect(numbers(rows)).toHaveLength(9)
})

test('a whole result replaces the one before', () => {
  const rows = new LiveRows(5)
  const whole = (n: number): LiveEvent => ({
    kind: 'result',
    answer: answer([[n]]),
    blocks: [],
    isWhole: true,
  })
  rows.apply(whole(1))
  rows.apply(whole(2))
  expect(numbers(rows)).toEqual([2])
})
