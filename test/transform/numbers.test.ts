// Goal: no number that a node can send stops a lane, and none is stored as another: a column holds
// it exactly or not at all. What a root covers and no block can hold is the node's mistake.
// Method: a block with every field there is, in which one number after the other is each edge of
// the ways to hold numbers; it is read by both ways, and every column of the rows is looked at.
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseBlock } from '#ingest/read/block.ts'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { decodeParsed, decodeRange } from '#transform/decode/decodeRange.ts'
import { BatchEncoder } from '#transform/encode/BatchEncoder.ts'
import { TableEncoder } from '#transform/encode/TableEncoder.ts'
import { EncodeError } from '#transform/encode/values.ts'
import type { ChainProfile } from '#transform/profile.ts'
import { blockRow } from '#transform/rows/blockRow.ts'
import { ledgerTableNames, tableNames, tables } from '#transform/tables.ts'
import { few } from '../support/breadth.ts'
import { builtBlock } from '../support/builtBlock.ts'
import { nonceBlock } from '../support/nonceBlock.ts'
import { copiedNumbers } from './copiedRows.ts'
import { isWide, numberEdges, numberMaxima } from './numberEdges.ts'
import { arbitraryRow } from './randomRows.ts'
import { devProfile, rangeOf } from './ranges.ts'

type Json = { [field: string]: unknown }
type Path = readonly (string | number)[]
type Numbers = ReadonlyMap<string, bigint | null>

/** Counts and places, which no field tells but the answer's own lists, or the question. */
const placeColumns = /^(num|block_num|idx|tx_idx|log_idx|part|\w+_count|type|signature_type|status)$/

/** Columns that are computed of several fields, which tests of their own look at. */
const computed: ReadonlySet<string> = new Set(['blocks.timestamp_ms', 'txs.fee_amount'])

/** Texts that are bytes, whatever they look like. */
const byteFields: ReadonlySet<string> = new Set(['input', 'data', 'extraData', 'address', 'topics'])

/** Fields that no root covers: the node's own words. */
const untold: ReadonlySet<string> = new Set([
  ...['size', 'timestampMillis', 'gasPrice', 'effectiveGasPrice', 'l1Fee', 'blobGasUsed', 'blobGasPrice'],
  ...['blockTimestamp'],
])

interface Answer {
  readonly block: Json
  readonly receipts: readonly Json[]
}

/** With every field there is. */
let answer: Answer

beforeAll(async () => {
  const { block, receipts } = await nonceBlock([1n, 2n])
  const [first, second] = block.transactions
  answer = structuredClone({
    block: {
      ...block,
      mainBlockGeneralGasLimit: '0x1',
      sharedGasLimit: '0x1',
      timestampMillisPart: '0x1',
      timestampMillis: '0x1',
      blockAccessListHash: `0x${'ab'.repeat(32)}`,
      slotNumber: '0x1',
      withdrawals: [{ index: '0x1', validatorIndex: '0x1', address: block['miner'], amount: '0x1' }],
      transactions: [
        { ...first, validBefore: '0x1', validAfter: '0x1', blockTimestamp: '0x1' },
        {
          ...second,
          type: '0x3',
          value: '0x1',
          input: '0x',
          maxFeePerBlobGas: '0x1',
          v: '0x1',
          yParity: '0x1',
        },
      ],
    },
    receipts: receipts.map((receipt, index) => ({
      ...receipt,
      ...(index === 1 && { type: '0x3' }),
      ...{ depositNonce: '0x1', depositReceiptVersion: '0x1', l1Fee: '0x1', blobGasUsed: '0x1' },
      ...{ blobGasPrice: '0x1', blockTimestamp: '0x1' },
    })),
  })
})

/** A chain that numbers logs in its own way is not a known one. */
const profiles: readonly (readonly [string, ChainProfile])[] = [
  ['Tempo', { ...devProfile, checks: 'links' }],
  ['a chain with a native coin', { ...devProfile, kind: 'evm', checks: 'links' }],
  [
    'a chain that numbers logs itself',
    { ...devProfile, chainId: 99, checks: 'links', loose: ['logIndexes'] },
  ],
]

describe.each(profiles)('every number of a block of %s', (_, profile) => {
  test('is stored exactly, or not at all, and stops nothing', () => {
    const before = rowsOf(profile, answer)
    const held = new Map<string, Set<bigint>>()
    const problems: string[] = []
    for (const path of numbersIn(answer))
      for (const edge of few(numberEdges, 4)) {
        const said = `${path.join('.')} = ${edge}`
        const rows = attempt(profile, changed(path, edge))
        if (rows instanceof Error) {
          if (!mayBeRefused(path, edge, rows)) problems.push(`${said}: ${rows.message}`)
          continue
        }
        for (const [place, value] of rows) {
          if (value === before.get(place)) continue
          const column = place.replace(/^.* /, '')
          held.set(column, (held.get(column) ?? new Set()).add(value ?? -1n))
          if (value !== null && value !== edge && !computed.has(column))
            problems.push(`${said}: ${place} holds ${value}`)
        }
      }
    expect(problems).toEqual([])
    // A column that no field reached was not drilled.
    expect(drilled.filter((column) => !held.has(column))).toEqual([])
  })
})

