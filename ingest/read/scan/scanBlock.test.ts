/**
 * Goal: a header that was scanned is the one that JSON.parse and the checks of `parseBlock` give.
 * Method: both read the same headers, true and damaged; the scan may decline, and must not accept
 * what the checks refuse.
 */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { MillraceError } from '#errors.ts'
import { builtBlock, type JsonObject } from '#test/support/builtBlock.ts'
import { parseBlock } from '../block.ts'
import { scanBlock } from './scanBlock.ts'

const context = { epoch: 0, view: 41_000, parentView: 999_999_999_999_999, proposer: `0x${'5a'.repeat(32)}` }

let header: JsonObject
beforeAll(async () => {
  const { block } = await builtBlock()
  const tempo = { mainBlockGeneralGasLimit: '0x1c9c380', sharedGasLimit: '0x0', timestampMillisPart: '0x1f4' }
  header = {
    ...block,
    ...tempo,
    withdrawals: [{ index: '0x1' }],
    consensusContext: context,
    transactions: [],
  }
})

const scan = (block: object) => scanBlock(Buffer.from(JSON.stringify(block)))
const parse = (block: object) => parseBlock(JSON.parse(JSON.stringify(block)))

describe('headers', () => {
  test('are scanned as they would be parsed', () => {
    const scanned = scan(header)
    expect(scanned?.isWhole).toBe(true)
    expect(read(scanned?.block)).toEqual(read(parse(header)))
  })

  test('with a field that is not known are for JSON.parse, beside the scanned name', () => {
    for (const block of [
      { totalDifficulty: '0x0', ...header },
      { ...header, surprise: [{}] },
    ]) {
      const scanned = scan(block)
      expect(scanned?.isWhole).toBe(false)
      expect(scanned?.block).toMatchObject({ hash: header['hash'], number: header['number'] })
    }
  })

  test('with a consensus context that is not known are for JSON.parse', () => {
    expect(scan({ ...header, consensusContext: { ...context, surprise: 1 } })?.isWhole).toBe(false)
  })

  test.each([-1, 1.5, 1e15, 1e21, '1', null])('whose context has %s for a number are declined', (view) => {
    expect(scan({ ...header, consensusContext: { ...context, view } })).toBe(null)
  })

  test('whose context has a number with a leading zero are declined, as by JSON', () => {
    const text = JSON.stringify(header).replace('"epoch":0', '"epoch":00')
    expect(scanBlock(Buffer.from(text))).toBe(null)
  })

  test('with fields in any order, absent, null, unknown or of another kind', () => {
    const { name, value } = damage()
    let whole = 0
    fc.assert(
      fc.property(fc.array(fc.record({ name, value }), { maxLength: 2 }), fc.nat(), (changes, order) => {
        const changed = Object.assign({}, header, ...changes.map((one) => ({ [one.name]: one.value })))
        if (isSame(rotate(changed, order))) whole++
      }),
      { numRuns: 2000 },
    )
    expect(whole).toBeGreaterThan(100)
  })
})

function damage() {
  const name = fc.constantFrom(
    ...[
      'hash',
      'number',
      'parentHash',
      'timestamp',
      'miner',
      'stateRoot',
      'sha3Uncles',
      'logsBloom',
      'gasLimit',
    ],
    ...['gasUsed', 'extraData', 'difficulty', 'mixHash', 'nonce', 'baseFeePerGas', 'requestsHash', 'size'],
    ...['timestampMillisPart', 'consensusContext', 'withdrawals', 'uncles', 'transactions', 'surprise'],
  )
  const value = fc.oneof(
    fc.constantFrom<unknown>(undefined, null, '0x', '0x0', '0x01', '0xg', '0xAb', '0xabc', false, 7, [], {}),
    fc.integer({ min: 12, max: 18 }).map((digits) => `0x${'1'.repeat(digits)}`),
    fc.constantFrom(8, 20, 32, 33, 256).map((bytes) => `0x${'ab'.repeat(bytes)}`),
    fc.constantFrom<unknown>({ ...context, epoch: -1 }, { ...context, view: '0x1' }, { epoch: 1 }),
    fc.jsonValue({ maxDepth: 2 }),
  )
  return { name, value }
}

/** Whether the scan accepts a header as whole; then parsing has to accept the same. */
function isSame(block: JsonObject): boolean {
  const scanned = outcomeOf(() => scan(block))
  if (!scanned?.isWhole) return false
  expect(read(scanned.block)).toEqual(read(outcomeOf(() => parse(block))))
  return true
}

function outcomeOf<Result>(act: () => Result): Result | null {
  try {
    return act()
  } catch (error) {
    if (error instanceof MillraceError) return null
    throw error
  }
}

/**
 * Fields that are null and fields that are not there mean the same; two are in no row and no hash.
 */
function read(block: object | null | undefined): object | null {
  if (!block) return null
  const unread = ['uncles', 'withdrawals']
  return Object.fromEntries(
    Object.entries(block).filter(
      ([name, value]) => value !== null && value !== undefined && !unread.includes(name),
    ),
  )
}

function rotate(object: JsonObject, by: number): JsonObject {
  const entries = Object.entries(object)
  const cut = by % entries.length
  return Object.fromEntries([...entries.slice(cut), ...entries.slice(0, cut)])
}
