/**
 * Goal: scanning bytes and parsing JSON are one decoder. Method: both read the same answers, true
 * and damaged; the scan may decline, but what it accepts must be what parsing accepts, to the byte
 * of every table.
 */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { MillraceError } from '#errors.ts'
import { parseBlock, parseReceipts } from '#ingest/read/block.ts'
import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { readArchivedBlock } from '#transform/decode/archive.ts'
import { decodeParsed, decodeScanned } from '#transform/decode/decodeRange.ts'
import { readParsed, readSliced } from '#transform/decode/readAnswer.ts'
import { sliceRange } from '#transform/decode/sliceRange.ts'
import { BatchEncoder } from '#transform/encode/BatchEncoder.ts'
import type { ChainProfile } from '#transform/profile.ts'
import { readTransfer } from '#transform/projections/scannedTransfer.ts'
import { jsonPiece } from '../support/arbitrary.ts'
import { isFull, onceTest } from '../support/breadth.ts'
import { builtBlock } from '../support/builtBlock.ts'
import { scanned } from '../support/scanned.ts'
import { expectSameBatch } from './expectSameBatch.ts'
import {
  devProfile,
  ethereumProfile,
  rangeOf,
  readFixtures,
  recordedRanges,
  type TestRange,
} from './ranges.ts'

const encoder = new BatchEncoder()

function expectSame(profile: ChainProfile, given: TestRange): void {
  const fast = decodeScanned(profile, given.bytes, given.range, encoder)
  if (fast === null) throw new Error('the scan declined')
  expectSameBatch(fast.batch, decodeParsed(profile, given.bytes, given.range, encoder).batch)
}

describe('recorded and real blocks', () => {
  onceTest('of the dev chain are scanned, to the bytes that parsing gives', () => {
    for (const given of recordedRanges('tempo-dev-2k', 100)) expectSame(devProfile, given)
  })

  test.each(readFixtures().map((fixture) => [fixture.name, fixture] as const))('%s too', (_, fixture) => {
    expectSame(fixture.profile, rangeOf([fixture.recorded]))
  })
})

/** Rows come of whatever the node says, so that damage is not found by its root alone. */
const trusting: ChainProfile = { ...ethereumProfile, checks: 'links' }

interface Answer {
  readonly block: Record<string, unknown>
  readonly receipts: readonly Record<string, unknown>[]
}

describe('damaged answers', () => {
  let given: TestRange
  beforeAll(async () => {
    given = rangeOf([await builtBlock()])
  })

  const accepts = (bytes: Buffer): boolean => {
    const fast = decodeScanned(trusting, bytes, given.range, encoder)?.batch
    const slow = outcomeOf(bytes, given)
    if (fast === undefined) return false
    if (slow === null) throw new Error('the scan accepts what parsing refuses')
    expectSameBut(fast, slow)
    return true
  }

  test('as they are, are scanned', () => {
    expect(accepts(Buffer.from(given.bytes))).toBe(true)
  })

  test('with any bytes replaced, put in or left out', () => {
    const text = Buffer.from(given.bytes)
    const edit = fc.record({ at: fc.nat(text.length - 1), cut: fc.nat(3), put: jsonPiece })
    let accepted = 0
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 2 }), (edits) => {
        let bytes: Buffer = text
        for (const { at, cut, put } of edits) {
          bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(at + cut)])
        }
        if (accepts(bytes)) accepted++
      }),
      { numRuns: isFull ? 1_500 : 400 },
    )
    expect(accepted).toBeGreaterThan(isFull ? 20 : 5)
  })

  test('with fields in any order, absent, null, unknown or of another kind', () => {
    const { block, receipts } = given.blocks[0] as unknown as Answer
    const change = fc.record({
      pick: fc.nat(),
      value: fc.oneof(
        fc.constantFrom(undefined, null, '0x', '0x0', '0x1', '0x01', '0xg', false, true, [], {}, 7),
        fc.jsonValue({ maxDepth: 2 }),
      ),
      name: fc.constantFrom(undefined, 'surprise', 'root', 'status', 'removed', 'depositNonce', 'feePayer'),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 2 }), fc.nat(), (changes, order) => {
        const answer = structuredClone({ block, receipts })
        const objects = [
          answer.block,
          ...answer.receipts.flatMap((one) => [one, ...(one['logs'] as (typeof one)[])]),
        ]
        for (const { pick, value, name } of changes) {
          const object = objects[pick % objects.length] ?? {}
          const names = Object.keys(object)
          object[name ?? names[pick % names.length] ?? ''] = value
        }
        const rotated = answer.receipts.map((one) => rotate(one, order))
        accepts(Buffer.from(rangeOf([{ block: answer.block, receipts: rotated }]).bytes))
      }),
      { numRuns: isFull ? 600 : 150 },
    )
  })
})

