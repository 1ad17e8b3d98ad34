/**
 * 256-bit values in the forms both stores want, without making decimal text: groups of four decimal
 * digits, the lowest first, are what Postgres numeric is made of, and the canonical text of a
 * digest follows from them.
 */
import type { ByteBuffer, BytesAt } from '#ingest/read/byteBuffer.ts'

/** Enough for 78 digits. */
export const groupsMax = 20
/** Longest canonical text of a 256-bit value: 78 digits and the comma. */
export const decimalBytesMax = 79

const base = 10_000
/** Of two groups. */
const pairBase = base * base
/** Upper half of what a number holds exactly. */
const safeHighMax = 0x1f_ffff
const uint256Max = (1n << 256n) - 1n
const safeMax = BigInt(Number.MAX_SAFE_INTEGER)
const comma = 44
const zero = 48
const wordBytes = 32

/** Takes a value apart. @returns how many groups it has, or -1 when it is not a 256-bit value. */
export function readGroups(value: unknown, source: ByteBuffer, groups: Uint16Array): number {
  if (typeof value === 'number') return readPlace(value as BytesAt, source, groups)
  if (typeof value !== 'bigint' || value < 0n || value > uint256Max) return -1
  return value <= safeMax ? readSafe(Number(value), groups, 0) : readText(value.toString(), groups)
}

/** The canonical text (digest.ts): the digits and a comma; `-` for NULL. */
export function writeDecimal(bytes: Uint8Array, at: number, groups: Uint16Array, count: number): number {
  let offset = at
  if (count === 0) bytes[offset++] = zero
  for (let index = count - 1; index >= 0; index--) {
    const group = groups[index] ?? 0
    const isFirst = index === count - 1
    if (!isFirst || group >= 1000) bytes[offset++] = zero + ((group / 1000) | 0)
    if (!isFirst || group >= 100) bytes[offset++] = zero + (((group / 100) | 0) % 10)
    if (!isFirst || group >= 10) bytes[offset++] = zero + (((group / 10) | 0) % 10)
    bytes[offset++] = zero + (group % 10)
  }
  bytes[offset] = comma
  return offset + 1
}

export function writeNoDecimal(bytes: Uint8Array, at: number): number {
  bytes[at] = minus
  bytes[at + 1] = comma
  return at + 2
}

const minus = 45

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
    for (let offset = 0; offset < wordBytes; offset += 4)
      view.setUint32(at + offset, source.view.getUint32(value + wordBytes - 4 - offset), true)
  } else if (value <= safeMax) {
    const number = Number(value)
    view.setUint32(at, number >>> 0, true)
    view.setUint32(at + 4, Math.floor(number / 0x1_0000_0000), true)
    for (let offset = 8; offset < wordBytes; offset += 4) view.setUint32(at + offset, 0)
  } else {
    for (let word = 0; word < 4; word++)
      view.setBigUint64(at + 8 * word, BigInt.asUintN(64, value >> BigInt(64 * word)), true)
  }
}

/** A word of a log's data or of a topic. */
function readPlace(place: BytesAt, source: ByteBuffer, groups: Uint16Array): number {
  const { view } = source
  if (place + wordBytes > source.length) return -1
  for (let at = place as number; at < place + wordBytes - 8; at += 4) {
    if (view.getInt32(at) !== 0) return readWide(view, place, groups)
  }
  return readUint64(view.getUint32(place + 24), view.getUint32(place + 28), groups)
}

/**
 * Most amounts; those of 18 decimals are often beyond 2^53, and lose their eight last digits first.
 */
function readUint64(high: number, low: number, groups: Uint16Array): number {
  if (high <= safeHighMax) return readSafe(high * 0x1_0000_0000 + low, groups, 0)
  const upper = Math.floor(high / pairBase)
  const middleRest = (high - upper * pairBase) * 0x1_0000 + (low >>> 16)
  const middle = Math.floor(middleRest / pairBase)
  const lowerRest = (middleRest - middle * pairBase) * 0x1_0000 + (low & 0xffff)
  const lower = Math.floor(lowerRest / pairBase)
  putPair(lowerRest - lower * pairBase, groups, 0)
  return readSafe((upper * 0x1_0000 + middle) * 0x1_0000 + lower, groups, 2)
}

/** Eight digits at a step: the remainder of doubles is a call, their quotient is not. */
function readSafe(value: number, groups: Uint16Array, from: number): number {
  let count = from
  let rest = value
  for (; rest >= pairBase; count += 2) {
    const quotient = Math.floor(rest / pairBase)
    putPair(rest - quotient * pairBase, groups, count)
    rest = quotient
  }
  for (let group = rest | 0; group > 0; group = (group / base) | 0) groups[count++] = group % base
  return count
}

function putPair(pair: number, groups: Uint16Array, at: number): void {
  const digits = pair | 0
  const upper = (digits / base) | 0
  groups[at] = digits - upper * base
  groups[at + 1] = upper
}

/** What is beyond 64 bits is divided limb by limb: integers, which are faster than doubles here. */
function readWide(view: DataView, place: BytesAt, groups: Uint16Array): number {
  let first = 0
  while (view.getUint16(place + 2 * first) === 0) first++
  for (let index = first; index < limbs.length; index++) limbs[index] = view.getUint16(place + 2 * index)
  let count = 0
  while (first < limbs.length) {
    let rest = 0
    for (let index = first; index < limbs.length; index++) {
      const value = (rest << 16) | (limbs[index] ?? 0)
      const quotient = (value / base) | 0
      limbs[index] = quotient
      rest = value - quotient * base
    }
    groups[count++] = rest
    while (first < limbs.length && limbs[first] === 0) first++
  }
  return count
}

/** Sixteen bits each, highest first: a remainder below 10,000 and a limb fit 31 bits. */
const limbs = new Uint16Array(wordBytes / 2)

function readText(digits: string, groups: Uint16Array): number {
  let count = 0
  for (let end = digits.length; end > 0; end -= 4)
    groups[count++] = Number(digits.slice(Math.max(end - 4, 0), end))
  return count
}
