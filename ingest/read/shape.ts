/**
 * Checks of single fields of a node's answer. They run on every field of every block, so they look
 * at characters in a loop instead of building anything, and the path of a field is only put
 * together when something is wrong with it.
 */

import { type NodeAnswerCode, NodeAnswerError } from './nodeAnswerError.ts'

/** A JSON object whose fields have not been checked. */
export type Fields = Readonly<Record<string, unknown>>

/** Where in an answer the checks are. */
export class Place {
  blockNumber: number | undefined
  /** `transactions`, or empty when the answer itself is the list. */
  list = ''
  index = -1
  /** A list within the item, such as `logs`. */
  innerList = ''
  innerIndex = -1

  constructor(blockNumber: number | undefined) {
    this.blockNumber = blockNumber
  }

  leaveInner(): void {
    this.innerList = ''
    this.innerIndex = -1
  }

  /** @throws NodeAnswerError always. */
  fail(code: NodeAnswerCode, field: string): never {
    const outer = this.index < 0 ? '' : `${this.list}[${this.index}]`
    const inner = this.innerIndex < 0 ? this.innerList : `${this.innerList}[${this.innerIndex}]`
    throw new NodeAnswerError(code, [outer, inner, field].filter(Boolean).join('.'), this.blockNumber)
  }
}

/** Digits of a 256-bit number, of a 64-bit one, and of an envelope type. */
export const DIGITS256 = 64
export const DIGITS64 = 16
export const DIGITS8 = 2

export function expectFields(value: unknown, field: string, place: Place): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) place.fail('shape_invalid', field)
  return value as Fields
}

export function expectList(value: unknown, field: string, place: Place): readonly unknown[] {
  if (!Array.isArray(value)) place.fail('shape_invalid', field)
  return value
}

export function expectHash(value: unknown, field: string, place: Place): void {
  if (!isBytes(expectText(value, field, place), 32)) place.fail('hex_invalid', field)
}

export function expectAddress(value: unknown, field: string, place: Place): void {
  if (!isBytes(expectText(value, field, place), 20)) place.fail('hex_invalid', field)
}

/** Exactly `size` bytes. */
export function expectBytes(value: unknown, size: number, field: string, place: Place): void {
  if (!isBytes(expectText(value, field, place), size)) place.fail('hex_invalid', field)
}

/** Any number of bytes. */
export function expectHex(value: unknown, field: string, place: Place): void {
  const text = expectText(value, field, place)
  if (text.length % 2 !== 0 || !isHexFrom2(text)) place.fail('hex_invalid', field)
}

/** A quantity of at most `digitsMax` hex digits. */
export function expectQuantity(value: unknown, digitsMax: number, field: string, place: Place): void {
  if (!isQuantity(expectText(value, field, place), digitsMax)) place.fail('quantity_invalid', field)
}

/** A quantity that a JavaScript number holds exactly. */
export function expectSafeQuantity(value: unknown, field: string, place: Place): number {
  const text = expectText(value, field, place)
  if (!isQuantity(text, SAFE_DIGITS)) place.fail('quantity_invalid', field)
  const number = Number(text)
  if (!Number.isSafeInteger(number)) place.fail('quantity_invalid', field)
  return number
}

/** `r` or `s` of a signature: a 256-bit number, with or without leading zeros. */
export function expectWord(value: unknown, field: string, place: Place): void {
  const text = expectText(value, field, place)
  if (text.length < 3 || text.length > 2 + DIGITS256 || !isHexFrom2(text))
    place.fail('quantity_invalid', field)
}

/** True for what a node sends for a field it leaves out. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

/** A number as nodes write it. */
export function quantityOf(value: number): string {
  return `0x${value.toString(16)}`
}

const longHex = /^0x[0-9a-f]*$/
const SAFE_DIGITS = 14
const DIGIT_ZERO = 48
const DIGIT_NINE = 57
const LETTER_A = 97
const LETTER_F = 102
const LETTER_X = 120

function expectText(value: unknown, field: string, place: Place): string {
  if (typeof value !== 'string') place.fail('shape_invalid', field)
  return value
}

function isBytes(text: string, size: number): boolean {
  return text.length === 2 + 2 * size && isHexFrom2(text)
}

function isQuantity(text: string, digitsMax: number): boolean {
  if (text.length < 3 || text.length > 2 + digitsMax || !isHexFrom2(text)) return false
  return text.length === 3 || text.charCodeAt(2) !== DIGIT_ZERO
}

/**
 * Whether a text is `0x` and lowercase hex digits. From about 40 characters on a pattern beats the
 * loop (measured).
 */
function isHexFrom2(text: string): boolean {
  if (text.length > 42) return longHex.test(text)
  if (text.charCodeAt(0) !== DIGIT_ZERO || text.charCodeAt(1) !== LETTER_X) return false
  for (let index = 2; index < text.length; index++) {
    const character = text.charCodeAt(index)
    if (character < DIGIT_ZERO || character > LETTER_F || (character > DIGIT_NINE && character < LETTER_A))
      return false
  }
  return true
}
