/** Transactions of the canned chain: the envelopes and kinds of signature that Tempo's blocks are made of, by turns. */
import type { RpcTransaction } from '#ingest/block.ts'
import { keccak256Hex } from '#ingest/verify/keccak.ts'
import type { RlpWriter } from '#ingest/verify/rlp.ts'
import { writeTransaction } from '#ingest/verify/transaction.ts'
import { address, hash } from '../primitives.ts'

/** Fresh hex digits of so many bytes. */
export type Digits = (bytes: number) => string

const chainId = '0x1079'
const noHash = `0x${'00'.repeat(32)}`

/** Client data of a browser's passkey: 37 bytes of authenticator data and some JSON. */
const webAuthnBytes = 171

/** A transaction whose hash is that of its fields. Its block is filled in later, when it has a hash. */
export function cannedTransaction(
  writer: RlpWriter,
  number: number,
  index: number,
  digits: Digits,
): RpcTransaction {
  const common = {
    chainId,
    nonce: quantity(number),
    maxPriorityFeePerGas: '0x0',
    maxFeePerGas: quantity(40_000_000_000),
    gas: quantity(100_000),
    accessList: [],
    blockHash: hash(noHash),
    blockNumber: quantity(number),
    transactionIndex: quantity(index),
    from: address(`0x${digits(20)}`),
    gasPrice: quantity(20_000_000_000),
    hash: hash(noHash),
  } as const
  const target = {
    to: address(`0x20c0${digits(18)}`),
    value: '0x0',
    input: `0xa9059cbb${digits(64)}`,
  } as const
  const kind = kinds[index % kinds.length] ?? 'dynamicFee'
  const bare: RpcTransaction =
    kind === 'dynamicFee'
      ? { type: '0x2', ...common, ...target, ...scalars(digits), v: '0x1', yParity: '0x1' }
      : { type: '0x76', ...common, ...tempoParts(kind, target, digits) }
  const mark = writer.written
  writeTransaction(writer, bare)
  const own = keccak256Hex(writer.since(mark))
  writer.rewind(mark)
  return { ...bare, hash: hash(own) }
}

const kinds = ['dynamicFee', 'secp256k1', 'dynamicFee', 'p256', 'webAuthn'] as const
type TempoKind = Exclude<(typeof kinds)[number], 'dynamicFee'>

function tempoParts(kind: TempoKind, call: object, digits: Digits) {
  return {
    aaAuthorizationList: [],
    calls: [{ ...call, data: null }],
    feePayerSignature: null,
    feeToken: address(`0x20c0${digits(18)}`),
    keyAuthorization: null,
    nonceKey: '0x0',
    signature: tempoSignature(kind, digits),
    validAfter: null,
    validBefore: null,
  } as const
}

function tempoSignature(kind: TempoKind, digits: Digits): object {
  if (kind === 'secp256k1') return { type: kind, ...scalars(digits), yParity: '0x0', v: '0x0' }
  const key = { pubKeyX: `0x${digits(32)}`, pubKeyY: `0x${digits(32)}` }
  if (kind === 'p256') return { type: kind, ...scalars(digits), ...key, preHash: false }
  return { type: kind, webauthnData: `0x${digits(webAuthnBytes)}`, ...scalars(digits), ...key }
}

const scalars = (digits: Digits) =>
  ({ r: `0x1${digits(32).slice(1)}`, s: `0x1${digits(32).slice(1)}` }) as const

export const quantity = (value: number): `0x${string}` => `0x${value.toString(16)}`
