import { createPublicKey, randomBytes, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { ReceiptKeys } from './ReceiptKeys.ts'
import type { ReceiptParts } from './receipt.ts'
import { verifyReceipt } from './verifyReceipt.ts'

const payer = `0x${'ab'.repeat(20)}`
const transactionHash = `0x${'cd'.repeat(32)}`
const settlement = {
  ...{ protocol: 'x402/exact', requestDigest: '12'.repeat(32), chainId: 8_453, token: payer, payer },
  ...{ amount: '3', committed: '2', refunded: '1', recipient: payer, transactionHash },
  finality: 'pending',
} as const
const parts: Omit<ReceiptParts, 'x402'> = {
  job: {
    ...{
      jobId: 'b8f0e4a2-3c1d-4e5f-8a9b-0c1d2e3f4a5b',
      planHash: '34'.repeat(32),
      status: 'succeeded',
      payer,
    },
    ...{ createdAt: '2026-11-29T00:00:00.000Z', endedAt: '2026-11-29T00:00:01.000Z' },
  },
  nodes: [],
  amounts: { currency: 'USDC', charged: '0.000003', committed: '0.000002' },
  settlement,
  transfer: null,
}
const paid = {
  ...{ chainId: 8_453, payer, transactionHash, issuedAtSeconds: 1_795_996_801 },
  resourceUrl: 'https://millrace.example/v1/jobs',
}
const keys = new ReceiptKeys([randomBytes(32)])
const receipt = keys.signed(parts, paid)
const problemsOf = (text: string) => verifyReceipt(text, null).problems.map(({ part }) => part)

test('a receipt of x402 is checked by what its specification says, without ours', () => {
  const { signature: compact } = JSON.parse(receipt).x402['offer-receipt'].info.receipt
  const [header = '', payload = '', signature = ''] = compact.split('.')
  const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())
  const { alg, kid } = read(header)
  const [, did = ''] = /^did:jwk:([\w-]+)#0$/.exec(kid) ?? []
  expect(alg).toBe('EdDSA')
  const signer = createPublicKey({ key: read(did), format: 'jwk' })
  expect(read(did).x).toBe(keys.published[0]?.x)
  expect(verify(null, Buffer.from(`${header}.${payload}`), signer, Buffer.from(signature, 'base64url'))).toBe(
    true,
  )
  expect(read(payload)).toEqual({
    ...{ version: 1, network: 'eip155:8453', resourceUrl: 'https://millrace.example/v1/jobs', payer },
    ...{ issuedAt: 1_795_996_801, transaction: transactionHash },
  })
})

test('a change of any byte of it is found', () => {
  expect(problemsOf(receipt)).toEqual([])
  const { signature } = JSON.parse(receipt).x402['offer-receipt'].info.receipt
  const from = receipt.indexOf(signature)
  for (let at = from; at < from + signature.length; at++) {
    const other = receipt[at] === 'A' ? 'B' : 'A'
    expect(problemsOf(receipt.slice(0, at) + other + receipt.slice(at + 1))).not.toEqual([])
  }
})

test('a receipt of another payment is none of this job, though the same key signed it', () => {
  for (const more of [{ payer: `0x${'ef'.repeat(20)}` }, { chainId: 1 }, { transactionHash: null }])
    expect(problemsOf(keys.signed(parts, { ...paid, ...more }))).toEqual(['x402'])
  expect(problemsOf(keys.signed({ ...parts, settlement: null }, paid))).toEqual(['x402'])
  expect(problemsOf(keys.signed(parts, null))).toEqual([])
})
