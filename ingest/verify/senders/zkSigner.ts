/** The account of an identity that signed by Tempo's 0x06 (TIP-1131, draft). */

import type { Hex } from '#primitives.ts'
import { isObject, type Loose } from '../parts/looseFields.ts'
import { rlpOf, zkFields, zkNamespace } from '../parts/zkSignature.ts'
import { keccak256, keccak256Hex } from '../tries/keccak.ts'
import { primitiveSigner, type Sender } from './primitiveSigner.ts'

/**
 * The account that the fields of the signature name, whoever made it; null for a scheme that we do
 * not know, and for fields of another length.
 */
export function zkAddress(signature: Loose): Hex | null {
  const namespace = zkNamespace(signature)
  const fields = zkFields(signature)
  if (namespace === null || fields === null) return null
  const [, publisherId, issuer, , addressSeed] = fields
  const words = [publisherId, issuer, addressSeed].map((text) => Buffer.from(String(text).slice(2), 'hex'))
  return `0x${keccak256Hex(Buffer.concat([Buffer.of(TAG, namespace), ...words])).slice(-40)}`
}

/**
 * The account, if its access key signed the digest. That the proof binds this key to the identity,
 * and that the issuer's key was published, is the chain's word.
 */
export function zkSigner(signature: Loose, digest: Uint8Array): Sender {
  const account = zkAddress(signature)
  const signer = account === null ? 'unprovable' : accessKeyOf(signature, digest)
  return account === null || signer === 'nobody' || signer === 'unprovable' ? signer : account
}

const TAG = 6

/** The access key that signed the digest for the identity, as an account of its own. */
export function accessKeyOf(signature: Loose, digest: Uint8Array): Sender {
  const fields = zkFields(signature)
  const accessKey = signature['accessKeySignature']
  if (fields === null || !isObject(accessKey)) return 'unprovable'
  const signed = keccak256(Buffer.concat([domain, digest, keccak256(rlpOf(fields))]))
  return primitiveSigner(accessKey, signed)
}

const domain = Buffer.from('tempo:zk-signature')
