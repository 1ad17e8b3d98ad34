/**
 * How one ABI value is read out of hex text, strictly: a word that the type cannot hold is not a
 * value of that type. Elementary types are JavaScript expressions, which the decoder of an event
 * inlines (eventDecoder.ts); strings, arrays and tuples are readers composed once per event.
 * Nothing here throws on chain data.
 */
import type { AbiParameter } from 'viem'
import { textOfBytes } from '../abi/argumentText.ts'

/** Hex digits of one 32-byte word. */
export const WORD_DIGITS = 64

/**
 * An elementary type as source text: whether the word at index `at` of `text` is a value of it, and
 * that value.
 */
export interface ElementarySource {
  condition(text: string, at: string): string
  value(text: string, at: string): string
  /** The value where `text` is `0x` and this word alone; spares making new text of it. */
  valueOfWord(text: string): string
}

/**
 * Reads a value whose head is at index `at` of `data`; offsets count from `base`, the start of the
 * enclosing tuple. Undefined when the data does not hold one. `budget` bounds the work (see
 * `Budget`).
 */
export type ValueReader = (data: string, base: number, at: number, budget: Budget) => unknown

/**
 * How many words may still be visited. An honest encoding visits each word once; data whose offsets
 * make it be read over and over would otherwise cost exponentially more with every level of nested
 * arrays.
 */
export interface Budget {
  left: number
}

/** The source for an elementary type, or null when `type` is a string, bytes, array or tuple. */
export function elementarySource(type: string): ElementarySource | null {
  const source = wordSource(type)
  if (source === null) return null
  const valueOfWord = wholeWordValues[type] ?? ((text: string) => source.value(text, '2'))
  return { ...source, valueOfWord }
}

/** Types that fill their word. */
const wholeWordValues: Readonly<Record<string, (text: string) => string>> = {
  uint256: (text) => `BigInt(${text})`,
  bytes32: (text) => text,
}

type WordSource = Omit<ElementarySource, 'valueOfWord'>

function wordSource(type: string): WordSource | null {
  const [, kind, size] = /^(address|bool|uint|int|bytes)(\d*)$/.exec(type) ?? []
  const width = Number(size)
  if (kind === 'address') return addressSource
  if (kind === 'bool') return boolSource
  if (kind === 'uint') return uintSource(width || 256)
  if (kind === 'int') return intSource(width || 256)
  if (kind === 'bytes' && width > 0) return fixedBytesSource(width)
  return null
}

/** Composes the reader of any type. @throws TypeError for a type that events cannot have. */
export function valueReader(parameter: AbiParameter): ValueReader {
  const array = /^(.*)\[(\d*)\]$/.exec(parameter.type)
  if (array !== null) {
    const [, type = '', length = ''] = array
    const element = { ...parameter, type }
    return length === '' ? listReader(element) : fixedArrayReader(element, Number(length))
  }
  if (parameter.type === 'tuple') return tupleReader(componentsOf(parameter))
  if (parameter.type === 'string') return behindOffset(readString)
  if (parameter.type === 'bytes') return behindOffset(readBytes)
  return elementaryReader(parameter.type)
}

/** Whether the value sits behind an offset instead of in place. */
export function isDynamic(parameter: AbiParameter): boolean {
  const { type } = parameter
  if (type === 'string' || type === 'bytes' || type.endsWith('[]')) return true
  const array = /^(.*)\[\d+\]$/.exec(type)
  if (array !== null) return isDynamic({ ...parameter, type: array[1] ?? '' })
  return type === 'tuple' && componentsOf(parameter).some(isDynamic)
}

/** Hex digits of a value's head: one word for a dynamic one, all of it for a static one. */
export function headDigits(parameter: AbiParameter): number {
  if (isDynamic(parameter)) return WORD_DIGITS
  const array = /^(.*)\[(\d+)\]$/.exec(parameter.type)
  if (array !== null) return Number(array[2]) * headDigits({ ...parameter, type: array[1] ?? '' })
  if (parameter.type === 'tuple') return headDigitsOf(componentsOf(parameter))
  return WORD_DIGITS
}

/** Hex digits of the heads of several values in a row. */
export function headDigitsOf(parameters: readonly AbiParameter[]): number {
  return parameters.reduce((digits, parameter) => digits + headDigits(parameter), 0)
}

function componentsOf(parameter: AbiParameter): readonly AbiParameter[] {
  return 'components' in parameter ? parameter.components : []
}

/**
 * Slicing and comparing is a third faster than startsWith at a position (measured on recorded
 * Transfers).
 */
const isAt = (text: string, at: string, skip: number, digits: string) =>
  digits === ''
    ? 'true'
    : `${text}.slice(${at} + ${skip}, ${at} + ${skip + digits.length}) === ${JSON.stringify(digits)}`

const zeros = (count: number) => '0'.repeat(count)

const addressSource: WordSource = {
  condition: (text, at) => isAt(text, at, 0, zeros(24)),
  value: (text, at) => `'0x' + ${text}.slice(${at} + 24, ${at} + 64)`,
}

const boolSource: WordSource = {
  condition: (text, at) =>
    `${isAt(text, at, 0, zeros(63))} && (${text}[${at} + 63] === '0' || ${text}[${at} + 63] === '1')`,
  value: (text, at) => `${text}[${at} + 63] === '1'`,
}

/** viem's mapping: a JavaScript number up to 48 bits, a bigint above. */
const NUMBER_BITS_MAX = 48

