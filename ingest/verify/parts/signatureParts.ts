/** Tempo's signatures read from their bytes, as nodes tell their parts where they do. */

import { contentOf, listItems } from '../tries/rlpItems.ts'
import type { Loose } from './looseFields.ts'
import { signatureText } from './tempoSignature.ts'

/**
 * The parts of a signature by one key or by an identity; null for any other kind, and for bytes that
 * its parts would not be written as.
 */
export function readSignatureParts(bytes: Buffer): Loose | null {
  const parts = bytes[0] === ZK_TAG ? zkParts(bytes.subarray(1)) : primitiveParts(bytes)
  return parts !== null && signatureText(parts) === textOf(bytes) ? parts : null
}

const ZK_TAG = 6

function zkParts(bytes: Buffer): Loose | null {
  const values = listItems(bytes).map((item) => Buffer.from(contentOf(item) ?? []))
  const accessKey = primitiveParts(values[zkNames.length] ?? Buffer.alloc(0))
  if (values.length !== zkNames.length + 1 || accessKey === null) return null
  const fields = zkNames.map((name, at) => [name, textOf(values[at] ?? Buffer.alloc(0), '0')])
  return { ...Object.fromEntries(fields), accessKeySignature: accessKey }
}

const zkNames = [
  'scheme',
  'publisherId',
  'issuer',
  'keyHash',
  'addressSeed',
  'issuedAt',
  'validUntil',
  'proof',
] as const

function primitiveParts(bytes: Buffer): Loose | null {
  const words = (from: number, ...names: string[]) =>
    Object.fromEntries(
      names.map((name, at) => [name, textOf(bytes.subarray(from + 32 * at, from + 32 * at + 32))]),
    )
  if (bytes.length === SECP256K1_BYTES)
    return { type: 'secp256k1', ...words(0, 'r', 's'), yParity: bytes.at(-1) === 27 ? '0x0' : '0x1' }
  if (bytes[0] === 1)
    return { type: 'p256', ...words(1, 'r', 's', 'pubKeyX', 'pubKeyY'), preHash: bytes.at(-1) === 1 }
  if (bytes[0] !== 2) return null
  const end = Math.max(1, bytes.length - 4 * 32)
  const webauthnData = textOf(bytes.subarray(1, end))
  return { type: 'webAuthn', webauthnData, ...words(end, 'r', 's', 'pubKeyX', 'pubKeyY') }
}

const SECP256K1_BYTES = 65

/** @param nothing digits of no bytes: a number that is zero has none */
function textOf(bytes: Buffer, nothing = ''): string {
  return `0x${bytes.toString('hex') || nothing}`
}
