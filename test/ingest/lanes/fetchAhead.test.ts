// Goal: what is fetched, decoded and not written yet has a bound in bytes, however long the stores
// stand still.
// Method: the program's own limits, readers as head and history use them, batches of any size below
// an estimate, and no writer.
// Invariant: I8.
import { expect, test } from 'vitest'
import { type AheadOptions, fetchAhead } from '#ingest/lanes/fetchAhead.ts'
import type { Fetcher } from '#ingest/lanes/fetchVerified.ts'
import { usualLimits } from '#program/chain/options.ts'
import { aheadOf } from '#program/chain/writing.ts'
import { ByteBudget } from '../../../ingest/ByteBudget.ts'
import { decodeRefs, FakeChain, FakeSource, type RefBatch } from '../support/fakeChain.ts'
import { seededRandom } from '../support/random.ts'

/** The memory that an operator may count on, whatever the chain. */
const IN_FLIGHT_BYTES_MAX = 256 * 1024 * 1024
/** Turns of the event loop after which nothing moves any more that no writer moves. */
const TURNS = 200

function stalled(ahead: AheadOptions) {
  const source = new FakeSource(new FakeChain(3_000))
  const random = seededRandom(4)
  const held = { bytes: 0, batches: 0 }
  const decode: Fetcher<RefBatch>['decode'] = async (raw) => {
    const batch = { ...(await decodeRefs(raw)), byteLength: Math.ceil(random() * ahead.batchBytesEstimate) }
    held.bytes += batch.byteLength
    held.batches++
    return batch
  }
  const fetcher: Fetcher<RefBatch> = { lane: 'history', source, decode, failpoint: () => {} }
  const ranges = [0, 1_000, 2_000].map((from) => ({ from, to: from + 999 }))
  return { held, readers: ranges.map((range) => fetchAhead(fetcher, range, ahead)) }
}

async function settle() {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('stores that stand still leave no more in flight than the limits say, and all of it is given back', async () => {
  const budget = new ByteBudget(usualLimits.inFlightBytesMax)
  const ahead = aheadOf({ limits: usualLimits, budget })
  const { held, readers } = stalled(ahead)
  await Promise.all(readers.map((reader) => reader.next()))
  await settle()
  expect(held.bytes).toBeLessThanOrEqual(budget.usedBytes)
  expect(budget.usedBytes).toBeLessThanOrEqual(usualLimits.inFlightBytesMax)
  expect(usualLimits.inFlightBytesMax + usualLimits.cacheBytesMax).toBeLessThanOrEqual(IN_FLIGHT_BYTES_MAX)
  expect(held.batches).toBeGreaterThan(readers.length)
  await Promise.all(readers.map((reader) => reader.return()))
  await settle()
  expect(budget.usedBytes).toBe(0)
})

test('a piece that comes in parts is charged for each of them', async () => {
  const budget = new ByteBudget(usualLimits.inFlightBytesMax)
  const ahead = { ...aheadOf({ limits: usualLimits, budget }), windowMax: 1, batchBlocksMax: 12 }
  const source = new FakeSource(new FakeChain(12), { prefixBlocksMax: 4 })
  const charged: number[] = []
  const decode: Fetcher<RefBatch>['decode'] = async (raw) => {
    charged.push(budget.usedBytes)
    return decodeRefs(raw)
  }
  const fetcher: Fetcher<RefBatch> = { lane: 'history', source, decode, failpoint: () => {} }
  const reader = fetchAhead(fetcher, { from: 0, to: 11 }, ahead)
  await reader.next()
  const estimate = ahead.batchBytesEstimate
  expect(charged).toEqual([estimate, estimate + 4_000, estimate + 8_000])
  expect(budget.usedBytes).toBe(12_000)
  await reader.return()
})
