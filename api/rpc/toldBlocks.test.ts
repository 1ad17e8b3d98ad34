import { expect, test } from 'vitest'
import { awaiting, isForgotten, isWithdrawn, remembered } from './toldBlocks.ts'

const block = (number: number, logs: readonly object[] = [{ data: '0x' }]) => ({
  number,
  hash: `0x${number}`,
  logs,
})
const blocks = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, k) => block(from + k))

test('what fits is remembered whole', () => {
  expect(remembered([], 5, 1_000)).toEqual([])
  expect(remembered(blocks(1, 5), 5, 1_000)).toEqual(blocks(1, 5))
})

test('of more, and of larger ones, the newest are, above one that has its hash alone', () => {
  const floor = { ...block(15, []), isFloor: true }
  expect(remembered(blocks(1, 20), 5, 1_000)).toEqual([floor, ...blocks(16, 20)])
  const size = JSON.stringify(block(1).logs).length
  expect(remembered(blocks(1, 20), 100, 5 * size)).toEqual([floor, ...blocks(16, 20)])
  expect(remembered([block(1), block(2, [{ data: 'x'.repeat(2_000) }])], 5, 1_000)).toEqual([
    { ...block(2, []), isFloor: true },
  ])
})

test('a floor stays the oldest while there is room, however often blocks are told', () => {
  let told = remembered(blocks(1, 20), 5, 1_000)
  told = remembered([...told.slice(0, 3), block(99)], 5, 1_000)
  expect(told.map(({ number, isFloor }) => [number, isFloor])).toEqual([
    [15, true],
    [16, undefined],
    [17, undefined],
    [99, undefined],
  ])
  for (let number = 100; number < 200; number++) told = remembered([...told, block(number)], 5, 1_000)
  expect(told.map(({ number }) => number)).toEqual([194, 195, 196, 197, 198, 199])
  expect(told.map(({ isFloor = false }) => isFloor)).toEqual([true, false, false, false, false, false])
})

test('a chain left below the floor took back what is not known', () => {
  const told = remembered(blocks(1, 20), 5, 1_000)
  expect([15, 14].map((fork) => isForgotten(told, fork))).toEqual([false, true])
  expect(isForgotten(blocks(1, 5), 0)).toBe(false)
  expect(isForgotten([], 0)).toBe(false)
})

test('an awaited block ends its filter where another one comes, or none', () => {
  const { toldBlock, told } = awaiting(20, '0x20')
  expect(toldBlock).toBe(20)
  expect(isForgotten(told, 19)).toBe(true)
  expect(isForgotten(told, 20)).toBe(false)
  expect(isForgotten(remembered([...told, block(21)]), 19)).toBe(true)
  expect(isWithdrawn(told, 20, 10)).toBe(false)
  expect(isWithdrawn(told, 12, 10)).toBe(true)
  // A process that asked no endpoint yet knows nothing, and one that holds the block compares it.
  expect(isWithdrawn(told, -1, 10)).toBe(false)
  expect(isWithdrawn(told, 12, 20)).toBe(false)
  expect(awaiting(20, null)).toEqual({ toldBlock: 20, told: [] })
})
