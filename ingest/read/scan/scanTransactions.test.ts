/**
 * Goal: transactions that were scanned are those that JSON.parse and the checks of `parseBlock`
 * give. Method: both read the same answers, true and damaged; the scan may decline, and must not
 * accept what the checks refuse.
 */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { MillraceError } from '#errors.ts'
import { jsonPiece } from '#test/support/arbitrary.ts'
import { type BuiltBlock, builtBlock, type JsonObject } from '#test/support/builtBlock.ts'
import { parseBlock, type RpcTransaction } from '../block.ts'
import { scanBlock } from './scanBlock.ts'

let built: BuiltBlock
let transactions: readonly JsonObject[]
beforeAll(async () => {
  built = await builtBlock()
  const place = { blockHash: built.block.hash, blockNumber: built.block['number'] }
  const all = [...built.block.transactions, ...tempoTransactions()]
  transactions = all.map((tx, index) => ({ ...tx, ...place, transactionIndex: `0x${index.toString(16)}` }))
})

const textOf = (list: readonly JsonObject[]): string => JSON.stringify({ ...built.block, transactions: list })

describe('transactions of every envelope', () => {
  test('are scanned as they would be parsed, each where it stands', () => {
    const text = textOf(transactions)
    const scan = scanBlock(Buffer.from(text))
    expect(scan?.block.transactions.map(withoutNulls)).toEqual(transactions.map(withoutNulls))
    expect(scan?.slices.map(({ from, to }) => JSON.parse(text.slice(from, to)))).toEqual(transactions)
    expect(text.slice(scan?.list.from, scan?.list.to)).toBe(JSON.stringify(transactions))
  })

  test('and none at all', () => {
    expect(scanBlock(Buffer.from(textOf([])))?.block.transactions).toEqual([])
  })

  test('are declined when the block is not named before them', () => {
    const { hash, ...rest } = built.block
    expect(scanBlock(Buffer.from(JSON.stringify({ ...rest, transactions, hash })))).toBe(null)
  })

  test.each(['hash', 'number', 'transactions'])('are declined when %s comes twice', (key) => {
    const text = textOf(transactions).replace(/\}$/, `,"${key}":${JSON.stringify(built.block[key])}}`)
    expect(scanBlock(Buffer.from(text))).toBe(null)
  })
})

describe('damaged transactions', () => {
  test('with fields in any order, absent, null, unknown or of another kind', () => {
    const { fields, value } = damage()
    const change = fc.record({ pick: fc.nat(), field: fc.nat(), name: fc.option(fields), value })
    let accepted = 0
    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), fc.nat(), (changes, order) => {
        const list: Loose[] = structuredClone(transactions) as Loose[]
        const objects = list.flatMap(innerObjects)
        for (const one of changes) {
          const object = objects[one.pick % objects.length] ?? {}
          const names = Object.keys(object)
          object[one.name ?? names[one.field % names.length] ?? ''] = one.value
        }
        if (isSame(textOf(list.map((tx) => rotate(tx, order)) as JsonObject[]))) accepted++
      }),
      { numRuns: 2000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })

  test('with any bytes replaced, put in or left out', () => {
    const text = textOf(transactions)
    const from = text.indexOf('"transactions"')
    const edit = fc.record({
      at: fc.integer({ min: from, max: text.length - 1 }),
      cut: fc.nat(3),
      put: jsonPiece,
    })
    let accepted = 0
    fc.assert(
      fc.property(edit, ({ at, cut, put }) => {
        if (isSame(text.slice(0, at) + put + text.slice(at + cut))) accepted++
      }),
      { numRuns: 3000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })
})

type Loose = Record<string, unknown>

function damage() {
  const fields = fc.constantFrom(
    ...['type', 'nonce', 'to', 'value', 'input', 'data', 'calls', 'accessList', 'feeToken', 'r', 'yParity'],
    ...['signature', 'feePayerSignature', 'aaAuthorizationList', 'keyAuthorization', 'preHash', 'surprise'],
    ...['blobVersionedHashes', 'blockTimestamp', 'transactionIndex', 'nonceKey'],
  )
  const value = fc.oneof(
    fc.constantFrom<unknown>(
      undefined,
      null,
      '0x',
      '0x0',
      '0x1',
      '0x4',
      '0x01',
      '0x76',
      '0xg',
      '0xAb',
      false,
      true,
      7,
    ),
    fc.constantFrom<unknown>(
      `0x${'1'.repeat(16)}`,
      `0x${'1'.repeat(17)}`,
      `0x${'1'.repeat(64)}`,
      `0x${'1'.repeat(65)}`,
    ),
    fc.constantFrom<unknown>(`0x${'ab'.repeat(20)}`, [], {}, [{}], ['0x0'], [{ to: null }], 'é', '"'),
    fc.jsonValue({ maxDepth: 2 }),
  )
  return { fields, value }
}

/** A transaction, its calls and its signature. */
function innerObjects(tx: Loose): Loose[] {
  const { calls, signature } = tx as { readonly calls?: Loose[]; readonly signature?: Loose | string }
  return [tx, ...(calls ?? []), ...(typeof signature === 'object' ? [signature] : [])]
}

/** Whether the scan accepts the text of a block; then parsing has to accept the same. */
function isSame(text: string): boolean {
  const scanned = outcomeOf(() => scanBlock(Buffer.from(text))?.block.transactions ?? null)
  if (scanned === null) return false
  const parsed = outcomeOf(() => parseBlock(JSON.parse(text)).transactions)
  expect(scanned.map(withoutNulls)).toEqual(parsed?.map(withoutNulls))
  return true
}

function outcomeOf(read: () => readonly RpcTransaction[] | null): readonly RpcTransaction[] | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof MillraceError || error instanceof SyntaxError) return null
    throw error
  }
}