// One endpoint of several could make such a number null, and another one knows it.
test('a block of which a number is left out that no root covers is not proved by its roots', async () => {
  const profile: ChainProfile = { ...devProfile, kind: 'evm' }
  const { block, receipts } = await builtBlock()
  const ethereum: Answer = { block, receipts }
  const proofsOf = (of: Answer) => {
    const { bytes, range } = rangeOf([of])
    return decodeRange(profile, bytes, range).batch.proofs
  }
  expect(proofsOf(ethereum)).toEqual({
    provedBlocks: 1,
    unprovableBlocks: 0,
    unprovableTxs: 0,
    unprovableParts: [],
  })
  const before = rowsOf(profile, ethereum)
  const leftOut = new Set<string>()
  // The header has a field of the same name as receipts, and the first three transactions sign the price.
  const isPriceCovered = (path: Path) => path.at(-1) === 'gasPrice' && Number(path.at(-2)) < 3
  const isUntold = (path: Path) =>
    untold.has(String(path.at(-1))) && path.at(-1) !== 'blobGasUsed' && !isPriceCovered(path)
  for (const path of numbersIn(ethereum).filter(isUntold))
    for (const edge of numberEdges) {
      const said = changed(path, edge, ethereum)
      const lost = [...rowsOf(profile, said)].filter(
        ([place, value]) => value === null && before.get(place) !== null,
      )
      for (const [place] of lost) leftOut.add(place.replace(/^.* /, ''))
      if (lost.length > 0)
        expect(proofsOf(said), `${path.join('.')} = ${edge}`).toMatchObject({ unprovableBlocks: 1 })
    }
  expect([...leftOut].sort()).toEqual(['blocks.size', 'txs.fee_amount'])
})

test.each([
  ['0x1f3', 1_000_499],
  ['0x1fffffffffffff', 1_000_000],
  ['0xffffffffffffffff', 1_000_000],
  [undefined, 1_000_000],
])('milliseconds with a part of %s are %d', (timestampMillisPart, expected) => {
  const block = parseBlock({ ...structuredClone(answer.block), timestamp: '0x3e8', timestampMillisPart })
  expect(blockRow(block, []).timestamp_ms).toBe(expected)
})

// Every column, so that a new one is looked at too.
test.each(tableNames)('%s refuses what a column of numbers does not hold', (name) => {
  const [row] = fc.sample(arbitraryRow(tables[name]), { numRuns: 1, seed: 4217 })
  for (const { name: column, type } of tables[name].columns) {
    const most = numberMaxima[type]
    for (const edge of most === undefined ? [] : [-1n, ...numberEdges.filter((one) => one > most)]) {
      const value = isWide(type) ? edge : Number(edge)
      const append = () => new TableEncoder(name).append({ ...row, [column]: value } as never)
      expect(append, `${column} ${edge}`).toThrow(EncodeError)
    }
  }
})

const drilled = (['blocks', 'txs', 'logs'] as const).flatMap((name) =>
  tables[name].columns
    .filter((column) => numberMaxima[column.type] !== undefined && !placeColumns.test(column.name))
    .map((column) => `${name}.${column.name}`)
    .filter((column) => !column.endsWith('block_timestamp')),
)

/** Whether it is no fault of ours that a block with such a number is not taken. */
function mayBeRefused(path: Path, edge: bigint, error: Error): boolean {
  const field = String(path.at(-1))
  if (field === 'timestamp') return edge >= 2n ** 32n
  if (error instanceof EncodeError || !(error instanceof NodeAnswerError)) return false
  return !untold.has(field)
}

/** The rows' numbers, the same by both ways to read an answer. */
function rowsOf(profile: ChainProfile, of: Answer): Numbers {
  const { bytes, range } = rangeOf([of])
  const scanned = numbersOf(decodeRange(profile, bytes, range).batch)
  const parsed = numbersOf(decodeParsed(profile, bytes, range, new BatchEncoder()).batch)
  expect(parsed).toEqual(scanned)
  return scanned
}

function attempt(profile: ChainProfile, of: Answer): Numbers | Error {
  try {
    return rowsOf(profile, of)
  } catch (error) {
    if (error instanceof NodeAnswerError || error instanceof EncodeError) return error
    throw error
  }
}

function numbersOf(batch: ReturnType<typeof decodeRange>['batch']): Numbers {
  return new Map(
    ledgerTableNames.flatMap((name) =>
      copiedNumbers(tables[name], batch.tables[name].postgres).flatMap((row, index) =>
        [...row].map(([column, value]) => [`row ${index} of ${name}.${column}`, value] as const),
      ),
    ),
  )
}

/** Places of all quantities. */
function numbersIn(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => numbersIn(item, [...path, index]))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([field, inner]) =>
      byteFields.has(field) ? [] : numbersIn(inner, [...path, field]),
    )
  const isQuantity = typeof value === 'string' && /^0x(0|[1-9a-f][0-9a-f]*)$/.test(value) && value.length < 42
  return isQuantity ? [path] : []
}

function changed(path: Path, edge: bigint, of = answer): Answer {
  const copy = structuredClone(of)
  const parent = path.slice(0, -1).reduce<unknown>((node, key) => (node as Json)[key], copy) as Json
  parent[path.at(-1) ?? ''] = `0x${edge.toString(16)}`
  return copy
}
