// Goal: a recording shown many times, forked and reorganized is one chain: it links, every name in
// it is found again, and its first round is the recording word for word.
import { beforeEach, describe, expect, test } from 'vitest'
import { readRecording } from '../recordings.ts'
import { Recording } from './recording.ts'

const name = 'tempo-dev-2k'
const recorded = readRecording(name)
const ROUNDS = 3

let recording: Recording
let last: number
beforeEach(async () => {
  recording = await Recording.load(name, 'anvil')
  last = recording.lastHeight(ROUNDS)
})

const blockAt = (height: number) => JSON.parse(recording.json(height, 'full').toString())
const receiptsAt = (height: number) => JSON.parse(recording.json(height, 'receipts').toString())
const heights = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, k) => from + k)
const hashesOf = (from: number, to: number) => heights(from, to).map((height) => recording.hashAt(height))

/** Faults between blocks, or between a block and its receipts. */
function faultsOf(height: number): string[] {
  const block = blockAt(height)
  const receipts = receiptsAt(height)
  const hashes = receipts.map((receipt: { transactionHash: string }) => receipt.transactionHash)
  const wrong = {
    number: Number(block.number) !== height,
    hash: block.hash !== recording.hashAt(height),
    parent: height > 0 && block.parentHash !== recording.hashAt(height - 1),
    time: height > 0 && Number(block.timestamp) < recording.timestampAt(height - 1),
    transactions: block.transactions.some((tx: { hash: string }, k: number) => tx.hash !== hashes[k]),
    places: receipts.some(
      (receipt: { blockHash: string; blockNumber: string }) =>
        receipt.blockHash !== block.hash || receipt.blockNumber !== block.number,
    ),
  }
  return Object.entries(wrong).flatMap(([what, is]) => (is ? [`${what} of ${height}`] : []))
}

test('the first round is the recording word for word', () => {
  const shown = recorded.map((_, height) => recording.json(height, 'full').toString())
  expect(shown).toEqual(recorded.map(({ block }) => JSON.stringify(block)))
  const receipts = recorded.map((_, height) => recording.json(height, 'receipts').toString())
  expect(receipts).toEqual(recorded.map((entry) => JSON.stringify(entry.receipts)))
})

test('all rounds link, and each has hashes of its own', () => {
  expect(heights(0, last).flatMap(faultsOf)).toEqual([])
  const transactions = heights(0, last).flatMap((height) =>
    blockAt(height).transactions.map(({ hash }: { hash: string }) => hash),
  )
  expect(new Set(transactions).size).toBe(transactions.length)
  expect(new Set(hashesOf(0, last)).size).toBe(last + 1)
})

test('each hash leads back to its block and transaction', () => {
  for (const height of [0, 11, 50, 122, 123, 200, last]) {
    expect(recording.heightOf(recording.hashAt(height), last)).toBe(height)
    for (const [position, { hash }] of blockAt(height).transactions.entries())
      expect(recording.findTransaction(hash, last)).toEqual({ height, position })
  }
  expect(recording.heightOf(recording.hashAt(last), last - 1)).toBeUndefined()
})

test('a contract made in a later round has another address, which leads back to the recorded one', () => {
  const addressesOf = (round: number) => {
    const from = recording.lastHeight(round - 1) + 1
    return heights(from, recording.lastHeight(round)).flatMap((height) =>
      receiptsAt(height).flatMap(({ contractAddress: made }: { contractAddress: string | null }) =>
        made ? [made] : [],
      ),
    )
  }
  const third = addressesOf(3)
  const back = third.map((made) => recording.recordedAddress(made, last))
  expect(third.length).toBeGreaterThan(5)
  expect(addressesOf(2).map((made) => recording.recordedAddress(made, last))).toEqual(back)
  expect(third.filter((made, index) => made === back[index])).toEqual([])
})

describe('a reorg', () => {
  test('replaces the newest blocks and no other', () => {
    const before = hashesOf(0, last)
    recording.reorg(3, last)
    const after = hashesOf(0, last)
    expect(after.slice(0, -3)).toEqual(before.slice(0, -3))
    expect(after.slice(-3).filter((hash) => before.includes(hash))).toEqual([])
    expect(before.slice(-3).map((hash) => recording.heightOf(hash, last))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(heights(last - 10, last).flatMap(faultsOf)).toEqual([])
  })

  test('over another one links too, and moves each of its transactions to one place', () => {
    recording.reorg(5, last)
    recording.reorg(2, last)
    expect(heights(last - 10, last).flatMap(faultsOf)).toEqual([])
    for (const height of heights(last - 6, last))
      for (const [position, { hash }] of blockAt(height).transactions.entries())
        expect(recording.findTransaction(hash, last)).toEqual({ height, position })
  })

  test('does not reach into the setup, which is shown once', () => {
    expect(() => recording.reorg(last - recording.loopFrom + 1, last)).toThrow("can't replace")
  })

  test('that a node has not seen leaves the chain as it is', () => {
    const [seen, receipts] = [recording.hashAt(last), receiptsAt(last)]
    const other = JSON.parse(recording.jsonOfOtherFork(last, 'receipts').toString())
    expect(other.map(({ blockHash }: { blockHash: string }) => blockHash)).not.toContain(seen)
    expect([recording.hashAt(last), receiptsAt(last)]).toEqual([seen, receipts])
  })
})
