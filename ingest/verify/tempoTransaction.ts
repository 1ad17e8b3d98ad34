/**
 * Tempo's transaction envelope 0x76. Its signatures and authorizations come in several shapes that are still growing,
 * so they are read loosely: what has an unexpected shape is written as an empty string, and then the transaction's
 * hash does not match, which is the only verdict that counts.
 */

import type { RpcCall, RpcTransaction } from '../block.ts'
import type { RlpItem } from './rlp.ts'

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
 * Whether a 0x76 transaction has parts whose encoding later forks of Tempo may have changed: an access key being
 * authorized, delegations, a multisig, or a signature of a kind we do not know.
 */
export function hasOpenEncoding(tx: RpcTransaction): boolean {
  if (isObject(tx.keyAuthorization) || listOf(tx.aaAuthorizationList).length > 0) return true
  return !isObject(tx.signature) || signatureText(tx.signature) === null
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
  return [hex(chainId), hex(address), hex(nonce), signatureText(signature)]
}

/** A signed grant of an access key: `[[chain, kind, key, expiry?, limits?, calls?, witness?, admin?, account?], signature]`. */
function keyAuthorizationItem(signed: Loose): RlpItem {
  const required = [hex(signed['chainId']), keyKinds.get(signed['keyType']) ?? null, hex(signed['keyId'])]
  const optional = [
    hex(signed['expiry']),
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
  ['multisig', '0x3'],
])

/** A spending limit; the period is left out when the limit is for once. */
function limitItem(limit: Loose): RlpItem {
  const period = hex(limit['period'])
  const fields = [hex(limit['token']), hex(limit['limit'])]
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
 * A signature as the byte string in the envelope, or null for a kind we do not know. A secp256k1 signature has no
 * leading tag; 0x01 is P-256, 0x02 WebAuthn, 0x03 and 0x04 the access key of another account, 0x05 a multisig, which
 * nodes give as the bytes after the tag.
 */
function signatureText(signature: unknown): string | null {
  if (typeof signature === 'string') return signature.startsWith('0x') ? `0x05${signature.slice(2)}` : null
  if (!isObject(signature)) return null
  if (!isObject(signature['signature'])) return primitiveText(signature)
  const inner = primitiveText(signature['signature'])
  const user = signature['userAddress']
  if (inner === null || typeof user !== 'string') return null
  // A node from before version 2 has no version in its answers.
  const tag = (signature['version'] ?? 'v1') === 'v1' ? '03' : '04'
  return `0x${tag}${user.slice(2)}${inner.slice(2)}`
}

/** By parity. Any other parity gives a signature without its last byte, which no hash fits. */
const recoveryBytes: ReadonlyMap<string | null, string> = new Map([
  ['0x0', '1b'],
  ['0x1', '1c'],
])

function primitiveText(signature: Loose): string | null {
  const rs = word(signature['r']) + word(signature['s'])
  const key = word(signature['pubKeyX']) + word(signature['pubKeyY'])
  switch (signature['type']) {
    case 'secp256k1':
      return `0x${rs}${recoveryBytes.get(parity(signature)) ?? ''}`
    case 'p256':
      return `0x01${rs}${key}${signature['preHash'] === true ? '01' : '00'}`
    case 'webAuthn':
      return `0x02${hex(signature['webauthnData'])?.slice(2) ?? ''}${rs}${key}`
    default:
      return null
  }
}

export function parity(signature: Loose): string | null {
  return hex(signature['yParity']) ?? hex(signature['v'])
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
