import { expect, it } from 'vitest'
import { byteSize, counted, grouped } from './quantity.ts'

it.each([
  [0, 'no blocks'],
  [1, '1 block'],
  [2, '2 blocks'],
  [12_345, '12,345 blocks'],
])('%d is counted as %s', (value, text) => {
  expect(counted(value, 'block')).toBe(text)
})

it('takes a plural that is not the word with an s', () => {
  expect(counted(2, 'query', 'queries')).toBe('2 queries')
  expect(counted(1, 'query', 'queries')).toBe('1 query')
})

it('groups digits', () => {
  expect(grouped(1_234_567)).toBe('1,234,567')
})

it.each([
  [0, '0 B'],
  [812, '812 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [3_812_000, '3.8 MB'],
  [9_949_000, '9.9 MB'],
  [9_950_000, '10 MB'],
  [999_400_000, '999 MB'],
  [999_600_000, '1.0 GB'],
  [41_000_000_000, '41 GB'],
  [5_000_000_000_000_000, '5000 TB'],
])('%d bytes are %s', (bytes, text) => {
  expect(byteSize(bytes)).toBe(text)
})