/**
 * Fields that are null and fields that are not there mean the same; `blockTimestamp` has to be
 * JSON, but nobody reads it.
 */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(
    ([name, field]) => field !== null && field !== undefined && name !== 'blockTimestamp',
  )
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutNulls(field)]))
}

function rotate(object: Loose, by: number): Loose {
  const entries = Object.entries(object)
  const cut = by % entries.length
  return Object.fromEntries([...entries.slice(cut), ...entries.slice(0, cut)])
}

/**
 * Tempo's envelope with each kind of signature, by turns with and without what others leave out.
 */
function tempoTransactions(): readonly JsonObject[] {
  const rs = { r: `0x${'1a'.repeat(32)}`, s: `0x${'2b'.repeat(31)}` }
  const key = { pubKeyX: `0x${'3c'.repeat(32)}`, pubKeyY: `0x${'4d'.repeat(32)}` }
  const secp256k1 = { type: 'secp256k1', ...rs, yParity: '0x0', v: '0x0' }
  const call = { to: `0x${'20'.repeat(20)}`, value: '0x0', input: '0xa9059cbb', data: null }
  const parts: readonly JsonObject[] = [
    { signature: secp256k1, calls: [call, { to: null, value: '0x1', data: '0x00' }] },
    { signature: { type: 'p256', ...rs, ...key, preHash: true }, calls: [], feeToken: null },
    { signature: { type: 'webAuthn', webauthnData: '0x0102', ...rs, ...key }, feePayerSignature: secp256k1 },
    {
      signature: { userAddress: `0x${'5e'.repeat(20)}`, signature: secp256k1, version: 'v2' },
      validAfter: '0x5',
    },
    { signature: '0x0102', keyAuthorization: { chainId: '0x1' }, aaAuthorizationList: [{ chainId: '0x1' }] },
  ]
  return parts.map((part, index) => ({
    type: '0x76',
    chainId: '0x1079',
    nonce: `0x${(index + 1).toString(16)}`,
    gas: '0x5208',
    maxFeePerGas: '0x4a817c800',
    maxPriorityFeePerGas: '0x0',
    accessList: [],
    aaAuthorizationList: [],
    feeToken: `0x${'20'.repeat(20)}`,
    nonceKey: '0x0',
    validBefore: null,
    calls: [call],
    hash: `0x${'6f'.repeat(32)}`,
    from: `0x${'7a'.repeat(20)}`,
    gasPrice: '0x4a817c800',
    ...part,
  }))
}
