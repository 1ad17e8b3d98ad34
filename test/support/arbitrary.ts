/** Arbitrary on-chain values for property tests. */

import fc from 'fast-check'
import type { Hex } from 'viem'

/** Bytes as text; of one size, or of up to `sizeMax`. */
export function bytes(size: number, sizeMax: number = size): fc.Arbitrary<Hex> {
  return fc
    .uint8Array({ minLength: size, maxLength: sizeMax })
    .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`)
}

export const address: fc.Arbitrary<Hex> = bytes(20)
export const word: fc.Arbitrary<Hex> = bytes(32)
/** A number of up to 256 bits; small ones and zero are frequent. */
/** 64 bits, what a double or a signed integer would change half of the time. */
export const uint64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(0n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n),
)
export const uint256: fc.Arbitrary<bigint> = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
export const uint32: fc.Arbitrary<number> = fc.integer({ min: 0, max: 2 ** 32 - 1 })
export const accessList: fc.Arbitrary<{ address: Hex; storageKeys: Hex[] }[]> = fc.array(
  fc.record({ address, storageKeys: fc.array(word, { maxLength: 3 }) }),
  { maxLength: 3 },
)

/** As a node writes a number. */
export function quantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}

/** Pieces that break JSON, or only what it says, when they are put among its bytes. */
export const jsonPiece = fc.constantFrom(
  ...['', '"', '0', 'a', 'F', '\\', ',', '{}', '[', 'null', ' ', '"x":1,', '\0', 'é', '0x'],
)
