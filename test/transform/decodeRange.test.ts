// Goal: every block is proved, nothing is lost, and the archive derives to the same bytes.
import { beforeAll, describe, expect, test } from 'vitest'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { RefutedError } from '#ingest/verify/RefutedError.ts'
import { type EncodedBatch, sameRows } from '#transform/batch.ts'
import { archiveBlock, readArchivedBlock, readArchivedPart } from '#transform/decode/archive.ts'
import { decodeParsed, decodeRange, decodeRaw, decodeScanned } from '#transform/decode/decodeRange.ts'
import { BatchEncoder } from '#transform/encode/BatchEncoder.ts'
import type { ChainProfile } from '#transform/profile.ts'
import { answerBytes } from '../support/answerBytes.ts'
import { expectSameBatch } from './expectSameBatch.ts'
import {
  devProfile,
  ethereumProfile,
  rangeOf,
  readFixtures,
  recordedRanges,
  type TestRange,
} from './ranges.ts'

interface Items {
  readonly block: { readonly transactions: readonly { readonly hash: string }[] }
  readonly receipts: readonly { readonly logs: readonly unknown[] }[]
}

const items = (range: TestRange): readonly Items[] => range.blocks as unknown as readonly Items[]

describe('decoding a recorded chain', () => {
  const encoder = new BatchEncoder()
  let ranges: readonly TestRange[] = []
  beforeAll(() => {
    ranges = recordedRanges('tempo-dev-2k', 25)
  })

  test('every block is proved, and no transaction or log is lost or added', () => {
    for (const given of ranges) {
      const { batch } = decodeRange(devProfile, given.bytes, given.range, encoder)
      const txs = items(given).map(({ block }) => block.transactions.length)
      const logs = items(given).map(({ receipts }) =>
        receipts.reduce((sum, { logs }) => sum + logs.length, 0),
      )
      expect(batch.refs.map((ref) => ref.number)).toEqual(txs.map((_, k) => given.range.from + k))
      expect([...batch.tables.blocks.blockRowCounts]).toEqual(txs.map(() => 1))
      expect([...batch.tables.txs.blockRowCounts]).toEqual(txs)
      expect([...batch.tables.logs.blockRowCounts]).toEqual(logs)
      expect(batch.proofs).toEqual({
        provedBlocks: txs.length,
        unprovableBlocks: 0,
        unprovableTxs: 0,
        unprovableParts: [],
      })
    }
  })

  test('what is archived is the answer: deriving it anew gives the same bytes of every table', () => {
    for (const given of ranges) {
      const answers = given.blocks.map((recorded, k) => ({ number: given.range.from + k, ...recorded }))
      const read = answers.map((answer) => readArchivedBlock(answer.number, archiveBlock(answer)))
      expect(read.map((answer) => JSON.stringify(answer))).toEqual(
        answers.map((answer) => JSON.stringify(answer)),
      )
      expectSameBatch(
        decodeRange(devProfile, answerBytes(read), given.range, encoder).batch,
        decodeRange(devProfile, given.bytes, given.range, encoder).batch,
      )
    }
  })

  test('parts of the archive are decoded as they are stored, to the batch that the answer gave', () => {
    for (const given of ranges) {
      const blocks = given.blocks.map((recorded, k) =>
        archiveBlock({ number: given.range.from + k, ...recorded }),
      )
      const raw = {
        range: given.range,
        bytes: new Uint8Array(Buffer.concat(blocks.flat())),
        partLengths: blocks.map((parts) => parts.map(({ byteLength }) => byteLength)),
      }
      expectSameBatch(
        decodeRaw(devProfile, raw, encoder).batch,
        decodeRange(devProfile, given.bytes, given.range, encoder).batch,
      )
      raw.bytes.set([1], raw.bytes.length - 1)
      expect(() => decodeRaw(devProfile, raw, encoder)).toThrow()
    }
  })

  test('blocks that were stored by rules which were dropped since are read from the archive alone', () => {
    const given = ranges[1] as TestRange
    const answers = items(given).map(({ block, receipts }, k) => {
      const lies = receipts.map((receipt) => ({ ...receipt, status: '0x0' }))
      return { number: given.range.from + k, block, receipts: lies }
    })
    const blocks = answers.map(archiveBlock)
    const raw = {
      range: given.range,
      bytes: new Uint8Array(Buffer.concat(blocks.flat())),
      partLengths: blocks.map((parts) => parts.map(({ byteLength }) => byteLength)),
    }
    const strict: ChainProfile = { ...devProfile, chainId: 9_029, loose: [] }
    const told = answerBytes(answers)
    const stored = decodeRange({ ...strict, loose: ['receiptsRoot'] }, told, given.range).batch
    const after: ChainProfile = { ...strict, dropped: ['receiptsRoot'] }
    expect(sameRows(decodeRaw(after, raw).batch, stored)).toBe(true)
    expect(() => decodeRaw(strict, raw)).toThrow(RefutedError)
    expect(() => decodeRange(after, told, given.range)).toThrow(RefutedError)
  })

  test('a transaction and its receipt are read from their part alone', () => {
    const big = ranges.flatMap((given) => given.blocks).find((_, k) => k === 60)
    const { block, receipts } = items(rangeOf(big ? [big] : []))[0] as Items
    const parts = archiveBlock({ number: 60, block, receipts })
    const index = block.transactions.length - 1
    const part = parts[1 + Math.floor(index / 16)] as Uint8Array
    const { transactions: read, receipts: readReceipts } = readArchivedPart(part)
    expect([read[index % 16], readReceipts[index % 16]]).toEqual([block.transactions[index], receipts[index]])
  })

  test('an encoder stays usable after a range that failed midway', () => {
    const [first, second] = ranges as [TestRange, TestRange]
    const tampered = Buffer.from(first.bytes).toString().replace('"status":"0x1"', '"status":"0x0"')
    expect(() => decodeRange(devProfile, Buffer.from(tampered), first.range, encoder)).toThrow(RefutedError)
    expectSameBatch(
      decodeRange(devProfile, second.bytes, second.range, encoder).batch,
      decodeRange(devProfile, second.bytes, second.range).batch,
    )
  })

  test.each([1_000, 20_000])(
    'a field nobody knows, %i levels deep, is refused before it is stored',
    (levels) => {
      const given = ranges[1] as TestRange
      const deep = `${'['.repeat(levels)}12345678901234567${']'.repeat(levels)}`
      const text = Buffer.from(given.bytes).toString()
      for (const member of ['"stateRoot":', '"nonce":', '"cumulativeGasUsed":']) {
        expect(text).toContain(member)
        const bytes = Buffer.from(text.replace(member, `"unheard":${deep},${member}`))
        expect(() => decodeRange(devProfile, bytes, given.range, encoder)).toThrow(NodeAnswerError)
      }
    },
  )

  test('a field nobody knows, ten levels deep, is read again from the archive', () => {
    const given = ranges[1] as TestRange
    const deep = `${'['.repeat(10)}12345678901234567${']'.repeat(10)}`
    const text = Buffer.from(given.bytes).toString()
    const bytes = Buffer.from(
      text.replaceAll('"cumulativeGasUsed":', `"unheard":${deep},"cumulativeGasUsed":`),
    )
    expectSameBatch(
      decodeScanned(devProfile, bytes, given.range, encoder)?.batch as EncodedBatch,
      decodeParsed(devProfile, bytes, given.range, encoder).batch,
    )
  })

  test('blocks that do not follow each other are refused', () => {
    const blocks = (ranges[1] as TestRange).blocks
    const gapped = rangeOf([blocks[3], blocks[5]] as never)
    expect(() => decodeRange(devProfile, gapped.bytes, gapped.range, encoder)).toThrow(NodeAnswerError)
  })
})

