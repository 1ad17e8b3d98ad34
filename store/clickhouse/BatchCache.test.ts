import { expect, test } from 'vitest'
import type { EncodedBatch } from '#transform/batch.ts'
import { BatchEncoder } from '#transform/encode/BatchEncoder.ts'
import { BatchCache } from './BatchCache.ts'

const { tables } = new BatchEncoder().finish()

function batchOf(block: number, byteLength: number): EncodedBatch {
  return {
    range: { from: block, to: block },
    refs: [],
    firstTimestampSeconds: 0,
    lastTimestampSeconds: 0,
    tables,
    proofs: { provedBlocks: 1, unprovableBlocks: 0, unprovableTxs: 0, unprovableParts: [] },
    foreignReceipts: 0,
    byteLength,
  }
}

test('batches are kept up to the limit in bytes, and what does not fit is forgotten', () => {
  const cache = new BatchCache(100)
  cache.add(batchOf(1, 101))
  for (const block of [2, 3, 4, 5]) cache.add(batchOf(block, 30))
  expect(cache.byteLength).toBe(90)
  expect([1, 2, 3, 4, 5].filter((block) => cache.at(block))).toEqual([2, 3, 4])
  cache.drop({ from: 2, to: 3 })
  expect(cache.byteLength).toBe(30)
})

test('a batch takes the place of what is held of its blocks', () => {
  const cache = new BatchCache(100)
  cache.add(batchOf(1, 80))
  cache.add(batchOf(1, 90))
  expect(cache.byteLength).toBe(90)
})

test('history waits while the cache is three quarters full, and goes on when there is room or nobody makes any', async () => {
  const cache = new BatchCache(100)
  const waits: string[] = []
  const wait = async (name: string) => {
    await cache.room()
    waits.push(name)
  }
  cache.add(batchOf(1, 74))
  expect(cache.crowded).toBe(false)
  cache.add(batchOf(1, 75))
  const written = wait('written')
  expect(cache.crowded).toBe(true)
  cache.drop({ from: 1, to: 1 })
  await written
  cache.add(batchOf(2, 75))
  const released = wait('released')
  cache.release()
  await released
  expect(waits).toEqual(['written', 'released'])
})
