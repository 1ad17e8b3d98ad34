/** Signatures as they stand in a Tempo envelope. */

import { hex, isObject } from './looseFields.ts'
import { malformed, primitiveText, SECP256K1_DIGITS } from './primitiveSignature.ts'
import { isZk, zkText } from './zkSignature.ts'

/**
 * A signature as the byte string in the envelope, null for a kind we do not know, `malformed` for
 * parts that are none of their kind's. 0x03 and 0x04 are the access key of another account. 0x05
 * (draft, since T14) are the owners of a configurable account: nodes give it as a string, the bytes
 * after the tag, also where it is another account's access key. 0x06 (draft) is an identity, which
 * is nobody's access key.
 */
export function signatureText(signature: unknown): string | null {
  if (typeof signature === 'string') return ownersText(signature)
  if (!isObject(signature)) return null
  if (isZk(signature)) return zkText(signature)
  const key = signature['signature']
  if (!isObject(key) && typeof key !== 'string') return primitiveText(signature)
  const inner = typeof key === 'string' ? ownersText(key) : primitiveText(key)
  if (inner === null || inner === malformed) return inner
  const user = hex(signature['userAddress'])
  if (user?.length !== ADDRESS_DIGITS) return malformed
  // A node from before version 2 has no version in its answers.
  const tag = (signature['version'] ?? 'v1') === 'v1' ? '03' : '04'
  return `0x${tag}${user.slice(2)}${inner.slice(2)}`
}

const ADDRESS_DIGITS = 2 + 2 * 20

/** Whether owners of a configurable account signed, for it or as the access key of another. */
export function isOfOwners(signature: unknown): boolean {
  return typeof (isObject(signature) ? signature['signature'] : signature) === 'string'
}

function ownersText(signature: string): string | null {
  if (!signature.startsWith('0x')) return null
  const isOther = signature.length === SECP256K1_DIGITS || signature.length % 2 !== 0
  return isOther ? malformed : `0x05${signature.slice(2)}`
}
