/**
 * 256-bit values in the forms both stores want, without making decimal text: groups of four decimal
 * digits, the lowest first, are what Postgres numeric is made of, and the canonical text of a
 * digest follows from them.
 */
import type { ByteBuffer, BytesAt } from '#ingest/read/json/ByteBuffer.ts'

/** Enough for 78 digits. */
export const GROUPS_MAX = 20
/** Longest canonical text of a 256-bit value: 78 digits and the comma. */
export const DECIMAL_BYTES_MAX = 79

const BASE = 10_000
/** Base of two groups. */
const PAIR_BASE = BASE * BASE
/** Upper half of what a number holds exactly. */
const SAFE_HIGH_MAX = 0x1f_ffff
const uint256Max = (1n << 256n) - 1n
const safeMax = BigInt(Number.MAX_SAFE_INTEGER)
const COMMA = 44
const ZERO = 48
const WORD_BYTES = 32

/** Takes a value apart. @returns how many groups it has, or -1 when it is not a 256-bit value. */
export function readGroups(value: unknown, source: ByteBuffer, groups: Uint16Array): number {
  if (typeof value === 'number') return readPlace(value as BytesAt, source, groups)
  if (typeof value !== 'bigint' || value < 0n || value > uint256Max) return -1
  return value <= safeMax ? readSafe(Number(value), groups, 0) : readText(value.toString(), groups)
}

/** The canonical text (digest.ts): the digits and a comma; `-` for NULL. */
export function writeDecimal(bytes: Uint8Array, at: number, groups: Uint16Array, count: number): number {
  let offset = at
  if (count === 0) bytes[offset++] = ZERO
  for (let index = count - 1; index >= 0; index--) {
    const group = groups[index] ?? 0
    const isFirst = index === count - 1
    if (!isFirst || group >= 1000) bytes[offset++] = ZERO + ((group / 1000) | 0)
    if (!isFirst || group >= 100) bytes[offset++] = ZERO + (((group / 100) | 0) % 10)
    if (!isFirst || group >= 10) bytes[offset++] = ZERO + (((group / 10) | 0) % 10)
    bytes[offset++] = ZERO + (group % 10)
  }
  bytes[offset] = COMMA
  return offset + 1
}

export function writeNoDecimal(bytes: Uint8Array, at: number): number {
  bytes[at] = MINUS
  bytes[at + 1] = COMMA
  return at + 2
}

const MINUS = 45

/**
 * Writes Postgres numeric, length prefix included: count of base-10000 digits, weight of the first,
 * sign 0, scale 0, then the digits. Trailing zero digits are left out, as the server itself stores
 * them.
 */
export function writeNumeric(view: DataView, at: number, groups: Uint16Array, count: number): number {
  let last = 0
  while (last < count && groups[last] === 0) last++
  let offset = at + 12
  for (let index = count - 1; index >= last; index--, offset += 2) view.setInt16(offset, groups[index] ?? 0)
  view.setInt32(at, offset - at - 4)
  view.setInt16(at + 4, count - last)
  view.setInt16(at + 6, Math.max(count - 1, 0))
  view.setInt32(at + 8, 0)
  return offset
}

/** Little-endian UInt256 of ClickHouse. */
export function writeUint256(view: DataView, at: number, value: bigint | number, source: ByteBuffer): void {
  if (typeof value === 'number') {
    for (let offset = 0; offset < WORD_BYTES; offset += 4)
      view.setUint32(at + offset, source.view.getUint32(value + WORD_BYTES - 4 - offset), true)
  } else if (value <= safeMax) {
    const number = Number(value)
    view.setUint32(at, number >>> 0, true)
    view.setUint32(at + 4, Math.floor(number / 0x1_0000_0000), true)
    for (let offset = 8; offset < WORD_BYTES; offset += 4) view.setUint32(at + offset, 0)
  } else {
    for (let word = 0; word < 4; word++)
      view.setBigUint64(at + 8 * word, BigInt.asUintN(64, value >> BigInt(64 * word)), true)
  }
}

/** A word of a log's data or of a topic. */
function readPlace(place: BytesAt, source: ByteBuffer, groups: Uint16Array): number {
  const { view } = source
  if (place + WORD_BYTES > source.length) return -1
  for (let at = place as number; at < place + WORD_BYTES - 8; at += 4) {
    if (view.getInt32(at) !== 0) return readWide(view, place, groups)
  }
  return readUint64(view.getUint32(place + 24), view.getUint32(place + 28), groups)
}

/**
 * Most amounts; those of 18 decimals are often beyond 2^53, and lose their eight last digits first.
 */
function readUint64(high: number, low: number, groups: Uint16Array): number {
  if (high <= SAFE_HIGH_MAX) return readSafe(high * 0x1_0000_0000 + low, groups, 0)
  const upper = Math.floor(high / PAIR_BASE)
  const middleRest = (high - upper * PAIR_BASE) * 0x1_0000 + (low >>> 16)
  const middle = Math.floor(middleRest / PAIR_BASE)
  const lowerRest = (middleRest - middle * PAIR_BASE) * 0x1_0000 + (low & 0xffff)
  const lower = Math.floor(lowerRest / PAIR_BASE)
  putPair(lowerRest - lower * PAIR_BASE, groups, 0)
  return readSafe((upper * 0x1_0000 + middle) * 0x1_0000 + lower, groups, 2)
}

/** Eight digits at a step: the remainder of doubles is a call, their quotient is not. */
function readSafe(value: number, groups: Uint16Array, from: number): number {
  let count = from
  let rest = value
  for (; rest >= PAIR_BASE; count += 2) {
    const quotient = Math.floor(rest / PAIR_BASE)
    putPair(rest - quotient * PAIR_BASE, groups, count)
    rest = quotient
  }
  for (let group = rest | 0; group > 0; group = (group / BASE) | 0) groups[count++] = group % BASE
  return count
}

function putPair(pair: number, groups: Uint16Array, at: number): void {
  const digits = pair | 0
  const upper = (digits / BASE) | 0
  groups[at] = digits - upper * BASE
  groups[at + 1] = upper
}

/** A value beyond 64 bits is divided limb by limb: integers, which are faster than doubles here. */
function readWide(view: DataView, place: BytesAt, groups: Uint16Array): number {
  let first = 0
  while (view.getUint16(place + 2 * first) === 0) first++
  for (let index = first; index < limbs.length; index++) limbs[index] = view.getUint16(place + 2 * index)
  let count = 0
  while (first < limbs.length) {
    let rest = 0
    for (let index = first; index < limbs.length; index++) {
      const value = (rest << 16) | (limbs[index] ?? 0)
      const quotient = (value / BASE) | 0
      limbs[index] = quotient
      rest = value - quotient * BASE
    }
    groups[count++] = rest
    while (first < limbs.length && limbs[first] === 0) first++
  }
  return count
}

/** Sixteen bits each, highest first: a remainder below 10,000 and a limb fit 31 bits. */
const limbs = new Uint16Array(WORD_BYTES / 2)

function readText(digits: string, groups: Uint16Array): number {
  let count = 0
  for (let end = digits.length; end > 0; end -= 4)
    groups[count++] = Number(digits.slice(Math.max(end - 4, 0), end))
  return count
}