describe('an answer with blanks or escapes', () => {
  test('is read by parsing, and archived so that the same comes back', async () => {
    const { block, receipts } = await parsed()
    const text = JSON.stringify([
      { id: 0, result: block },
      { id: 1, result: receipts },
    ])
    const spaced = Buffer.from(
      text.replaceAll('"status":', '"status" : ').replaceAll('"gas":', '"\\u0067as":'),
    )
    const range = { from: Number(block.number), to: Number(block.number) }
    const [answer] = sliceRange(spaced, range) ?? []
    if (!answer) throw new Error('the answer has the usual form')
    const { parts } = readSliced(answer, new ByteBuffer(0))
    const plain = readParsed({ number: answer.number, block, receipts }, new ByteBuffer(0))
    expect(readArchivedBlock(answer.number, parts)).toEqual(readArchivedBlock(answer.number, plain.parts))
  })
})

describe('movements', () => {
  test('are read from bytes as from text, whatever the log', async () => {
    const { receipts } = await parsed()
    const plain = receipts.find(({ logs }) => logs.length > 0)
    const [log] = plain?.logs ?? []
    if (!plain || !log) throw new Error('the built block has a log')
    const word = fc.oneof(
      fc.constant(`0x${'0'.repeat(64)}`),
      fc.constant(`0x${'0'.repeat(24)}${'ab'.repeat(20)}`),
      fc.constant(`0x${'0'.repeat(22)}01${'ab'.repeat(20)}`),
    )
    const first = fc.constantFrom(
      ...['Transfer', 'Approval'].map((name) => topicOf[name as 'Transfer']),
      `0x${'1'.repeat(64)}`,
    )
    fc.assert(
      fc.property(
        first,
        fc.array(word, { maxLength: 3 }),
        fc.constantFrom(0, 31, 32, 33),
        (topic0, rest, size) => {
          const changed = {
            ...log,
            topics: [topic0, ...rest],
            data: `0x${'07'.repeat(size)}`,
          } as unknown as typeof log
          const { bytes, list } = scanned([{ ...plain, logs: [changed] }])
          const place = list[0]?.logs[0]
          if (!place) throw new Error('one log was made')
          const { address, topics, data, logIndex } = place
          expect({ address, topics, data }).toEqual({
            address: log.address,
            topics: changed.topics,
            data: changed.data,
          })
          const asText = readTransfer({ address, topics, data, logIndex, isVirtualForward: false })
          const asBytes = readTransfer(place)
          expect(
            asBytes && {
              ...asBytes,
              token: bytes.hexAt(asBytes.token as never, 20),
              from: bytes.hexAt(asBytes.from as never, 20),
              to: bytes.hexAt(asBytes.to as never, 20),
              amount: BigInt(bytes.hexAt(asBytes.amount as never, 32)),
            },
          ).toEqual(asText)
        },
      ),
    )
  })
})

const topicOf = {
  Transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  Approval: '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
}

async function parsed() {
  const built = await builtBlock()
  const block = parseBlock(built.block)
  return { block, receipts: parseReceipts(built.receipts, block) }
}

/** The result of parsing the bytes; null when it refuses them. */
function outcomeOf(bytes: Buffer, { range }: TestRange): EncodedBatch | null {
  try {
    return decodeParsed(trusting, bytes, range, encoder).batch
  } catch (error) {
    if (error instanceof MillraceError) return null
    throw error
  }
}

/**
 * Equal but for the compressed archive, whose texts may be spaced differently; these have the same
 * content.
 */
function expectSameBut(fast: EncodedBatch, slow: EncodedBatch): void {
  const withoutRaw = (batch: EncodedBatch): EncodedBatch => ({
    ...batch,
    byteLength: 0,
    tables: { ...batch.tables, raw: slow.tables.raw },
  })
  expectSameBatch(withoutRaw(fast), withoutRaw(slow))
}

function rotate(object: Record<string, unknown>, by: number): Record<string, unknown> {
  const entries = Object.entries(object)
  const cut = by % entries.length
  return Object.fromEntries([...entries.slice(cut), ...entries.slice(0, cut)])
}
