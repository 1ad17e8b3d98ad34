// Goal: what is final is decided by what counts when it becomes so, not when the pass began: the first
// certificate ends the words of endpoints, however many blocks were still to be fetched.
// Method: a lane over a chain in memory whose words end between two batches, and the program's own source.
import { expect, test } from 'vitest'
import { alignedSource } from '#ingest/alignedSource.ts'
import { converge } from '#ingest/lanes/converge.ts'
import { fetchVerified } from '#ingest/lanes/fetchVerified.ts'
import { proveFinality, UnprovedFinalityError } from '#ingest/lanes/proveFinality.ts'
import type { Source } from '#ingest/source.ts'
import { openHeadBench, settleDown } from '../support/headBench.ts'

/** A lane of ten blocks, of which four are final, and thirty more of which the chain grants 30. */
async function opened() {
  const b = openHeadBench(10)
  b.chain.finalized = 0
  await settleDown(b)
  b.chain.finalized = 4
  await settleDown(b)
  b.chain.extend(30)
  b.chain.finalized = 30
  let counts = true
  const source: Source = Object.assign(b.source, { grants: () => counts })
  const wordsEnd = () => {
    counts = false
  }
  return { b, lane: { ...b.lane, source }, wordsEnd }
}

test('words that ended during a pass make nothing final, and the blocks stay', async () => {
  const { b, lane, wordsEnd } = await opened()
  const outcome = await converge(lane, undefined, async function* ({ source, ...rest }, { from, to }) {
    for (let first = from; first <= to; first += 4) {
      if (first > 20) wordsEnd()
      yield await fetchVerified({ source, ...rest }, { from: first, to: Math.min(to, first + 3) })
    }
  })
  expect(outcome).toBe('advanced')
  expect([b.sink.blocks.at(-1)?.number, b.sink.finalizedNumber]).toEqual([39, 4])
})

test('words that ended while their block was fetched decide of no beginning', async () => {
  const { b, lane, wordsEnd } = await opened()
  const target = await b.source.head()
  await proveFinality(lane, target)
  wordsEnd()
  await expect(proveFinality(lane, target)).rejects.toThrow(UnprovedFinalityError)
})

test('the lane’s source asks the one behind it', async () => {
  const { b, wordsEnd } = await opened()
  const aligned = alignedSource(b.source, 8)
  const target = await aligned.head()
  expect(aligned.grants?.(target)).toBe(true)
  wordsEnd()
  expect(aligned.grants?.(target)).toBe(false)
})
