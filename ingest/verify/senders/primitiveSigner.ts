/** The account of the key that made a signature. */

import type { Hex } from '#primitives.ts'
import { type Loose, parity, word } from '../parts/looseFields.ts'
import { isP256OfDigest, isP256OfMessage } from './p256.ts'
import { addressOf, recoverAddress } from './secp256k1.ts'
import { readAssertion } from './webAuthn.ts'

/**
 * - an address: this account signed it;
 * - `nobody`: its signature does not hold, so it is a transaction of no chain;
 * - `unprovable`: it is not signed, or in a way that we do not know.
 */
export type Sender = Hex | 'nobody' | 'unprovable'

/** By a signature of Tempo that one key made, of 32 bytes. Takes 0.1 to 0.3 ms. */
export function primitiveSigner(signature: Loose, hash: Uint8Array): Sender {
  const [r, s] = [word(signature['r']), word(signature['s'])]
  const [x, y] = [word(signature['pubKeyX']), word(signature['pubKeyY'])]
  const ofKey = (isSigned: boolean): Sender => (isSigned ? addressOf(Buffer.from(x + y, 'hex')) : 'nobody')
  if (![r, s, x, y].every((number) => /^[0-9a-f]{64}$/i.test(number))) return 'nobody'
  switch (signature['type']) {
    case 'secp256k1': {
      const odd = parityOf(parity(signature))
      return odd === undefined ? 'unprovable' : (recoverAddress(hash, r, s, odd) ?? 'nobody')
    }
    case 'p256':
      return ofKey((signature['preHash'] === true ? isP256OfMessage : isP256OfDigest)(hash, { r, s, x, y }))
    case 'webAuthn': {
      const data = Buffer.from(fieldHex(signature['webauthnData'])?.slice(2) ?? '', 'hex')
      const message = readAssertion(data, Buffer.from(hash).toString('base64url'))
      if (message === 'unknown') return 'unprovable'
      return ofKey(message !== 'other' && isP256OfMessage(message, { r, s, x, y }))
    }
    default:
      return 'unprovable'
  }
}

export const parityOf = (text: string | null | undefined): 0 | 1 | undefined =>
  text === '0x0' ? 0 : text === '0x1' ? 1 : undefined

/** Text of a signature's field; nodes differ in the case of its digits. */
export function fieldHex(value: unknown): Hex | null {
  return typeof value === 'string' && value.startsWith('0x') ? `0x${value.slice(2).toLowerCase()}` : null
}
