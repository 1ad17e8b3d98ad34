/**
 * The account that signed a transaction. Its block's root proves a transaction's bytes, and the
 * signature is among them; `from` is not, it is what the node made of them.
 */

import type { Hex } from '#primitives.ts'
import type { RpcTransaction } from '../../read/block.ts'
import { isObject, type Loose, word } from '../parts/looseFields.ts'
import { keyAuthorizationFields } from '../parts/tempoTransaction.ts'
import { isZk, rlpOf } from '../parts/zkSignature.ts'
import { keccak256 } from '../tries/keccak.ts'
import { ownersSigner } from './ownersSigner.ts'
import { fieldHex, parityOf, primitiveSigner, type Sender } from './primitiveSigner.ts'
import { addressOf, recoverAddress } from './secp256k1.ts'
import { legacySignature, signingHash } from './signingHash.ts'
import { zkAddress, zkSigner } from './zkSigner.ts'

/**
 * The sender of a transaction whose fields give its hash. Takes 0.1 to 0.3 ms for each key that
 * signed.
 */
export function recoverSender(tx: RpcTransaction): Sender {
  if (tx.type === '0x76') return tempoSender(tx)
  const odd = tx.type === '0x0' ? legacySignature(tx.v)?.parity : parityOf(tx.yParity ?? tx.v)
  const [r, s] = [word(tx.r), word(tx.s)]
  if (odd === undefined || isPlaceholder(r, s)) return 'unprovable'
  const hash = signingHash(tx)
  return hash === null ? 'unprovable' : (recoverAddress(hash, r, s, odd) ?? 'nobody')
}

/**
 * The account that a Tempo signature states: by the name of its owner, a public key, or an identity.
 * It costs a hash where recovering costs a hundred, and proves as much as long as the chain admits
 * no signature that does not hold. Null for those that state none.
 */
export function statedSender({ type, signature }: RpcTransaction): Hex | null {
  if (type !== '0x76' || !isObject(signature)) return null
  if (isZk(signature)) return zkAddress(signature)
  // A string: owners of a configurable account are the access key (draft, since T14).
  if (isObject(signature['signature']) || typeof signature['signature'] === 'string')
    return fieldHex(signature['userAddress'])
  if (signature['type'] !== 'p256' && signature['type'] !== 'webAuthn') return null
  return addressOf(Buffer.from(word(signature['pubKeyX']) + word(signature['pubKeyY']), 'hex'))
}

function tempoSender(tx: RpcTransaction): Sender {
  const { signature, keyAuthorization: grant } = tx
  const hash = isObject(signature) || typeof signature === 'string' ? signingHash(tx) : null
  if (hash === null) return 'unprovable'
  if (!isObject(signature) || !isObject(signature['signature'])) return rootSigner(signature, hash)
  const account = fieldHex(signature['userAddress'])
  if (account === null) return 'unprovable'
  const signer = primitiveSigner(signature['signature'], boundHash(signature['version'], hash, account))
  // Whether the account ever admitted the key is the chain's state; that the key signed can be
  // told.
  const key = fieldHex(signature['keyId'])
  if (signer === 'unprovable' || signer === 'nobody') return signer
  if (key !== null && key !== signer) return 'nobody'
  return isObject(grant) && isOfAnother(grant, signer, account) ? 'nobody' : account
}

/** The account that signed 32 bytes itself, by its key, its owners or its identity. */
function rootSigner(signature: unknown, digest: Uint8Array): Sender {
  if (typeof signature === 'string') return ownersSigner(signature, digest)
  if (!isObject(signature)) return 'unprovable'
  return isZk(signature) ? zkSigner(signature, digest) : primitiveSigner(signature, digest)
}

/**
 * Whether another than the account granted the key that signs, in the same transaction. An identity
 * is nobody's access key, so its grant is for its own account alone; with any other kind an account's
 * admin key may grant too (since T6).
 */
function isOfAnother(grant: Loose, key: Hex, account: Hex): boolean {
  if (!isZk(grant['signature']) || fieldHex(grant['keyId']) !== key) return false
  const grantor = grantingAccount(grant)
  return grantor !== 'unprovable' && grantor !== account
}

/** The account that signed the grant of an access key (`keyAuthorization`). */
export function grantingAccount(grant: Loose): Sender {
  return rootSigner(grant['signature'], keccak256(rlpOf(keyAuthorizationFields(grant))))
}

/** Since version 2 an access key signs for which account it acts. */
function boundHash(version: unknown, hash: Uint8Array, account: Hex): Uint8Array {
  if ((version ?? 'v1') === 'v1') return hash
  return keccak256(Buffer.concat([accessKeyPrefix, hash, Buffer.from(account.slice(2), 'hex')]))
}

const accessKeyPrefix = Buffer.of(4)

/**
 * A chain's stand-in where nobody signed: zeros (Tempo's system transactions, Polygon's state sync), ones
 * (transactions that came over a bridge on Moonbeam). Other small numbers are signatures that somebody
 * chose, of accounts without a key (EIP-4788).
 */
const isPlaceholder = (r: string, s: string): boolean => r === s && placeholder.test(r)
const placeholder = /^0{63}[01]$/
