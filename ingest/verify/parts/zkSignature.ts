/**
 * Tempo's signature 0x06 (TIP-1131, draft): an issuer attests an identity, a zero-knowledge proof
 * binds it to an access key, and that key signs. The proof is the chain's to check: neither the
 * bytes nor the account need it.
 */

import { type RlpItem, RlpWriter } from '../tries/rlp.ts'
import { hex, isObject, type Loose, scalar } from './looseFields.ts'
import { malformed, primitiveText } from './primitiveSignature.ts'

/** Whether a signature has the parts of an identity's, which a node gives without a `type`. */
export function isZk(signature: unknown): signature is Loose {
  return isObject(signature) && (signature['accessKeySignature'] ?? null) !== null
}

/**
 * The signature as the byte string in the envelope, null for an access key of a kind we do not know,
 * `malformed` for parts of another length than the encoding has.
 */
export function zkText(signature: Loose): string | null {
  const accessKey = signature['accessKeySignature']
  const inner = isObject(accessKey) ? primitiveText(accessKey) : null
  if (inner === null || inner === malformed) return inner
  const fields = zkFields(signature)
  return fields === null ? malformed : `0x06${rlpOf([...fields, inner]).toString('hex')}`
}

/** All fields but the last, as the access key signs them; null where one has another length. */
export function zkFields(signature: Loose): readonly RlpItem[] | null {
  const { publisherId, issuer, keyHash, addressSeed, proof } = signature
  const [scheme, issuedAt, validUntil] = ['scheme', 'issuedAt', 'validUntil'].map((name) =>
    scalar(signature[name]),
  )
  const fields = [scheme, publisherId, issuer, keyHash, addressSeed, issuedAt, validUntil, proof].map(hex)
  return fields.every((field, at) => shapes[at]?.test(field ?? '')) ? fields : null
}

/** Widths of the fields: words and the proof keep their leading zeros, numbers have none. */
const shapes = [uint(8), bytes(32), bytes(32), bytes(32), bytes(32), uint(64), uint(64), bytes(256)]

function uint(bits: number): RegExp {
  return new RegExp(`^0x[0-9a-f]{1,${bits / 4}}$`)
}

function bytes(length: number): RegExp {
  return new RegExp(`^0x[0-9a-f]{${2 * length}}$`)
}

/**
 * The namespace of the accounts of a scheme, a byte: schemes of one name the same accounts. Null for
 * a scheme that we do not know, whose accounts nobody here can name.
 */
export function zkNamespace(signature: Loose): number | null {
  return namespaces.get(scalar(signature['scheme'])) ?? null
}

const namespaces: ReadonlyMap<string | null, number> = new Map([
  // Sign-in by OpenID Connect (TIP-1133).
  ['0x1', 1],
  // Passports (TIP-1142), which only approve as owners of a configurable account.
  ['0x2', 2],
])

/** Whether an identity's signature may be encoded in another way than the one known here. */
export function isOpenZk(signature: Loose): boolean {
  if (zkNamespace(signature) === null || zkText(signature) === null) return true
  return Object.keys(signature).some((name) => !names.has(name))
}

const names: ReadonlySet<string> = new Set([
  ...['scheme', 'publisherId', 'issuer', 'keyHash', 'addressSeed', 'issuedAt', 'validUntil', 'proof'],
  'accessKeySignature',
])

export function rlpOf(fields: readonly RlpItem[]): Buffer {
  writer.rewind(0)
  writer.writeList(fields)
  return Buffer.from(writer.since(0))
}

const writer = new RlpWriter()
