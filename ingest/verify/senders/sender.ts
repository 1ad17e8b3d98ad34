/**
 * The account that signed a transaction. Its block's root proves a transaction's bytes, and the
 * signature is among them; `from` is not, it is what the node made of them.
 */

import type { Hex } from '#primitives.ts'
import type { RpcTransaction } from '../../read/block.ts'
import { isObject, type Loose, parity, word } from '../parts/looseFields.ts'
import { keccak256 } from '../tries/keccak.ts'
import { isP256OfDigest, isP256OfMessage } from './p256.ts'
import { addressOf, recoverAddress } from './secp256k1.ts'
import { legacySignature, signingHash } from './signingHash.ts'
import { readAssertion } from './webAuthn.ts'

/**
 * - an address: this account signed it;
 * - `nobody`: its signature does not hold, so it is a transaction of no chain;
 * - `unprovable`: it is not signed, or in a way that we do not know.
 */
export type Sender = Hex | 'nobody' | 'unprovable'

/** The sender of a transaction whose fields give its hash. Takes 0.1 to 0.3 ms. */
export function recoverSender(tx: RpcTransaction): Sender {
  if (tx.type === '0x76') return tempoSender(tx)
  const odd = tx.type === '0x0' ? legacySignature(tx.v)?.parity : parityOf(tx.yParity ?? tx.v)
  const [r, s] = [word(tx.r), word(tx.s)]
  if (odd === undefined || isPlaceholder(r, s)) return 'unprovable'
  const hash = signingHash(tx)
  return hash === null ? 'unprovable' : (recoverAddress(hash, r, s, odd) ?? 'nobody')
}

/**
 * The account that a Tempo signature states: by the name of its owner, or by a public key. It costs
 * a hash where recovering costs a hundred, and proves as much as long as the chain admits no
 * signature that does not hold. Null for those that state none.
 */
export function statedSender({ type, signature }: RpcTransaction): Hex | null {
  if (type !== '0x76' || !isObject(signature)) return null
  // A string: owners of a configurable account are the access key (draft, since T14).
  if (isObject(signature['signature']) || typeof signature['signature'] === 'string')
    return textOf(signature['userAddress'])
  if (signature['type'] !== 'p256' && signature['type'] !== 'webAuthn') return null
  return addressOf(Buffer.from(word(signature['pubKeyX']) + word(signature['pubKeyY']), 'hex'))
}

function tempoSender(tx: RpcTransaction): Sender {
  const { signature } = tx
  const hash = isObject(signature) ? signingHash(tx) : null
  if (hash === null || !isObject(signature)) return 'unprovable'
  const inner = signature['signature']
  if (!isObject(inner)) return primitiveSigner(signature, hash)
  const account = textOf(signature['userAddress'])
  if (account === null) return 'unprovable'
  const signer = primitiveSigner(inner, boundHash(signature['version'], hash, account))
  // Whether the account ever admitted the key is the chain's state; that the key signed can be
  // told.
  const key = textOf(signature['keyId'])
  if (signer === 'unprovable' || signer === 'nobody') return signer
  return key === null || key === signer ? account : 'nobody'
}

/** Since version 2 an access key signs for which account it acts. */
function boundHash(version: unknown, hash: Uint8Array, account: Hex): Uint8Array {
  if ((version ?? 'v1') === 'v1') return hash
  return keccak256(Buffer.concat([accessKeyPrefix, hash, Buffer.from(account.slice(2), 'hex')]))
}

const accessKeyPrefix = Buffer.of(4)

function primitiveSigner(signature: Loose, hash: Uint8Array): Sender {
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
      const data = Buffer.from(textOf(signature['webauthnData'])?.slice(2) ?? '', 'hex')
      const message = readAssertion(data, Buffer.from(hash).toString('base64url'))
      if (message === 'unknown') return 'unprovable'
      return ofKey(message !== 'other' && isP256OfMessage(message, { r, s, x, y }))
    }
    default:
      return 'unprovable'
  }
}

const parityOf = (text: string | null | undefined): 0 | 1 | undefined =>
  text === '0x0' ? 0 : text === '0x1' ? 1 : undefined

/**
 * What chains put where nobody signed: zeros (Tempo's system transactions, Polygon's state sync),
 * ones (transactions that came over a bridge on Moonbeam). Other small numbers are signatures that
 * somebody chose, of accounts without a key (EIP-4788).
 */
const isPlaceholder = (r: string, s: string): boolean => r === s && placeholder.test(r)
const placeholder = /^0{63}[01]$/

/** Text of a signature's field; nodes differ in the case of its digits. */
function textOf(value: unknown): Hex | null {
  return typeof value === 'string' && value.startsWith('0x') ? `0x${value.slice(2).toLowerCase()}` : null
}
