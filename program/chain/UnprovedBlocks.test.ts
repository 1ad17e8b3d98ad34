// Goal: what was taken on one endpoint's word is told of until what stood in the way has passed, and
// an hour at most.
import { expect, test } from 'vitest'
import { ManualClock } from '../../test/ingest/support/clock.ts'
import { describeUnproved, UnprovedBlocks } from './UnprovedBlocks.ts'

const MINUTE_MS = 60_000
const range = { from: 100, to: 109 }
const sure = (to: number) => ({ from: to - 9, to })

test('nothing is told of where every block is sure', () => {
  const blocks = new UnprovedBlocks(new ManualClock())
  blocks.takenSurely(sure(5_000))
  expect(blocks.told).toBeNull()
})

test('blocks taken alone are told of for an hour where nothing follows', async () => {
  const clock = new ManualClock()
  const blocks = new UnprovedBlocks(clock)
  blocks.takenAlone(range, ['receiptsRoot'])
  await clock.advance(59 * MINUTE_MS)
  expect(blocks.told?.range).toEqual(range)
  await clock.advance(MINUTE_MS)
  expect(blocks.told).toBeNull()
})

test('they are told of until a thousand blocks above them are sure, ten minutes at least', async () => {
  const clock = new ManualClock()
  const blocks = new UnprovedBlocks(clock)
  blocks.takenAlone(range, ['receiptsRoot'])
  blocks.takenSurely(sure(1_109))
  expect(blocks.told?.range).toEqual(range)
  await clock.advance(10 * MINUTE_MS)
  expect(blocks.told).toBeNull()
})

test('sure blocks that are too few, or came before, or were followed by others taken alone end nothing', async () => {
  const clock = new ManualClock()
  const few = new UnprovedBlocks(clock)
  few.takenAlone(range, ['receiptsRoot'])
  few.takenSurely(sure(1_108))
  const before = new UnprovedBlocks(clock)
  before.takenSurely(sure(1_109))
  before.takenAlone(range, ['receiptsRoot'])
  const again = new UnprovedBlocks(clock)
  again.takenAlone(range, ['receiptsRoot'])
  again.takenSurely(sure(1_109))
  const later = { from: 1_110, to: 1_110 }
  again.takenAlone(later, ['receiptsRoot'])
  again.takenSurely(sure(1_200))
  await clock.advance(30 * MINUTE_MS)
  expect([few, before, again].map(({ told }) => told?.range)).toEqual([range, range, later])
})

test('the part that nothing proves is named, and no other', () => {
  const told = describeUnproved({ range, parts: ['receiptsRoot'] })
  expect(told).toBe(
    'blocks 100 to 109 were taken on the word of one endpoint: what was told does not prove their receipts root',
  )
  expect(describeUnproved({ range, parts: ['header', 'transactionsRoot'] })).toMatch(
    /header field.*signature/,
  )
})
