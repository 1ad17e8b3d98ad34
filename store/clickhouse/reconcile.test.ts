import { expect, test } from 'vitest'
import { windowsOf } from './reconcile.ts'

test('partitions are read some at a time, each once, without the empty ones before them', () => {
  expect(windowsOf([])).toEqual([])
  expect(windowsOf([300])).toEqual([[300, 300]])
  const partitions = [0, 1, 2, 3, 4, 5, 6, 40, 41, 42]
  expect(windowsOf(partitions)).toEqual([
    [0, 40],
    [41, 42],
  ])
})