function uintSource(bits: number): WordSource {
  const padding = WORD_DIGITS - bits / 4
  const parse = bits <= NUMBER_BITS_MAX ? 'Number' : 'BigInt'
  return {
    condition: (text, at) => isAt(text, at, 0, zeros(padding)),
    value: (text, at) => `${parse}('0x' + ${text}.slice(${at} + ${padding}, ${at} + 64))`,
  }
}

/**
 * Two's complement: the padding repeats the sign bit, which is the top bit of the first digit after
 * it.
 */
function intSource(bits: number): WordSource {
  const padding = WORD_DIGITS - bits / 4
  return {
    condition: (text, at) =>
      `(${text}[${at} + ${padding}] < '8' ? ${isAt(text, at, 0, zeros(padding))} : ${isAt(text, at, 0, 'f'.repeat(padding))})`,
    value: (text, at) => {
      const digits = `'0x' + ${text}.slice(${at} + ${padding}, ${at} + 64)`
      if (bits > NUMBER_BITS_MAX) return `BigInt.asIntN(${bits}, BigInt(${digits}))`
      return `(Number(${digits}) - (${text}[${at} + ${padding}] < '8' ? 0 : ${2 ** bits}))`
    },
  }
}

function fixedBytesSource(size: number): WordSource {
  const digits = size * 2
  return {
    condition: (text, at) => isAt(text, at, digits, zeros(WORD_DIGITS - digits)),
    value: (text, at) => `'0x' + ${text}.slice(${at}, ${at} + ${digits})`,
  }
}

function elementaryReader(type: string): ValueReader {
  const source = elementarySource(type)
  if (source === null) throw new TypeError(`an event cannot hold the type ${type}`)
  const body = `return ${source.condition('data', 'at')} ? ${source.value('data', 'at')} : undefined`
  // The text is made of constants of this file and numbers; nothing of the signature gets into it.
  return new Function('data', 'base', 'at', body) as ValueReader
}

/** Follows the offset at `at` to the value's tail. */
function behindOffset(read: (data: string, at: number, budget: Budget) => unknown): ValueReader {
  return (data, base, at, budget) => {
    const offset = readSize(data, at)
    return offset === undefined ? undefined : read(data, base + offset * 2, budget)
  }
}

/** A length or offset; undefined when it is cut off or larger than any data could be. */
function readSize(data: string, at: number): number | undefined {
  const digits = 12
  if (at + WORD_DIGITS > data.length || !data.startsWith('0'.repeat(WORD_DIGITS - digits), at))
    return undefined
  return Number(`0x${data.slice(at + WORD_DIGITS - digits, at + WORD_DIGITS)}`)
}

function readBytes(data: string, at: number): string | undefined {
  const length = readSize(data, at)
  const start = at + WORD_DIGITS
  if (length === undefined || start + length * 2 > data.length) return undefined
  return `0x${data.slice(start, start + length * 2)}`
}

function readString(data: string, at: number): string | undefined {
  const bytes = readBytes(data, at)
  return bytes === undefined ? undefined : textOfBytes(Buffer.from(bytes.slice(2), 'hex'))
}

function listReader(element: AbiParameter): ValueReader {
  const read = sequenceReader(element)
  return behindOffset((data, at, budget) => {
    const length = readSize(data, at)
    return length === undefined ? undefined : read(data, at + WORD_DIGITS, length, budget)
  })
}

function fixedArrayReader(element: AbiParameter, length: number): ValueReader {
  const read = sequenceReader(element)
  if (isDynamic(element)) return behindOffset((data, at, budget) => read(data, at, length, budget))
  return (data, _base, at, budget) => read(data, at, length, budget)
}

/**
 * Values with a head word of their own, which is what the budget counts; a static tuple or array
 * only has its parts'.
 */
function hasOwnWord(parameter: AbiParameter): boolean {
  return isDynamic(parameter) || elementarySource(parameter.type) !== null
}

/** Reads `length` values of one type; their offsets count from the first one's head. */
function sequenceReader(element: AbiParameter) {
  const read = valueReader(element)
  const digits = headDigits(element)
  const cost = hasOwnWord(element) ? 1 : 0
  return (data: string, at: number, length: number, budget: Budget): unknown[] | undefined => {
    if (at + length * digits > data.length) return undefined
    budget.left -= length * cost
    if (budget.left < 0) return undefined
    const values: unknown[] = []
    for (let index = 0; index < length; index++) {
      const value = read(data, at, at + index * digits, budget)
      if (value === undefined) return undefined
      values.push(value)
    }
    return values
  }
}

/**
 * Reads components in order: an object by their names, or an array when any has none (as viem gives
 * it).
 */
function tupleReader(components: readonly AbiParameter[]): ValueReader {
  const readers = components.map(valueReader)
  const digits = components.map(headDigits)
  const names = components.map((component, index) => component.name || String(index))
  const isNamed = components.every((component) => component.name)
  const total = headDigitsOf(components)
  const cost = components.filter(hasOwnWord).length
  const read = (data: string, at: number, budget: Budget): unknown => {
    if (at + total > data.length) return undefined
    budget.left -= cost
    if (budget.left < 0) return undefined
    const values: unknown[] = []
    let head = at
    for (const [index, reader] of readers.entries()) {
      const value = reader(data, at, head, budget)
      if (value === undefined) return undefined
      values.push(value)
      head += digits[index] ?? 0
    }
    return isNamed ? Object.fromEntries(values.map((value, index) => [names[index], value])) : values
  }
  if (components.some(isDynamic)) return behindOffset(read)
  return (data, _base, at, budget) => read(data, at, budget)
}
