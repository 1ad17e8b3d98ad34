/**
 * Goal: every family's fee is what its own chain says was paid, by both ways a receipt is read, and
 * what no rule knows is unknown. Method: receipts of real chains, each with its source and the
 * derivation of its fee beside it (`test/data/fees`).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseBlock, type RpcReceipt, type RpcTransaction } from '#ingest/read/block.ts'
import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import type { ScannedReceipt } from '#ingest/read/scan/scannedReceipt.ts'
import { scanReceipts } from '#ingest/read/scan/scanReceipts.ts'
import { builtBlock } from '#test/support/builtBlock.ts'
import { readRealBlock } from '#test/support/realBlocks.ts'
import { scanned } from '#test/support/scanned.ts'
import { type Fee, feeOf, isFeeImpossible, type StoredFee, scannedFee } from './fee.ts'

interface Recorded {
  readonly transaction: Partial<RpcTransaction>
  readonly receipt: RpcReceipt
  readonly fee: { readonly payer: string | null; readonly token: string | null; readonly amount: string }
}

const folder = join(import.meta.dirname, '../../test/data/fees')
const recorded = new Map(
  readdirSync(folder).map((file): [string, Recorded] => [
    file.slice(0, -'.json'.length),
    JSON.parse(readFileSync(join(folder, file), 'utf8')),
  ]),
)
const named = (name: string): Recorded => {
  const found = recorded.get(name)
  if (!found) throw new Error(`no receipt ${name}`)
  return found
}

const evm = { kind: 'evm' } as const
const text = (account: string | number | null, bytes: ByteBuffer) =>
  typeof account === 'number' ? bytes.hexAt(account, 20) : account
const plainOf = (fee: StoredFee, bytes: ByteBuffer) => ({
  ...fee,
  payer: text(fee.payer, bytes),
  token: text(fee.token, bytes),
})

/** By texts and by bytes, which must agree. */
function feeBoth(tx: Partial<RpcTransaction>, receipt: RpcReceipt): Fee {
  const fee = feeOf(evm, tx, receipt)
  const { bytes, list } = scanned([receipt])
  expect(plainOf(scannedFee(evm, tx, list[0] as ScannedReceipt), bytes)).toEqual(fee)
  return fee
}

describe('receipts of real chains', () => {
  test.each([...recorded.keys()])('%s: its fee is what was paid', (name) => {
    const { transaction, receipt, fee } = named(name)
    expect(feeBoth(transaction, receipt)).toEqual({
      ...fee,
      amount: BigInt(fee.amount),
      logPosition: null,
    })
  })

  test('a block of OP Mainnet after Jovian: gas, data and no operator; its deposit is free', () => {
    const { block, receipts } = readRealBlock('optimism', '154497277')
    const { transactions } = block as { transactions: readonly RpcTransaction[] }
    for (const [index, receipt] of (receipts as readonly RpcReceipt[]).entries()) {
      const { gasUsed, effectiveGasPrice, l1Fee, type } = receipt
      const paid = BigInt(gasUsed) * BigInt(effectiveGasPrice ?? 0) + BigInt(l1Fee ?? 0)
      const { amount } = feeBoth(transactions[index] as RpcTransaction, receipt)
      expect(amount).toBe(type === '0x7e' ? 0n : paid)
    }
  })
})

const of = (type: `0x${string}`, fields: Partial<RpcReceipt>, tx: Partial<RpcTransaction> = {}) =>
  feeBoth(
    { type, ...tx },
    {
      ...named('op-isthmus').receipt,
      ...{ operatorFeeScalar: null, operatorFeeConstant: null, l1Fee: null, logs: [], type },
      ...{ gasUsed: '0x5208', effectiveGasPrice: '0x3b9aca00', ...fields },
    },
  )
const gas = 21_000n * 10n ** 9n
const operator = { operatorFeeScalar: '0x7a120', operatorFeeConstant: '0x3e8' }

describe('the operator of an OP Stack', () => {
  test.each([
    ['Isthmus: a scalar in millionths, rounded down', operator, 10_500n + 1_000n],
    ['Isthmus: less than a wei of gas', { operatorFeeScalar: '0x1', operatorFeeConstant: '0x0' }, 0n],
    ['Jovian: a scalar in hundreds', { ...operator, daFootprintGasScalar: '0x190' }, 1_050_000_001_000n],
    ['Jovian without an operator', { daFootprintGasScalar: '0x190', blobGasUsed: '0x9c40' }, 0n],
    ['Jovian with a zero footprint', { ...operator, daFootprintGasScalar: '0x0' }, 1_050_000_001_000n],
    ['Mantle since Arsia: as Jovian', { ...operator, tokenRatio: '0x1136' }, 1_050_000_001_000n],
  ] as const)('%s', (_, terms, beside) => {
    expect(of('0x2', { ...terms, l1Fee: '0x64' }).amount).toBe(gas + beside + 100n)
    expect(of('0x7e', { ...terms, l1Fee: '0x64' }).amount).toBe(0n)
  })

  test.each([
    ['half of the terms', { operatorFeeScalar: '0x7a120' }],
    ['the other half', { operatorFeeConstant: '0x3e8' }],
    ['a term that is no number', { ...operator, operatorFeeScalar: 'half' }],
    ['Mantle before Arsia', { tokenRatio: '0x1136', l1Fee: '0x64' }],
    ['a token by its number (Morph)', { feeTokenID: '0x1' }],
  ])('%s: unknown, and of no lie', (_, terms) => {
    const fields = { ...terms } as Partial<RpcReceipt>
    expect(of('0x2', fields).amount).toBe(null)
    const [receipt] = scanned([{ ...named('op-isthmus').receipt, ...fields }]).list
    expect(receipt && isFeeImpossible(evm, { type: '0x2' }, receipt)).toBe(false)
  })
})

