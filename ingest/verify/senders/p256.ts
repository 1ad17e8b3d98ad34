/** ECDSA over P-256, by the OpenSSL inside Node. Numbers are given as 64 hex digits. */

import { createECDH, createPublicKey, verify } from 'node:crypto'
import { inverseOf } from './inverseOf.ts'

export interface P256Signature {
  readonly r: string
  readonly s: string
  /** The point of the public key. */
  readonly x: string
  readonly y: string
}

/** Whether the key signed the SHA-256 of a message. */
export function isP256OfMessage(message: Uint8Array, { r, s, x, y }: P256Signature): boolean {
  try {
    const key = createPublicKey({
      key: Buffer.from(subjectPublicKeyInfo + x + y, 'hex'),
      format: 'der',
      type: 'spki',
    })
    return verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(r + s, 'hex'))
  } catch {
    // The numbers are no point of the curve.
    return false
  }
}

/**
 * Whether the key signed 32 bytes as they are, which Node only verifies of a digest it made itself.
 * So the two points of the equation are multiplied by its key exchange, which tells the second
 * one's x alone; r has to be the x of their sum or of their difference. Taking either means that a
 * signature by the point's mirror image, whose secret is the negative of the same secret, is taken
 * too. In JavaScript it takes 4.4 ms.
 */
export function isP256OfDigest(digest: Uint8Array, { r, s, x, y }: P256Signature): boolean {
  const [rNumber, sNumber] = [BigInt(`0x${r}`), BigInt(`0x${s}`)]
  if (rNumber === 0n || sNumber === 0n || rNumber >= order || sNumber >= order) return false
  const inverse = inverseOf(sNumber, order)
  const hash = BigInt(`0x${Buffer.from(digest).toString('hex')}`)
  try {
    exchange.setPrivateKey(wordOf((hash * inverse) % order), 'hex')
    const x1 = BigInt(`0x${exchange.getPublicKey('hex').slice(2, 66)}`)
    exchange.setPrivateKey(wordOf((rNumber * inverse) % order), 'hex')
    const x2 = BigInt(`0x${exchange.computeSecret(`04${x}${y}`, 'hex', 'hex')}`)
    return isOfSumOrDifference(rNumber, x1, x2) || isOfSumOrDifference(rNumber + order, x1, x2)
  } catch {
    // The numbers are no point of the curve, or one of the factors is zero.
    return false
  }
}

/** DER of a P-256 key up to its point (RFC 5480). */
const subjectPublicKeyInfo = '3059301306072a8648ce3d020106082a8648ce3d03010703420004'

const exchange = createECDH('prime256v1')

/** The field's prime, the curve's b, and its number of points (SEC 2, 2.4.2); its a is -3. */
const prime = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
/** For whoever signs. */
export const p256Curve = { prime, order }

/**
 * The x of the sum and of the difference of two points are the roots of a quadratic in their two x.
 */
function isOfSumOrDifference(x: bigint, x1: bigint, x2: bigint): boolean {
  if (x >= prime) return false
  const square = (x1 - x2) ** 2n
  const linear = 2n * ((x1 + x2) * (x1 * x2 - 3n) + 2n * b)
  const constant = (x1 * x2 + 3n) ** 2n - 4n * b * (x1 + x2)
  return (square * x * x - linear * x + constant) % prime === 0n
}

/** As 64 hex digits. */
export const wordOf = (value: bigint): string => value.toString(16).padStart(64, '0')
