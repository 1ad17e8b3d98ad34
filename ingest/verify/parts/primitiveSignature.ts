/** A signature that one key makes, as the byte string in a Tempo envelope. */

import { hex, isWord, type Loose, parity, word } from './looseFields.ts'

/**
 * Null for a kind we do not know, `malformed` for parts that are none of their kind's. A secp256k1
 * signature has no leading tag, it is whatever has 65 bytes; 0x01 is P-256, 0x02 WebAuthn.
 */
export function primitiveText(signature: Loose): string | null {
  const { type, r, s, pubKeyX, pubKeyY } = signature
  if (type !== 'secp256k1' && type !== 'p256' && type !== 'webAuthn') return null
  if (!isWord(r) || !isWord(s)) return malformed
  const rs = word(r) + word(s)
  if (type === 'secp256k1') {
    const recovery = recoveryBytes.get(parity(signature))
    return recovery === undefined ? malformed : `0x${rs}${recovery}`
  }
  if (!isWord(pubKeyX) || !isWord(pubKeyY)) return malformed
  const key = word(pubKeyX) + word(pubKeyY)
  if (type === 'p256') return `0x01${rs}${key}${signature['preHash'] === true ? '01' : '00'}`
  const data = hex(signature['webauthnData'])
  return data === null || data.length % 2 !== 0 ? malformed : `0x02${data.slice(2)}${rs}${key}`
}

/** By parity. */
const recoveryBytes: ReadonlyMap<string | null, string> = new Map([
  ['0x0', '1b'],
  ['0x1', '1c'],
])

/**
 * Fits no hash: no transaction has an empty signature. It is also what the writer makes of text
 * that is no hex.
 */
export const malformed = '0x'

/** The text of 64 bytes; with a tag before them they are a secp256k1 signature. */
export const SECP256K1_DIGITS = 2 + 2 * 64