const l1 = { gasUsedForL1: '0x10' }
const boot = named('zksync').receipt.logs
describe('types of transactions of their own', () => {
  test.each([
    ['Arbitrum: coins that arrive', '0x64', l1, 0n],
    ['Arbitrum: from below, paid by the sender', '0x65', l1, gas],
    ['Arbitrum: by a contract below', '0x66', l1, gas],
    ['Arbitrum: a redeem', '0x68', l1, null],
    ['Arbitrum: a ticket', '0x69', l1, null],
    ['Arbitrum: ArbOS', '0x6a', l1, 0n],
    ['Arbitrum: before Nitro', '0x78', l1, gas],
    ['the number of another chain (Ronin)', '0x64', {}, null],
    ['zkSync: EIP-712', '0x71', { logs: boot }, gas],
    ['the same number without a payment to the bootloader', '0x71', {}, null],
    ['zkSync: a request from below', '0xff', {}, null],
    ['zkSync: a free one', '0xff', { effectiveGasPrice: '0x0' }, 0n],
    ['Polygon: state sync', '0x7f', { gasUsed: '0x0' }, 0n],
    ['Polygon: state sync as it was', '0x0', { gasUsed: '0x0', effectiveGasPrice: null }, 0n],
    ['Morph: with a token', '0x7f', { feeTokenID: '0x2' }, null],
    ['nobody knows', '0x5a', {}, null],
  ] as const)('%s', (_, type, fields, amount) => {
    const fee = of(type, fields as Partial<RpcReceipt>)
    expect(fee.amount).toBe(amount)
    const { from } = named('op-isthmus').receipt
    const payer = type === '0x71' ? named('zksync').receipt.from : type === '0xff' ? null : from
    expect(fee.payer).toBe(amount === null ? null : payer)
  })
})

const feeCurrency = named('celo-cip64').transaction.feeCurrency as `0x${string}` &
  Partial<RpcTransaction>['feeCurrency']
describe('Celo', () => {
  test.each([
    ['its coin', '0x7b', {}, {}, { token: null, amount: gas }],
    ['its coin, and data', '0x7b', { l1Fee: '0x64' }, {}, { token: null, amount: gas + 100n }],
    ['a token', '0x7b', { l1Fee: '0x0' }, { feeCurrency }, { token: feeCurrency, amount: gas }],
    ['a token, and data in coin', '0x7b', { l1Fee: '0x64' }, { feeCurrency }, { amount: null }],
    ['a token in its first envelope', '0x0', {}, { feeCurrency }, { token: feeCurrency, amount: gas }],
    ['a gateway', '0x7c', {}, { feeCurrency, gatewayFee: '0x1' }, { amount: null }],
    [
      'a price that only the sender tells',
      '0x7b',
      { effectiveGasPrice: null },
      { feeCurrency, gasPrice: '0x9' },
      { amount: null },
    ],
    ['no token, for the envelope has none', '0x2', {}, { feeCurrency }, { token: null, amount: gas }],
    ["Base's type of the same number", '0x7b', {}, { calls: [] }, { payer: null, amount: null }],
  ] as const)('pays in %s', (_, type, fields, tx, expected) => {
    expect(of(type, fields, tx as Partial<RpcTransaction>)).toMatchObject(expected)
  })
})

test('a price by which nobody could have paid is told from a rule that is not known', () => {
  const told = { ...named('op-isthmus').receipt, effectiveGasPrice: `0x${'f'.repeat(64)}` as const }
  const [receipt] = scanned([told]).list
  expect(receipt && isFeeImpossible(evm, { type: '0x2' }, receipt)).toBe(true)
  expect(receipt && isFeeImpossible(evm, { type: '0x7b', calls: [] }, receipt)).toBe(false)
  expect(of('0x2', { effectiveGasPrice: told.effectiveGasPrice }).amount).toBe(null)
})

test('blobs without their price are no fee', () => {
  expect(of('0x3', { blobGasUsed: '0x20000' }).amount).toBe(null)
})

test('a scan finds the same terms, and leaves what is no number to JSON.parse', async () => {
  const built = await builtBlock()
  const terms = { operatorFeeScalar: '0x1', operatorFeeConstant: '0x2', daFootprintGasScalar: null }
  const scan = (add: object) =>
    scanReceipts(
      Buffer.from(JSON.stringify(built.receipts.map((receipt) => ({ ...receipt, ...add })))),
      parseBlock(built.block),
      new ByteBuffer(0),
    )
  expect(scan({})?.receipts.every(({ feeTerms }) => feeTerms === null)).toBe(true)
  const { operatorFeeScalar, operatorFeeConstant } = terms
  for (const { feeTerms } of scan(terms)?.receipts ?? [])
    expect(feeTerms).toEqual({ operatorFeeScalar, operatorFeeConstant })
  expect(scan({ tokenRatio: 'many' })).toBe(null)
})
