/**
 * Signatures of a whole group under its one key: BLS12-381, signatures in G1, keys in G2. A
 * threshold signature is checked as a plain one.
 */
import { noble } from 'ox/Bls'
import type { Hex } from '#primitives.ts'
import { keccak256Hex } from '../../verify/tries/keccak.ts'
import { bytesOfHex } from './certificate.ts'

export const signatureSuite = 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_'

export const KEY_BYTES = 96

/** Whether a text of hex digits is a key: a point of the subgroup in its one spelling, not infinity. */
export const isKey = (hex: Hex): boolean => keyPoint(bytesOfHex(hex)) !== null

type SignaturePoint = InstanceType<typeof noble.G1.ProjectivePoint>
export type KeyPoint = InstanceType<typeof noble.G2.ProjectivePoint>

export interface SignedBytes<Signature = SignaturePoint> {
  readonly message: Uint8Array
  readonly signature: Signature
}

/** How keys and signatures are read and compared. */
export interface SignatureScheme<Key, Signature> {
  /** Null where the bytes are no signature in its one spelling. */
  signaturePoint(bytes: Uint8Array): Signature | null
  /** The same of a key. */
  keyPoint(bytes: Uint8Array): Key | null
  /** The place of the first signature that is not the key's; null where all are. */
  firstWrong(key: Key, signed: readonly SignedBytes<Signature>[]): number | null
}

/**
 * The point of 48 bytes; null where they are none: outside of the curve or its subgroup, infinity,
 * or a second spelling of a point, which the library takes.
 */
export const signaturePoint = (bytes: Uint8Array): SignaturePoint | null =>
  canonicalPoint(noble.G1.ProjectivePoint, bytes)

/** The same of a key's 96 bytes. */
export const keyPoint = (bytes: Uint8Array): KeyPoint | null =>
  bytes.length === KEY_BYTES ? canonicalPoint(noble.G2.ProjectivePoint, bytes) : null

/**
 * The place of the first signature that is not the key's; null where all are. All are checked in
 * one product of pairings, each with a weight: vote and seed together take 34 ms, one by one 49
 * (measured). Whoever chooses signatures has chosen the weights with them, and so cannot have two
 * that are wrong make one that is right.
 */
export function firstWrong(key: KeyPoint, signed: readonly SignedBytes[]): number | null {
  if (isProductOne(key, signed, weightsOf(key, signed))) return null
  const wrong = signed.findIndex((one) => !isProductOne(key, [one], [1n]))
  return wrong < 0 ? null : wrong
}

export const groupSignatures: SignatureScheme<KeyPoint, SignaturePoint> = {
  signaturePoint,
  keyPoint,
  firstWrong,
}

function isProductOne(key: KeyPoint, signed: readonly SignedBytes[], weights: readonly bigint[]): boolean {
  let messages = noble.G1.ProjectivePoint.ZERO
  let signatures = noble.G1.ProjectivePoint.ZERO
  for (const [index, { message, signature }] of signed.entries()) {
    const weight = weights[index] ?? 1n
    messages = messages.add(onCurve(message).multiplyUnsafe(weight))
    signatures = signatures.add(signature.multiplyUnsafe(weight))
  }
  const product = noble.pairingBatch([
    { g1: messages, g2: key },
    { g1: signatures, g2: noble.G2.ProjectivePoint.BASE.negate() },
  ])
  return noble.fields.Fp12.eql(product, noble.fields.Fp12.ONE)
}

const onCurve = (message: Uint8Array): SignaturePoint =>
  noble.G1.ProjectivePoint.fromAffine(noble.G1.hashToCurve(message, { DST: signatureSuite }).toAffine())

/** The first counts as it is, each further one 128 bits of what a hash over everything gives. */
function weightsOf(key: KeyPoint, signed: readonly SignedBytes[]): bigint[] {
  const everything = signed.flatMap(({ message, signature }) => [signature.toRawBytes(true), message])
  const seed = Buffer.concat([key.toRawBytes(true), ...everything])
  return signed.map((_one, index) =>
    index === 0 ? 1n : BigInt(keccak256Hex(Buffer.concat([seed, Uint8Array.of(index)])).slice(0, 34)) | 1n,
  )
}

interface Point<This> {
  equals(other: This): boolean
  toRawBytes(compressed: boolean): Uint8Array
}

/** Decoding checks curve and subgroup; infinity and a coordinate past the field's size it lets pass. */
function canonicalPoint<Of extends Point<Of>>(
  group: { readonly ZERO: Of; fromHex(bytes: Uint8Array): Of },
  bytes: Uint8Array,
): Of | null {
  let point: Of
  try {
    point = group.fromHex(bytes)
  } catch {
    return null
  }
  return point.equals(group.ZERO) || !Buffer.from(point.toRawBytes(true)).equals(bytes) ? null : point
}
