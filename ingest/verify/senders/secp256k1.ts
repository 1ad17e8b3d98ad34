/**
 * The signer of a secp256k1 signature. libsecp256k1 as WebAssembly: a recovery takes 0.3 ms, 2.6 ms
 * in JavaScript; Node's OpenSSL cannot recover. The package loads it without waiting: V8 aborts the
 * whole process when a thread is ended while a module that awaits is loaded.
 */

import { recover } from 'tiny-secp256k1'
import type { Hex } from '#primitives.ts'
import { keccak256Hex } from '../tries/keccak.ts'

/**
 * `r` and `s` as 64 hex digits each. Null where the numbers are no signature of this hash by
 * anyone.
 */
export function recoverAddress(hash: Uint8Array, r: string, s: string, parity: 0 | 1): Hex | null {
  const signature = Buffer.from(r + s, 'hex')
  if (signature.length !== SIGNATURE_BYTES) return null
  try {
    const key = recover(hash, signature, parity, false)
    return key === null ? null : addressOf(key.subarray(1))
  } catch (error) {
    // Its way to say that r or s is none of a signature: zero, too large, no point of the curve.
    if (error instanceof TypeError) return null
    throw error
  }
}

/**
 * The account of a public key, given as the 64 bytes of its point: also how Tempo makes accounts of
 * P-256 keys.
 */
export function addressOf(point: Uint8Array): Hex {
  return `0x${keccak256Hex(point).slice(-40)}`
}

const SIGNATURE_BYTES = 64
