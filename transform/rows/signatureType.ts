/** Kinds of signatures of transactions, by the number in our rows and by the name in answers. */

import { isRecord } from '#primitives.ts'

/**
 * The numbers of single keys are the chain's own; an identity's is the tag of its signature (0x06,
 * TIP-1131, draft).
 */
const names = { 0: 'secp256k1', 1: 'p256', 2: 'webAuthn', 6: 'zk' } as const

export type SignatureTypeName = (typeof names)[keyof typeof names]

export const signatureTypeNames: readonly SignatureTypeName[] = Object.values(names)

/** The kind by its number; null where it has none. */
export function signatureTypeName(number: number | null): SignatureTypeName | null {
  const byNumber: Readonly<Record<number, SignatureTypeName>> = names
  return number === null ? null : (byNumber[number] ?? null)
}

/**
 * The number of what signed a transaction, of an access key's that of the key itself; null for
 * envelopes without a signature (deposits), with one of several owners (draft, since T14), or with
 * one unknown to us.
 * @param type of the envelope, as a byte
 */
export function signatureTypeOf(type: number, signature: unknown): number | null {
  if (type !== TEMPO_TYPE) return type <= LAST_PLAIN_TYPE ? 0 : null
  if (!isRecord(signature)) return null
  // Neither an identity's signature nor an access key's has a type of its own: {scheme, ..,
  // accessKeySignature}, {userAddress, signature: {type, ..}, version, keyId}.
  if (isRecord(signature['accessKeySignature'])) return 6
  const key = signature['signature']
  return numbers.get(signature['type'] ?? (isRecord(key) ? key['type'] : null)) ?? null
}

const TEMPO_TYPE = 0x76
const LAST_PLAIN_TYPE = 4

const numbers = new Map<unknown, number>(
  Object.entries(names).map(([number, name]) => [name, Number(number)]),
)
