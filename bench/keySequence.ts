/**
 * Keys that sign truly and cheaply, a new one for every transaction: each key, and each signature's
 * secret number, is the one before plus one, so that its point takes one addition. Whoever sees two
 * signatures knows all keys, which harms no canned chain.
 */
import { createECDH } from 'node:crypto'
import { inverseOf } from '#ingest/verify/senders/inverseOf.ts'
import { p256Curve, wordOf } from '#ingest/verify/senders/p256.ts'

type CurveName = 'secp256k1' | 'prime256v1'

export interface CannedKey {
  /** The public key, 64 bytes. */
  readonly point: Uint8Array
  sign(hash: Uint8Array): CannedSignature
}

type Hex = `0x${string}`

export interface CannedSignature {
  readonly r: Hex
  readonly s: Hex
  readonly yParity: '0x0' | '0x1'
}

export class KeySequence {
  readonly #curve: Curve
  #key: Multiple
  #nonce: Multiple

  constructor(name: CurveName) {
    const multiple = (factor: bigint) => ({ factor, ...pointOf(name, factor) })
    this.#curve = { ...curves[name], base: pointOf(name, 1n) }
    this.#key = multiple(firstKey)
    this.#nonce = multiple(firstNonce)
  }

  next(): CannedKey {
    const [key, nonce] = [this.#key, this.#nonce]
    this.#key = plusOne(key, this.#curve)
    this.#nonce = plusOne(nonce, this.#curve)
    return {
      point: Buffer.from(wordOf(key.x) + wordOf(key.y), 'hex'),
      sign: (hash) => sign(hash, key, nonce, this.#curve),
    }
  }
}

interface Point {
  readonly x: bigint
  readonly y: bigint
}

/** So many times the curve's base point. */
interface Multiple extends Point {
  readonly factor: bigint
}

interface Curve {
  readonly prime: bigint
  readonly order: bigint
  readonly base: Point
}

/** SEC 2. */
const curves = {
  secp256k1: {
    prime: 2n ** 256n - 2n ** 32n - 977n,
    order: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
  },
  prime256v1: p256Curve,
} as const

const firstKey = BigInt(`0x${'1a'.repeat(31)}`)
const firstNonce = BigInt(`0x${'2b'.repeat(31)}`)

function sign(hash: Uint8Array, key: Multiple, nonce: Multiple, { order }: Curve): CannedSignature {
  const r = nonce.x % order
  const digest = BigInt(`0x${Buffer.from(hash).toString('hex')}`)
  const s = (inverseOf(nonce.factor, order) * (digest + r * key.factor)) % order
  return { r: `0x${wordOf(r)}`, s: `0x${wordOf(s)}`, yParity: nonce.y % 2n === 0n ? '0x0' : '0x1' }
}

function plusOne({ factor, x, y }: Multiple, { prime, base }: Curve): Multiple {
  const modulo = (value: bigint) => ((value % prime) + prime) % prime
  const slope = modulo((base.y - y) * inverseOf(modulo(base.x - x), prime))
  const sum = modulo(slope * slope - x - base.x)
  return { factor: factor + 1n, x: sum, y: modulo(slope * (x - sum) - y) }
}

function pointOf(name: CurveName, factor: bigint): Point {
  const exchange = createECDH(name)
  exchange.setPrivateKey(wordOf(factor), 'hex')
  const point = exchange.getPublicKey('hex')
  return { x: BigInt(`0x${point.slice(2, 66)}`), y: BigInt(`0x${point.slice(66)}`) }
}
