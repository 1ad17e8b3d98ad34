/**
 * Checks of single fields of a node's answer. They run on every field of every block, so they look
 * at characters in a loop instead of building anything, and the path of a field is only put
 * together when something is wrong with it. A value in another spelling than the one
 * (spelling.ts) is put in its place.
 */

import type { Hex } from '#primitives.ts'
import { type NodeAnswerCode, NodeAnswerError } from './NodeAnswerError.ts'
import { spelledHex, spelledQuantity } from './spelling.ts'

/** A JSON object whose fields have not been checked. */
export type Fields = Readonly<Record<string, unknown>>

/** The place of the checks in an answer. */
export class AnswerPlace {
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

export function expectFields(value: unknown, field: string, place: AnswerPlace): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) place.fail('shape_invalid', field)
  return value as Fields
}

export function expectList(value: unknown, field: string, place: AnswerPlace): readonly unknown[] {
  if (!Array.isArray(value)) place.fail('shape_invalid', field)
  return value
}

export function expectHash(fields: Fields, field: string, place: AnswerPlace): void {
  expectBytes(fields, field, HASH_BYTES, place)
}

export function expectAddress(fields: Fields, field: string, place: AnswerPlace): void {
  expectBytes(fields, field, ADDRESS_BYTES, place)
}

/** Exactly `size` bytes. */
export function expectBytes(fields: Fields, field: string, size: number, place: AnswerPlace): void {
  const text = bytesIn(fields[field], size, field, place)
  if (text !== fields[field]) respell(fields, field, text)
}

/** Each of a list. */
export function expectHashes(hashes: readonly unknown[], field: string, place: AnswerPlace): void {
  for (let index = 0; index < hashes.length; index++) {
    const text = bytesIn(hashes[index], HASH_BYTES, field, place)
    if (text !== hashes[index]) Object.assign(hashes, { [index]: text })
  }
}

/** Any number of bytes. */
export function expectHex(fields: Fields, field: string, place: AnswerPlace): void {
  const text = expectText(fields[field], field, place)
  if (text.length % 2 !== 0) place.fail('hex_invalid', field)
  if (!isHexFrom2(text)) respell(fields, field, spelledHex(text) ?? place.fail('hex_invalid', field))
}

/** A quantity of at most `digitsMax` hex digits. */
export function expectQuantity(fields: Fields, field: string, digitsMax: number, place: AnswerPlace): void {
  const text = quantityIn(fields[field], digitsMax, field, place)
  if (text !== fields[field]) respell(fields, field, text)
}

/** A quantity that a JavaScript number holds exactly. */
export function expectSafeQuantity(fields: Fields, field: string, place: AnswerPlace): number {
  expectQuantity(fields, field, SAFE_DIGITS, place)
  const number = Number(fields[field])
  if (!Number.isSafeInteger(number)) place.fail('quantity_invalid', field)
  return number
}

/** `r` or `s` of a signature: a 256-bit number, with or without leading zeros. */
export function expectWord(fields: Fields, field: string, place: AnswerPlace): void {
  const text = expectText(fields[field], field, place)
  if (text.length < 3 || text.length > 2 + DIGITS256) expectQuantity(fields, field, DIGITS256, place)
  else if (!isHexFrom2(text))
    respell(fields, field, spelledHex(text) ?? place.fail('quantity_invalid', field))
}

/** Whether a field has this value, whatever its spelling. */
export function isBytesOf(fields: Fields, field: string, value: unknown): boolean {
  return fields[field] === value || (value !== undefined && respelled(fields, field, spelledHex) === value)
}

export function isQuantityOf(fields: Fields, field: string, value: unknown): boolean {
  return (
    fields[field] === value || (value !== undefined && respelled(fields, field, spelledQuantity) === value)
  )
}

/** Puts what a node leaves out where it has nothing. */
export function fillIn(fields: Fields, field: string, nothing: unknown): void {
  if (isAbsent(fields[field])) respell(fields, field, nothing)
}

/** Puts a value in the one spelling, or under the one name, where it came in another. */
export function respell(fields: Fields, field: string, value: unknown): void {
  Object.assign(fields, { [field]: value })
}

/** True for what a node sends for a field it leaves out. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

/** A number as nodes write it. */
export function quantityOf(value: number): string {
  return `0x${value.toString(16)}`
}

const HASH_BYTES = 32
const ADDRESS_BYTES = 20
const longHex = /^0x[0-9a-f]*$/
const SAFE_DIGITS = 14
const DIGIT_ZERO = 48
const DIGIT_NINE = 57
const LETTER_A = 97
const LETTER_F = 102
const LETTER_X = 120

function expectText(value: unknown, field: string, place: AnswerPlace): string {
  if (typeof value !== 'string') place.fail('shape_invalid', field)
  return value
}

/** In the one spelling. */
function bytesIn(value: unknown, size: number, field: string, place: AnswerPlace): string {
  const text = expectText(value, field, place)
  if (isBytes(text, size)) return text
  const spelled = spelledHex(text)
  return spelled?.length === 2 + 2 * size ? spelled : place.fail('hex_invalid', field)
}

function quantityIn(value: unknown, digitsMax: number, field: string, place: AnswerPlace): string {
  if (typeof value === 'string' && isQuantity(value, digitsMax)) return value
  if (typeof value !== 'string' && typeof value !== 'number') place.fail('shape_invalid', field)
  // The zero of those who write numbers as bytes.
  const spelled = value === '0x' ? '0x0' : spelledQuantity(value)
  return spelled !== null && isQuantity(spelled, digitsMax) ? spelled : place.fail('quantity_invalid', field)
}

function respelled(fields: Fields, field: string, spelled: (value: unknown) => Hex | null): Hex | null {
  const text = spelled(fields[field])
  if (text !== null) respell(fields, field, text)
  return text
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
