import { crc32 } from 'node:zlib'

/**
 * CRC32 (zlib's) of a part of a buffer. Rows are short, and below some 500 bytes a table lookup per
 * byte is faster than the view and the call that the native one takes (a 230-byte row: 0.1 us
 * against 0.3).
 * @param before the CRC of what stands in front of the part
 */
export function crcOf(bytes: Buffer, view: DataView, from: number, to: number, before = 0): number {
  if (to - from > NATIVE_ABOVE) return crc32(bytes.subarray(from, to), before)
  let crc = ~before
  let at = from
  for (; at + 8 <= to; at += 8) {
    const low = crc ^ view.getUint32(at, true)
    const high = view.getUint32(at + 4, true)
    crc =
      lookup(7, low & 0xff) ^
      lookup(6, (low >>> 8) & 0xff) ^
      lookup(5, (low >>> 16) & 0xff) ^
      lookup(4, low >>> 24) ^
      lookup(3, high & 0xff) ^
      lookup(2, (high >>> 8) & 0xff) ^
      lookup(1, (high >>> 16) & 0xff) ^
      lookup(0, high >>> 24)
  }
  for (; at < to; at++) crc = (crc >>> 8) ^ lookup(0, (crc ^ (bytes[at] ?? 0)) & 0xff)
  return ~crc >>> 0
}

const NATIVE_ABOVE = 512
const POLYNOMIAL = 0xedb88320

/** Row k: what a byte contributes when k zero bytes follow it ("slicing by 8"). */
const table = new Int32Array(8 * 256)
for (let byte = 0; byte < 256; byte++) {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
  table[byte] = crc
}
for (let entry = 256; entry < table.length; entry++) {
  const shorter = lookup(0, entry - 256)
  table[entry] = (shorter >>> 8) ^ lookup(0, shorter & 0xff)
}

function lookup(row: number, byte: number): number {
  return table[row * 256 + byte] ?? 0
}
