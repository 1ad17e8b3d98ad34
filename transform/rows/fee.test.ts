import { describe, expect, test } from 'vitest'
import type { RpcLog, RpcReceipt, RpcTransaction } from '#ingest/read/block.ts'
import { address, hash } from '#primitives.ts'
import { feeManagerAddress } from '../addresses.ts'
import type { ChainProfile } from '../profile.ts'
import { feeOf } from './fee.ts'
import { transferTopic } from './transferLog.ts'

const tempo: ChainProfile = { chainId: 4217, kind: 'tempo', headerRule: 'tempo', checks: 'roots' }
const evm: ChainProfile = { ...tempo, chainId: 1, kind: 'evm', headerRule: 'ethereum' }

const token = address('0x20c000000000000000000000b044f5be94fb7836')
const sender = address(`0x${'a1'.repeat(20)}`)
const sponsor = address(`0x${'b2'.repeat(20)}`)
const blockHash = hash(`0x${'00'.repeat(32)}`)

function transferLog(from: string, to: string, amount: bigint): RpcLog {
  const topics = [transferTopic, ...[from, to].map((who) => `0x${who.slice(2).padStart(64, '0')}`)].map(hash)
  return {
    address: token,
    topics,
    data: `0x${amount.toString(16).padStart(64, '0')}`,
    blockHash,
    blockNumber: '0x1',
    transactionHash: blockHash,
    transactionIndex: '0x0',
    logIndex: '0x0',
  }
}

const tx: RpcTransaction = {
  hash: blockHash,
  type: '0x76',
  blockHash,
  blockNumber: '0x1',
  transactionIndex: '0x0',
  from: sender,
  gas: '0x16e360',
}

const native: RpcTransaction = { ...tx, type: '0x2' }

const receipt = (fields: Partial<RpcReceipt>): RpcReceipt => ({
  transactionHash: blockHash,
  transactionIndex: '0x0',
  blockHash,
  blockNumber: '0x1',
  from: sender,
  gasUsed: '0x49dde',
  cumulativeGasUsed: '0x49dde',
  effectiveGasPrice: '0x4a817c800',
  feePayer: sender,
  logs: [],
  ...fields,
})

describe('feeOf', () => {
  const closing = transferLog(sponsor, feeManagerAddress, 6052n)

  test('on Tempo the last log tells payer, token and amount, whatever the receipt says', () => {
    const logs = [transferLog(sender, sponsor, 9n), closing]
    expect(feeOf(tempo, tx, receipt({ logs }))).toEqual({
      payer: sponsor,
      token,
      amount: 6052n,
      logPosition: 1,
    })
  })

  test('a transfer to the fee manager that is not last is a deposit, not the fee', () => {
    const fee = feeOf(tempo, tx, receipt({ logs: [closing, transferLog(sender, sponsor, 9n)] }))
    expect(fee).toMatchObject({ payer: sender, token: null, logPosition: null })
  })

  test('without the closing log the formula gives the amount, rounded up', () => {
    expect(feeOf(tempo, tx, receipt({ feeToken: token }))).toEqual({
      payer: sender,
      token,
      amount: 6052n,
      logPosition: null,
    })
  })

  test.each([
    ['no price', { effectiveGasPrice: '0x0' }],
    ['no gas', { gasUsed: '0x0' }],
  ] as const)('a transaction with %s is free, even when its last log looks like a fee', (_, fields) => {
    const fee = feeOf(tempo, tx, receipt({ ...fields, logs: [closing], feeToken: null }))
    expect(fee).toEqual({ payer: sender, token: null, amount: 0n, logPosition: null })
  })

  test('elsewhere the sender pays gas times price in wei', () => {
    expect(feeOf(evm, native, receipt({ logs: [closing] }))).toEqual({
      payer: sender,
      token: null,
      amount: 0x49dden * 0x4a817c800n,
      logPosition: null,
    })
  })

  test('old nodes leave the effective price out: the stated price counts, and without one nothing is made up', () => {
    const old = receipt({ effectiveGasPrice: null, gasUsed: '0x2' })
    expect(feeOf(evm, { ...native, gasPrice: '0x3' }, old).amount).toBe(6n)
    expect(feeOf(evm, native, old).amount).toBeNull()
  })

  test.each([
    ['gas alone', '0x2', {}, 2_100n],
    [
      'blobs of a blob transaction',
      '0x3',
      { blobGasUsed: '0x20000', blobGasPrice: '0x2' },
      2_100n + 262_144n,
    ],
    [
      'no blobs of others, whatever the node adds',
      '0x2',
      { blobGasUsed: '0x20000', blobGasPrice: '0x2' },
      2_100n,
    ],
    ['the data of a rollup', '0x2', { l1Fee: '0x3e8', blobGasUsed: '0x20000' }, 3_100n],
  ] as const)('a native coin pays for %s', (_, type, fields, amount) => {
    const paid = receipt({ gasUsed: '0x15', effectiveGasPrice: '0x64', ...fields })
    expect(feeOf(evm, { ...tx, type }, paid)).toMatchObject({ token: null, amount })
  })

  test.each([
    [tempo, tx],
    [evm, native],
  ])('a price that makes the fee no amount tells no fee', (profile, priced) => {
    const effectiveGasPrice = `0x${'f'.repeat(64)}` as const
    const told = receipt({ effectiveGasPrice, gasUsed: '0x1fffffffffffff' })
    expect(feeOf(profile, priced, told)).toMatchObject({ payer: sender, amount: null })
    const paid = receipt({ effectiveGasPrice, gasUsed: '0x1', logs: [closing] })
    expect(feeOf(tempo, tx, paid)).toMatchObject({ payer: sponsor, amount: 6052n })
  })

  test('on Tempo a fee has nothing but gas in it', () => {
    const paid = receipt({ l1Fee: '0xffffffffffffffff' })
    expect(feeOf(tempo, tx, paid).amount).toBe(feeOf(tempo, tx, receipt({})).amount)
  })
})
