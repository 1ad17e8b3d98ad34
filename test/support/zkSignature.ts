/**
 * Signatures of identities (0x06 of TIP-1131, draft), made with viem from the text of the TIP: their
 * proof is none, as only the chain checks it.
 */
import { readFileSync } from 'node:fs'
import { concat, fromRlp, type Hex, keccak256, numberToHex, stringToHex, toRlp } from 'viem'
import { Account, Transaction } from 'viem/tempo'
import type { RpcTransaction } from '#ingest/read/block.ts'
import type { JsonObject } from './builtBlock.ts'

const { z_SignatureEnvelope: SignatureEnvelope } = Transaction

export interface ZkIdentity {
  /** 1 sign-in, 2 passport; no other is known. */
  readonly scheme: number
  readonly publisherId: Hex
  readonly issuer: Hex
  readonly addressSeed: Hex
}

export interface ZkSigned {
  readonly bytes: Hex
  /** As a node tells it. */
  readonly json: JsonObject
}

/** The account; of an unknown scheme as if its namespace were the scheme's number. */
export const accountOf = ({ scheme, publisherId, issuer, addressSeed }: ZkIdentity): Hex =>
  `0x${keccak256(concat(['0x06', numberToHex(scheme, { size: 1 }), publisherId, issuer, addressSeed])).slice(-40)}`

/** Any account of viem's that can sign a hash. */
export interface HashSigner {
  sign(given: { readonly hash: Hex }): Promise<Hex>
}

export const accessKeys = (): readonly HashSigner[] => [
  Account.fromSecp256k1(`0x${'51'.repeat(32)}`),
  Account.fromP256(`0x${'52'.repeat(32)}`),
  Account.fromHeadlessWebAuthn(`0x${'53'.repeat(32)}`, {
    rpId: 'wallet.test',
    origin: 'https://wallet.test',
  }),
]

/** The identity's signature with its access key instead of `digest`. */
export async function signZk(identity: ZkIdentity, key: HashSigner, digest: Hex): Promise<ZkSigned> {
  const { scheme, publisherId, issuer, addressSeed } = identity
  const keyHash: Hex = `0x00${'07'.repeat(31)}`
  const proof: Hex = `0x00${'ab'.repeat(255)}`
  const [issuedAt, validUntil] = ['0x6ac6aa54', '0x6ac6ac70'] as const
  const told = { publisherId, issuer, keyHash, addressSeed, issuedAt, validUntil, proof }
  const schemeBytes = scheme === 0 ? '0x' : numberToHex(scheme, { size: 1 })
  const fields: Hex[] = [schemeBytes, publisherId, issuer, keyHash, addressSeed]
  fields.push(issuedAt, validUntil, proof)
  const signed = keccak256(concat([stringToHex('tempo:zk-signature'), digest, keccak256(toRlp(fields))]))
  const accessKeySignature = await key.sign({ hash: signed })
  const parts = SignatureEnvelope.toRpc(SignatureEnvelope.deserialize(accessKeySignature))
  return {
    bytes: concat(['0x06', toRlp([...fields, accessKeySignature])]),
    json: { scheme: numberToHex(scheme), ...told, accessKeySignature: JSON.parse(JSON.stringify(parts)) },
  }
}

/** A transaction of a development node whose access key an identity granted. */
export const zkVector: {
  readonly rawTransaction: Hex
  readonly hash: Hex
  readonly from: Hex
  readonly accessKey: Hex
  readonly keyAuthorizationDigestSignedByAccessKey: Hex
  readonly keyAuthorizationJson: JsonObject & { readonly signature: JsonObject }
  readonly signatureJson: JsonObject
  readonly addresses: readonly (ZkIdentity & { readonly address: Hex })[]
} = JSON.parse(readFileSync(new URL('../data/signatures/tempo-zk-signature.json', import.meta.url), 'utf8'))

/** It as a node tells it. */
export function zkTransaction(): RpcTransaction {
  const [chainId, tip, price, gas, calls] = fromRlp(`0x${zkVector.rawTransaction.slice(4)}`) as Hex[]
  const [[to, , input]] = calls as unknown as [[Hex, Hex, Hex]]
  const number = (bytes: Hex | undefined) => (bytes === '0x' || !bytes ? '0x0' : numberToHex(BigInt(bytes)))
  return {
    ...{ type: '0x76', hash: zkVector.hash, from: zkVector.from, chainId: number(chainId) },
    ...{ maxPriorityFeePerGas: number(tip), maxFeePerGas: number(price), gas: number(gas) },
    ...{ calls: [{ to, value: '0x0', input, data: null }], accessList: [], nonceKey: '0x0', nonce: '0x0' },
    ...{ validBefore: null, validAfter: null, feeToken: '0x20c0000000000000000000000000000000000000' },
    ...{ feePayerSignature: null, aaAuthorizationList: [], keyAuthorization: zkVector.keyAuthorizationJson },
    signature: zkVector.signatureJson,
  } as unknown as RpcTransaction
}
