/**
 * Ids and tokens of the service: random text that cannot be guessed, in letters and digits that
 * nothing has to quote.
 */
import { randomInt } from 'node:crypto'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 143 bits. */
const ID_CHARACTERS = 24

export type IdPrefix = 'usr' | 'org' | 'prj' | 'key' | 'inv'

/** Digits of a moment in milliseconds, enough for 30,000 years. */
const MOMENT_DIGITS = 15

/** `wh_`, 15 digits of whole milliseconds and 24 random characters: ids sort by their time. */
export const newTimedId = (prefix: 'wh' | 'whd' | 'whr' | 'pay' | 'out' | 'spd', nowMs: number): string =>
  `${prefix}_${String(Math.floor(nowMs)).padStart(MOMENT_DIGITS, '0')}_${randomBase62(ID_CHARACTERS)}`

/** `org_` and 24 random characters. */
export const newId = (prefix: IdPrefix): string => `${prefix}_${randomBase62(ID_CHARACTERS)}`

/** Every character with the same chance. */
export const randomBase62 = (length: number): string =>
  Array.from({ length }, () => digits.charAt(randomInt(digits.length))).join('')

/** A number in base 62, filled up with zeros on the left. */
export function base62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / digits.length))
    text = digits.charAt(rest % digits.length) + text
  return text
}
