/**
 * Goal: how a node spells a value changes no row. Method: real blocks, and one of every envelope,
 * are respelled at random, and give the bytes of both stores that they give as they are: scanned,
 * parsed, and read from the archive.
 */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import { scanBlock } from '#ingest/read/scan/scanBlock.ts'
import { scanReceipts } from '#ingest/read/scan/scanReceipts.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { decodeParsed, decodeScanned } from '#transform/decode/decodeRange.ts'
import { BatchEncoder } from '#transform/encode/BatchEncoder.ts'
import type { ChainProfile } from '#transform/profile.ts'
import type { RecordedBlock } from '../chain/recordings.ts'
import { isFull } from '../support/breadth.ts'
import { builtBlock } from '../support/builtBlock.ts'
import { type Draw, drawFrom, respelledBlock, respelledReceipts } from '../support/respelled.ts'
import { expectSameBatch } from './expectSameBatch.ts'
import { ethereumProfile, rangeOf, readFixtures } from './ranges.ts'

const encoder = new BatchEncoder()
let built: RecordedBlock
beforeAll(async () => {
  built = await builtBlock()
})

/** Equal but for the archive, which keeps what the node wrote. */
function expectSameRows(told: EncodedBatch | undefined, plain: EncodedBatch): void {
  if (!told) throw new Error('the scan declined')
  const { raw } = plain.tables
  expectSameBatch({ ...told, byteLength: plain.byteLength, tables: { ...told.tables, raw } }, plain)
}

function expectEverySpelling(profile: ChainProfile, recorded: RecordedBlock): void {
  const given = rangeOf([recorded])
  const plain = decodeParsed(profile, given.bytes, given.range, encoder).batch
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const { bytes } = rangeOf([respelled(recorded, drawFrom(seed))])
      expectSameRows(decodeParsed(profile, bytes, given.range, encoder).batch, plain)
      expectSameRows(decodeScanned(profile, bytes, given.range, encoder)?.batch, plain)
    }),
    { numRuns: isFull ? 60 : 6 },
  )
}

const respelled = ({ block, receipts }: RecordedBlock, draw: Draw): RecordedBlock => ({
  block: respelledBlock(block, draw),
  receipts: respelledReceipts(receipts, draw),
})

describe('in any spelling', () => {
  test.each(readFixtures().map((fixture) => [fixture.name, fixture] as const))(
    'block %s gives the same rows',
    (_, { profile, recorded }) => expectEverySpelling(profile, recorded),
  )

  test('a block of every envelope does', () => expectEverySpelling(ethereumProfile, built))

  test('a checksum in every address is scanned, and so is each quantity with zeros before it', () => {
    const { block, receipts } = readFixtures()[0]?.recorded ?? expect.fail('no block')
    const texts = [JSON.stringify(block), JSON.stringify(receipts)].map((text) =>
      text
        .replaceAll(/"0x[0-9a-f]*"/g, (hex) => hex.toUpperCase().replace('0X', '0x'))
        .replaceAll(/("(?:gas|value|logIndex|number|gasUsed)":"0x)/g, '$100'),
    )
    const [told, toldReceipts] = texts.map((text) => Buffer.from(text))
    const scan = scanBlock(told ?? Buffer.alloc(0))
    if (!scan) throw new Error('the scan of the block declined')
    expect(scan.block.transactions).toEqual(scanBlock(Buffer.from(JSON.stringify(block)))?.block.transactions)
    expect(scanReceipts(toldReceipts ?? Buffer.alloc(0), scan.block, new ByteBuffer(0))).not.toBe(null)
  })
})
