/**
 * Tempo's transaction envelope 0x76. Its signatures and authorizations come in several shapes that
 * are still growing, so they are read loosely: what has an unexpected shape is written as an empty
 * string, and then the transaction's hash does not match, which is the only verdict that counts.
 * What fits is read strictly, so that a signature's bytes have one reading: whoever sent the
 * transaction is told by its parts (sender.ts), and only its bytes are proved.
 */

import type { RpcTransaction, RpcTxCall } from '../../read/block.ts'
import type { RlpItem } from '../tries/rlp.ts'
import { hex, isObject, type Loose, listOf, parity, scalar } from './looseFields.ts'
import { malformed } from './primitiveSignature.ts'
import { isOfOwners, signatureText } from './tempoSignature.ts'
import { isOpenZk, isZk } from './zkSignature.ts'

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
 * access key being authorized, delegations, a configurable account's signature, an identity's of a
 * scheme or with a member that we do not know, or a signature of an unknown kind.
 */
export function hasOpenEncoding(tx: RpcTransaction): boolean {
  if (isObject(tx.keyAuthorization) || listOf(tx.aaAuthorizationList).length > 0) return true
  if (isZk(tx.signature)) return isOpenZk(tx.signature)
  const text = signatureText(tx.signature)
  return text === null || (isOfOwners(tx.signature) && text !== malformed)
}

function callItem(call: RpcTxCall): RlpItem {
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
  return [keyAuthorizationFields(signed), signatureText(signed['signature'])]
}

/** The fields that the account signs to grant an access key. */
export function keyAuthorizationFields(signed: Loose): readonly RlpItem[] {
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
  return [...required, ...optional.slice(0, present + 1)]
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

function optionalList(value: unknown, item: (entry: Loose) => RlpItem): RlpItem {
  return Array.isArray(value) ? value.map((entry) => (isObject(entry) ? item(entry) : null)) : null
}
