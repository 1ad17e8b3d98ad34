// Goal: 30,000 recorded transactions are proved, and their archive derives to the same bytes.
import { describe, expect, test } from 'vitest'
import { archiveBlock, readArchivedBlock } from '#transform/decode/archive.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import { BatchEncoder } from '#transform/encode/BatchEncoder.ts'
import { answerBytes } from '../support/answerBytes.ts'
import { expectSameBatch } from './expectSameBatch.ts'
import { devProfile, recordedRanges } from './ranges.ts'

describe('the long recording', () => {
  test('30,000 transactions are proved, and their archive gives the same bytes of every table', () => {
    const encoder = new BatchEncoder()
    let txs = 0
    let logs = 0
    for (const given of recordedRanges('tempo-dev-30k', 25)) {
      const { batch } = decodeRange(devProfile, given.bytes, given.range, encoder)
      txs += batch.tables.txs.rowCount
      logs += batch.tables.logs.rowCount
      expect(batch.proofs.provedBlocks).toBe(given.blocks.length)
      const read = given.blocks.map((recorded, k) => {
        const number = given.range.from + k
        return readArchivedBlock(number, archiveBlock({ number, ...recorded }))
      })
      const again = decodeRange(devProfile, answerBytes(read), given.range, encoder).batch
      expectSameBatch(again, batch)
    }
    expect({ txs, logs }).toEqual({ txs: 30_000, logs: 100_636 })
  })
})
