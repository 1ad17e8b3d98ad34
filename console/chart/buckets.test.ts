// Goal: the bucket of time that was not over is found from the data alone, and no other time is
// taken for one.
// Method: examples of each width, with rows missing; times of blocks.
import { expect, test } from 'vitest'
import { areBuckets, openBucket } from './buckets.ts'

const at = (text: string): number => Date.parse(text)
const opened = (times: readonly string[], ...moments: readonly string[]): string | null => {
  const start = openBucket(times.map(at), moments.map(at))
  return start === null ? null : new Date(start).toISOString().replace('.000Z', 'Z')
}

const hours = ['2026-11-30T08:00:00Z', '2026-11-30T09:00:00Z', '2026-11-30T10:00:00Z']

test('the newest bucket is open while the moment lies in it', () => {
  expect(opened(hours, '2026-11-30T10:00:00Z')).toBe(hours[2])
  expect(opened(hours.toReversed(), '2026-11-30T10:59:59Z')).toBe(hours[2])
  expect(opened(hours, '2026-11-30T11:00:00Z')).toBeNull()
  expect(opened(hours, '2026-11-30T09:30:00Z')).toBeNull()
  expect(opened(hours)).toBeNull()
})

test('the newest block may lie in it, too, where the chain is behind the clock', () => {
  expect(opened(hours, '2026-12-24T00:00:00Z', '2026-11-30T10:12:00Z')).toBe(hours[2])
})

test('buckets without rows leave the width as it is', () => {
  const some = ['2026-11-30T00:00:00Z', '2026-11-30T02:00:00Z', '2026-11-30T05:00:00Z']
  expect(opened(some, '2026-11-30T05:59:00Z')).toBe(some[2])
  expect(opened(some, '2026-11-30T06:00:00Z')).toBeNull()
})

test('weeks, months, quarters and years are as long as the calendar says', () => {
  const weeks = ['2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z']
  expect([opened(weeks, '2026-11-29T23:00:00Z'), opened(weeks, '2026-11-30T00:00:00Z')]).toEqual([
    weeks[1],
    null,
  ])
  const months = ['2026-01-01', '2026-02-01', '2026-12-01']
  expect([opened(months, '2026-12-31T23:59:59Z'), opened(months, '2027-01-01T00:00:00Z')]).toEqual([
    '2026-12-01T00:00:00Z',
    null,
  ])
  expect(opened(['2026-01-01', '2026-04-01', '2026-10-01'], '2026-12-31')).toBe('2026-10-01T00:00:00Z')
  expect(opened(['2024-01-01', '2026-01-01', '2025-01-01'], '2026-11-30')).toBe('2026-01-01T00:00:00Z')
})

test('times of blocks are no buckets, nor is a time alone', () => {
  const blocks = ['2026-11-30T10:00:00Z', '2026-11-30T10:00:01Z', '2026-11-30T10:00:02Z']
  expect([areBuckets(blocks.map(at)), opened(blocks, '2026-11-30T10:00:02Z')]).toEqual([false, null])
  expect(opened(['2026-11-30T10:00:00Z'], '2026-11-30T10:00:01Z')).toBeNull()
  expect(opened([], '2026-11-30T10:00:01Z')).toBeNull()
  expect(areBuckets(hours.map(at))).toBe(true)
})
