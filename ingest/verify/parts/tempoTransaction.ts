/**
 * Tempo's transaction envelope 0x76. Its signatures and authorizations come in several shapes that
 * are still growing, so they are read loosely: what has an unexpected shape is written as an empty
 * string, and then the transaction's hash does not match, which is the only verdict that counts.
 * What fits is read strictly, so that a signature's bytes have one reading: whoever sent the
 * transaction is told by its parts (sender.ts), and only its bytes are proved.
 */

import type { RpcCall, RpcTransaction } from '../../read/block.ts'
import type { RlpItem } from '../tries/rlp.ts'

/** The fields of a 0x76 envelope in the order they are hashed; the signature is one byte string. */
export function tempoFields(tx: RpcTransaction, accessList: RlpItem): readonly RlpItem[] {
  const fields: RlpItem[] = [
    tx.chainId,
    tx.maxPriorityFeePerGas,
    tx.maxFeePerGas,
    tx.gas,
    (tx.calls ?? []).map(callItem),
    accessList,
    tx.nonceKey,
    tx.nonce,
    tx.validBefore,
    tx.validAfter,
    tx.feeToken,
    feePayerItem(tx.feePayerSignature),
    listOf(tx.aaAuthorizationList).map(authorizationItem),
  ]
  if (isObject(tx.keyAuthorization)) fields.push(keyAuthorizationItem(tx.keyAuthorization))
  fields.push(signatureText(tx.signature))
  return fields
}

/**
 * Whether a 0x76 transaction has parts whose encoding later forks of Tempo may have changed: an
 * access key being authorized, delegations, a configurable account's signature, or one of a kind we
 * do not know.
 */
export function hasOpenEncoding(tx: RpcTransaction): boolean {
  if (isObject(tx.keyAuthorization) || listOf(tx.aaAuthorizationList).length > 0) return true
  const text = signatureText(tx.signature)
  return text === null || (isOfOwners(tx.signature) && text !== malformed)
}

export type Loose = Readonly<Record<string, unknown>>

function callItem(call: RpcCall): RlpItem {
  return [call.to, call.value, call.input ?? call.data]
}

function feePayerItem(signature: unknown): RlpItem {
  if (!isObject(signature)) return null
  return [parity(signature), scalar(signature['r']), scalar(signature['s'])]
}

/** A delegation signed in any of Tempo's ways; otherwise as in EIP-7702. */
function authorizationItem(authorization: unknown): RlpItem {
  if (!isObject(authorization)) return null
  const { chainId, address, nonce, signature } = authorization
  return [scalar(chainId), hex(address), scalar(nonce), signatureText(signature)]
}

/**
 * A signed grant of an access key: `[[chain, kind, key, expiry?, limits?, calls?, witness?, admin?,
 * account?], signature]`.
 */
function keyAuthorizationItem(signed: Loose): RlpItem {
  const required = [scalar(signed['chainId']), keyKinds.get(signed['keyType']) ?? null, hex(signed['keyId'])]
  const optional = [
    scalar(signed['expiry']),
    optionalList(signed['limits'], limitItem),
    optionalList(signed['allowedCalls'], scopeItem),
    hex(signed['witness']),
    signed['isAdmin'] === true ? '0x01' : null,
    hex(signed['account']),
  ]
  const present = optional.findLastIndex((item) => item !== null)
  return [[...required, ...optional.slice(0, present + 1)], signatureText(signed['signature'])]
}

const keyKinds: ReadonlyMap<unknown, string> = new Map([
  ['secp256k1', '0x0'],
  ['p256', '0x1'],
  ['webAuthn', '0x2'],
  // Draft, since T14; `multisig` is how the builds before it say the same.
  ['configurableAccount', '0x3'],
  ['multisig', '0x3'],
])

/** A spending limit; the period is left out when the limit is for once. */
function limitItem(limit: Loose): RlpItem {
  const period = scalar(limit['period'])
  const fields = [hex(limit['token']), scalar(limit['limit'])]
  return period === null || period === '0x0' ? fields : [...fields, period]
}

function scopeItem(scope: Loose): RlpItem {
  return [hex(scope['target']), listOf(scope['selectorRules']).map(ruleItem)]
}

function ruleItem(rule: unknown): RlpItem {
  if (!isObject(rule)) return null
  return [hex(rule['selector']), listOf(rule['recipients']).map(hex)]
}

/**
 * A signature as the byte string in the envelope, null for a kind we do not know, `malformed` for
 * parts that are none of their kind's. A secp256k1 signature has no leading tag, it is whatever has
 * 65 bytes; 0x01 is P-256, 0x02 WebAuthn, 0x03 and 0x04 the access key of another account. 0x05
 * (draft, since T14) are the owners of a configurable account: nodes give it as a string, the bytes
 * after the tag, also where it is another account's access key.
 */
function signatureText(signature: unknown): string | null {
  if (typeof signature === 'string') return ownersText(signature)
  if (!isObject(signature)) return null
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

/**
 * Fits no hash: no transaction has an empty signature. It is also what the writer makes of text
 * that is no hex.
 */
const malformed = '0x'

const ADDRESS_DIGITS = 2 + 2 * 20

/** Whether owners of a configurable account signed, for it or as the access key of another. */
function isOfOwners(signature: unknown): boolean {
  return typeof (isObject(signature) ? signature['signature'] : signature) === 'string'
}

function ownersText(signature: string): string | null {
  if (!signature.startsWith('0x')) return null
  const isOther = signature.length === SECP256K1_DIGITS || signature.length % 2 !== 0
  return isOther ? malformed : `0x05${signature.slice(2)}`
}

/** The text of 64 bytes; with a tag before them they are a secp256k1 signature. */
const SECP256K1_DIGITS = 2 + 2 * 64

function primitiveText(signature: Loose): string | null {
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

/** No longer than a word: otherwise its digits could be told as those of the part beside it. */
function isWord(value: unknown): boolean {
  return (
    typeof value === 'string' && value.length > 2 && value.length <= WORD_DIGITS && value.startsWith('0x')
  )
}

const WORD_DIGITS = 2 + 64

export function parity(signature: Loose): string | null {
  return scalar(signature['yParity']) ?? scalar(signature['v'])
}

/** A 256-bit number as 64 digits; nodes cut or keep its leading zeros. */
export function word(value: unknown): string {
  return (hex(value)?.slice(2) ?? '').padStart(64, '0')
}

function scalar(value: unknown): string | null {
  const text = hex(value)
  return text === null ? null : withoutLeadingZeros(text)
}

/** A number written as bytes, as a quantity. */
export function withoutLeadingZeros(text: string): string {
  if (text.charCodeAt(2) !== 48) return text
  let start = 2
  while (start < text.length - 1 && text.charCodeAt(start) === 48) start++
  return `0x${text.slice(start)}`
}

function optionalList(value: unknown, item: (entry: Loose) => RlpItem): RlpItem {
  return Array.isArray(value) ? value.map((entry) => (isObject(entry) ? item(entry) : null)) : null
}

function hex(value: unknown): string | null {
  return typeof value === 'string' && value.startsWith('0x') ? value : null
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null
}
