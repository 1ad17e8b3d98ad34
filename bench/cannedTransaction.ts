/**
 * Transactions of the canned chain: the envelopes and kinds of signature that Tempo's blocks are
 * made of, by turns.
 */
import { hash as digest } from 'node:crypto'
import type { RpcTransaction } from '#ingest/read/block.ts'
import { writeTransaction } from '#ingest/verify/parts/transaction.ts'
import { addressOf } from '#ingest/verify/senders/secp256k1.ts'
import { signingHash } from '#ingest/verify/senders/signingHash.ts'
import { keccak256Hex } from '#ingest/verify/tries/keccak.ts'
import type { RlpWriter } from '#ingest/verify/tries/rlp.ts'
import { address, hash } from '#primitives.ts'
import { type CannedKey, KeySequence } from './keySequence.ts'

/** Fresh hex digits of so many bytes. */
export type Digits = (bytes: number) => string

const chainId = '0x1079'
const noHash = `0x${'00'.repeat(32)}`

/**
 * A transaction whose hash is that of its fields, signed by a new key. Its block is filled in
 * later, when it has a hash.
 */
export function cannedTransaction(
  writer: RlpWriter,
  number: number,
  index: number,
  digits: Digits,
  keys: CannedKeys,
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
    from: address(`0x${'00'.repeat(20)}`),
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
      ? { type: '0x2', ...common, ...target }
      : { type: '0x76', ...common, ...tempoParts(target, digits) }
  const key = (kind === 'p256' || kind === 'webAuthn' ? keys.p256 : keys.secp256k1).next()
  const signed = { ...bare, ...signatureOf(kind, bare, key), from: address(addressOf(key.point)) }
  const mark = writer.written
  writeTransaction(writer, signed)
  const own = keccak256Hex(writer.since(mark))
  writer.rewind(mark)
  return { ...signed, hash: hash(own) }
}

/** One chain's keys, by curve. */
export type CannedKeys = ReturnType<typeof cannedKeys>
export const cannedKeys = () => ({
  secp256k1: new KeySequence('secp256k1'),
  p256: new KeySequence('prime256v1'),
})

const kinds = ['dynamicFee', 'secp256k1', 'dynamicFee', 'p256', 'webAuthn'] as const
type Kind = (typeof kinds)[number]

function tempoParts(call: object, digits: Digits) {
  return {
    aaAuthorizationList: [],
    calls: [{ ...call, data: null }],
    feePayerSignature: null,
    feeToken: address(`0x20c0${digits(18)}`),
    keyAuthorization: null,
    nonceKey: '0x0',
    validAfter: null,
    validBefore: null,
  } as const
}

/** The fields of a true signature. */
function signatureOf(kind: Kind, tx: RpcTransaction, key: CannedKey): Partial<RpcTransaction> {
  const payload = signingHash(tx)
  if (payload === null) throw new Error(`a transaction of type ${tx.type} is not signed`)
  const point = Buffer.from(key.point).toString('hex')
  const publicKey = { pubKeyX: `0x${point.slice(0, 64)}`, pubKeyY: `0x${point.slice(64)}` }
  switch (kind) {
    case 'dynamicFee': {
      const { r, s, yParity } = key.sign(payload)
      return { r, s, v: yParity, yParity }
    }
    case 'secp256k1': {
      const signature = key.sign(payload)
      return { signature: { type: kind, ...signature, v: signature.yParity } }
    }
    case 'p256': {
      const { r, s } = key.sign(payload)
      return { signature: { type: kind, r, s, ...publicKey, preHash: false } }
    }
    case 'webAuthn': {
      const challenge = Buffer.from(payload).toString('base64url')
      const client = `{"type":"webauthn.get","challenge":"${challenge}","origin":"https://wallet.test","crossOrigin":false}`
      const data = Buffer.concat([authenticatorData, Buffer.from(client)])
      const { r, s } = key.sign(sha256(Buffer.concat([authenticatorData, sha256(client)])))
      return { signature: { type: kind, webauthnData: `0x${data.toString('hex')}`, r, s, ...publicKey } }
    }
  }
}

/** Hash of the site, flags, counter. */
const authenticatorData = Buffer.concat([sha256('wallet.test'), Buffer.of(5, 0, 0, 0, 0)])

function sha256(data: string | Uint8Array): Buffer {
  return digest('sha256', data, 'buffer')
}

export const quantity = (value: number): `0x${string}` => `0x${value.toString(16)}`