describe('decoding blocks of real chains', () => {
  const encoder = new BatchEncoder()

  test.each(readFixtures().map((fixture) => [fixture.name, fixture] as const))(
    '%s decodes and comes back from its archive unchanged',
    (_, { profile, recorded }) => {
      const given = rangeOf([recorded])
      const before = structuredClone(recorded)
      const { batch } = decodeRange(profile, given.bytes, given.range, encoder)
      const [only] = items(given) as [Items]
      expect(batch.tables.txs.rowCount).toBe(only.block.transactions.length)
      expect(batch.proofs.provedBlocks + batch.proofs.unprovableBlocks).toBe(1)
      const parts = archiveBlock({ number: given.range.from, ...recorded })
      const read = readArchivedBlock(given.range.from, parts)
      expect(JSON.stringify(read.block)).toBe(JSON.stringify(before.block))
      expect(JSON.stringify(read.receipts)).toBe(JSON.stringify(before.receipts))
    },
  )

  test('an envelope nobody knows passes, counted as unprovable', () => {
    const fixture = readFixtures().find(({ name }) => name === 'optimism 154497277')
    const recorded = structuredClone(fixture?.recorded) as unknown as {
      block: { transactions: Record<string, unknown>[] }
      receipts: Record<string, unknown>[]
    }
    Object.assign(recorded.block.transactions[1] ?? {}, { type: '0x6a', surprise: { nested: [1, null] } })
    Object.assign(recorded.receipts[1] ?? {}, { type: '0x6a' })
    const given = rangeOf([recorded])
    const { batch } = decodeRange(ethereumProfile, given.bytes, given.range, encoder)
    expect(batch.tables.txs.rowCount).toBe(recorded.receipts.length)
    expect(batch.proofs.unprovableBlocks).toBe(1)
    expect(batch.proofs.unprovableTxs).toBeGreaterThan(0)
  })
})
