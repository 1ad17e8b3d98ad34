import { describe, expect, test } from 'vitest'
import type { RpcReceipt, RpcTransaction } from '#ingest/read/block.ts'
import { address, hash } from '#primitives.ts'
import { resolveRow, scanned } from '#test/support/scanned.ts'
import type { StoredFee } from './fee.ts'
import { txRow } from './txRow.ts'

const word = hash(`0x${'00'.repeat(32)}`)
const sender = address(`0x${'a1'.repeat(20)}`)
const target = address(`0x${'b2'.repeat(20)}`)
const free: StoredFee = { payer: null, token: null, amount: 0n, logPosition: null }

const place = { blockNumber: 16, timestampSeconds: 1_769_905_903, txIndex: 0 }

const plain: RpcTransaction = {
  hash: word,
  type: '0x2',
  blockHash: word,
  blockNumber: '0x10',
  transactionIndex: '0x0',
  from: sender,
  to: target,
  gas: '0x5208',
  nonce: '0x1',
  input: '0xa9059cbb',
  value: '0x7',
}

const batched: RpcTransaction = {
  hash: word,
  type: '0x76',
  blockHash: word,
  blockNumber: '0x10',
  transactionIndex: '0x0',
  from: sender,
  gas: '0x5208',
  nonce: '0x0',
  nonceKey: '0x68',
  calls: [
    { to: target, value: '0x0', input: '0xa9059cbb', data: null },
    { to: null, value: null, input: null, data: '0x6001' },
  ],
  signature: { type: 'p256' },
}

const receipt: RpcReceipt = {
  transactionHash: word,
  transactionIndex: '0x0',
  blockHash: word,
  blockNumber: '0x10',
  from: sender,
  to: target,
  gasUsed: '0x5208',
  cumulativeGasUsed: '0x5208',
  logs: [],
}

const rowOf = (tx: RpcTransaction, fields: Partial<RpcReceipt> = {}) => {
  const { bytes, list } = scanned([{ ...receipt, ...fields }])
  const [only] = list
  if (!only) throw new Error('one receipt was made')
  return resolveRow('txs', txRow(place, tx, only, free), bytes)
}

describe('txRow', () => {
  test('an ordinary transaction has one call, no lane and a plain signature', () => {
    expect(rowOf(plain)).toMatchObject({
      type: 2,
      to: target,
      input: '0xa9059cbb',
      value: 7n,
      calls: null,
      call_count: 1,
      nonce_key: null,
      signature_type: 0,
      status: null,
      effective_gas_price: null,
    })
    expect(rowOf({ ...plain, to: null }).to).toBeNull()
  })

  test('what the envelope does not have is not believed', () => {
    const other = address(`0x${'c3'.repeat(20)}`)
    const told = { to: other, value: '0x99', input: '0x1234' } as const
    expect(rowOf({ ...batched, ...told }, { to: other })).toMatchObject({
      to: target,
      value: 0n,
      input: '0x',
    })
    const creation = { ...batched, calls: batched.calls?.slice(1) ?? [] }
    expect(rowOf({ ...creation, ...told }, { to: other }).to).toBeNull()
    const prices = { maxFeePerGas: '0x7', maxPriorityFeePerGas: '0x8' } as const
    for (const type of ['0x0', '0x1'] as const)
      expect(rowOf({ ...plain, ...prices, type })).toMatchObject({
        max_fee_per_gas: null,
        max_priority_fee_per_gas: null,
      })
    expect(rowOf({ ...plain, ...prices })).toMatchObject({
      max_fee_per_gas: 7n,
      max_priority_fee_per_gas: 8n,
    })
    const lane = { feeToken: other, nonceKey: '0x5', calls: batched.calls, validBefore: '0x9' } as const
    expect(rowOf({ ...plain, ...lane } as RpcTransaction)).toEqual(rowOf(plain))
  })

  test("Tempo's transaction keeps its calls as text; input is empty and the recipient is the first call's", () => {
    const row = rowOf(batched, { status: '0x1' })
    expect(row).toMatchObject({ type: 0x76, to: target, input: '0x', value: 0n, call_count: 2, status: 1 })
    expect(row.nonce_key).toBe(`0x${'68'.padStart(64, '0')}`)
    expect(JSON.parse(String(row.calls))).toEqual([
      { to: target, value: '0x0', input: '0xa9059cbb' },
      { to: null, value: '0x0', input: '0x6001' },
    ])
  })

  test.each([
    [{ type: 'secp256k1' }, 0],
    [{ type: 'p256' }, 1],
    [{ type: 'webAuthn' }, 2],
    [{ userAddress: sender, version: 'v2', keyId: target, signature: { type: 'webAuthn' } }, 2],
    [{ scheme: '0x1', accessKeySignature: { type: 'p256' } }, 6],
    [{ scheme: '0x9', accessKeySignature: { type: 'ed25519' } }, 6],
    [{ scheme: '0x1', accessKeySignature: null }, null],
    [{ type: 'multisig' }, null],
    ['0xc101', null],
    [null, null],
  ])('signature %o is of type %s', (signature, type) => {
    expect(rowOf({ ...batched, signature }).signature_type).toBe(type)
  })

  test('a deposit has no signature', () => {
    const { nonce: _, ...deposit } = plain
    expect(rowOf({ ...deposit, type: '0x7e' })).toMatchObject({ signature_type: null, nonce: null })
  })

  test('a validity bound of all 64 bits is exact', () => {
    const row = rowOf({ ...batched, validBefore: '0xffffffffffffffff', validAfter: '0x699c1105' })
    expect(row.valid_before).toBe(2n ** 64n - 1n)
    expect(row.valid_after).toBe(0x699c1105)
  })
})
