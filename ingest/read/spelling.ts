/**
 * Values however a node spells them. Nodes write an address in lowercase or with a checksum
 * (EIP-55), a number with leading zeros or as a JSON number, and an empty list as null; each is the
 * same value. Behind the reader of an answer there is one spelling: lowercase, quantities without
 * leading zeros. Whoever reads tries that one first, and asks here where it is not the one.
 */
import type { Hex } from '#primitives.ts'

const hexOfAnyCase = /^0[xX][0-9a-fA-F]*$/
const leadingZeros = /^0x0+(?=.)/

/** A text of hex digits in lowercase, as many as there are; null for what is none. */
export function spelledHex(value: unknown): Hex | null {
  return typeof value === 'string' && hexOfAnyCase.test(value) ? `0x${value.slice(2).toLowerCase()}` : null
}

/**
 * A number without leading zeros; null for what is none, such as `0x`. A decimal text may be hex that
 * lacks its prefix.
 */
export function spelledQuantity(value: unknown): Hex | null {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? `0x${value.toString(16)}` : null
  const text = spelledHex(value)
  return text === null || text === '0x' ? null : `0x${text.replace(leadingZeros, '0x').slice(2)}`
}

/**
 * Puts texts of hex digits that have capitals into lowercase, however deep they stand in lists and
 * objects.
 * @param names of the members that are looked at
 */
export function spellWithin<Value>(value: Value, names = Object.keys(Object(value))): Value {
  for (const name of names) {
    const part: unknown = Object(value)[name]
    if (typeof part === 'object') spellWithin(part)
    else if (typeof part === 'string' && capital.test(part))
      Object.assign(Object(value), { [name]: spelledHex(part) ?? part })
  }
  return value
}

const capital = /[A-FX]/
