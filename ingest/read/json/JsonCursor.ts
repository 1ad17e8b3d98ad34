/**
 * Reads a node's JSON byte by byte, without making values of what it passes. It understands the
 * compact JSON that nodes write; whatever else it meets (blanks, escapes, an unexpected kind of
 * value) it declines, and the caller takes the way over JSON.parse, which also finds the words for
 * what is wrong. Hex and quantities are read as they are usually written first; where they are not,
 * spelling.ts is asked.
 */
import { spelledHex, spelledQuantity } from '../spelling.ts'
import type { ByteBuffer, BytesAt } from './ByteBuffer.ts'
import { decodeHex, digitsEnd, digitValue } from './hexBytes.ts'
import { NESTING_MAX } from './nesting.ts'

/**
 * Thrown, and caught by whoever started a scan: these bytes are for JSON.parse. One object, since
 * no stack is wanted.
 */
export const declined = new Error('not the JSON that can be scanned')

export const ascii = {
  quote: 0x22,
  comma: 0x2c,
  zero: 0x30,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  letterN: 0x6e,
  capitalX: 0x58,
  letterX: 0x78,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const

/**
 * Values beside texts, lists and objects; a fraction or exponent behind an integer is declined by
 * what reads on.
 */
const scalarPattern = /^(?:null|true|false|0|[1-9]\d{0,14})/
const SCALAR_MAX = 16

/** Decimal digits that are exact as a number, whatever they are. */
const DECIMAL_DIGITS_MAX = 15
/** 13 digits are 52 bits: exact as a number. */
export const EXACT_DIGITS = 13
const BLANK = 0x20

/** The place of a value in the source. */
export interface Slice {
  readonly from: number
  readonly to: number
}

export class JsonCursor {
  readonly source: Buffer
  /** The same bytes, for four at a step. */
  readonly view: DataView
  readonly #end: number
  at: number

  constructor(source: Buffer, at = 0) {
    this.source = source
    this.#end = source.length
    this.view = new DataView(source.buffer, source.byteOffset, source.byteLength)
    this.at = at
  }

  peek(): number {
    return this.source[this.at] ?? 0
  }

  expect(character: number): void {
    if (this.source[this.at] !== character) throw declined
    this.at++
  }

  /** After an item: true when another follows, false when the list or object ended here. */
  hasNext(close: number): boolean {
    const character = this.source[this.at++]
    if (character === ascii.comma) return true
    if (character !== close) throw declined
    return false
  }

  /** Whether this text stands here. */
  startsWith({ view, length }: AsciiText): boolean {
    return this.at + length <= this.#end && isSame(this.view, this.at, view, 0, length)
  }

  /** Passes bytes, four at least, that stand at `place` too, and says so; otherwise stays. */
  skipSame(place: number, length: number): boolean {
    if (this.at + length > this.#end || !isSame(this.view, this.at, this.view, place, length)) return false
    this.at += length
    return true
  }

  /** Passes exactly this text in quotes and says so; otherwise stays. */
  skipQuoted(text: string): boolean {
    const { source } = this
    const start = this.at + 1
    for (let index = 0; index < text.length; index++) {
      if (source[start + index] !== text.charCodeAt(index)) return false
    }
    const end = start + text.length
    if (source[start - 1] !== ascii.quote || source[end] !== ascii.quote) return false
    this.at = end + 1
    return true
  }

  /** Passes this text of bytes, in any spelling. */
  expectHex(text: string): void {
    if (!this.skipQuoted(text) && spelledHex(this.readText()) !== text) throw declined
  }

  /** Passes this quantity, in any spelling. */
  expectQuantity(text: string): void {
    if (!this.skipQuoted(text) && spelledQuantity(this.readText()) !== text) throw declined
  }

  /** Passes `null` and says so; otherwise stays. */
  skipNull(): boolean {
    if (this.peek() !== ascii.letterN) return false
    this.expectWord(words.null)
    return true
  }

  expectWord(word: AsciiText): void {
    if (!this.startsWith(word)) throw declined
    this.at += word.length
  }

  readBoolean(): boolean {
    const isTrue = this.startsWith(words.true)
    this.expectWord(isTrue ? words.true : words.false)
    return isTrue
  }

  /** Passes a text of any characters that JSON does not escape. */
  readText(): string {
    this.expect(ascii.quote)
    const start = this.at
    const end = this.#quoteAfter(start)
    this.at = end + 1
    return this.source.toString('latin1', start, end)
  }

  /** Appends the `width` bytes of a hex text to `target` and returns where they are. */
  readBytes(width: number, target: ByteBuffer): BytesAt {
    this.#expectPrefix()
    target.reserve(width)
    const place = target.end
    if (this.at + 2 * width > this.#end) throw declined
    if (!decodeHex(this.view, this.at, target.view, place, width)) throw declined
    target.length += width
    this.at += 2 * width
    this.expect(ascii.quote)
    return place
  }

  readBytesOrNull(width: number, target: ByteBuffer): BytesAt | null {
    return this.skipNull() ? null : this.readBytes(width, target)
  }

  /** Bytes of any number; their count stands in front of them, as `ByteBuffer.sizeAt` reads it. */
  readSizedBytes(target: ByteBuffer): BytesAt {
    this.#expectPrefix()
    const digits = this.#quoteAfter(this.at) - this.at
    if (digits % 2 !== 0) throw declined
    const place = target.putSize(digits / 2)
    if (!decodeHex(this.view, this.at, target.view, place, digits / 2)) throw declined
    target.length += digits / 2
    this.at += digits + 1
    return place
  }

  /** A quantity that a JavaScript number holds exactly. */
  readNumber(): number {
    const digits = this.quantityDigits()
    if (digits < 0 || digits > EXACT_DIGITS) return Number(this.respelledQuantity(EXACT_DIGITS))
    let number = 0
    for (const end = this.at + digits; this.at < end; this.at++) {
      number = number * 16 + digitValue(this.peek())
    }
    this.at++
    return number
  }

  /**
   * A number as JSON writes it, an integer that a JavaScript number holds exactly. What stands
   * behind it is for the caller to check.
   */
  readInteger(): number {
    const { source, at } = this
    let number = 0
    let end = at
    for (; end - at < DECIMAL_DIGITS_MAX; end++) {
      const digit = (source[end] ?? 0) - ascii.zero
      if (digit < 0 || digit > 9) break
      number = number * 10 + digit
    }
    if (end === at || (source[at] === ascii.zero && end - at > 1)) throw declined
    this.at = end
    return number
  }

  /** A quantity of at most `digitsMax` digits as its text, `0x` included. */
  readQuantity(digitsMax: number): `0x${string}` {
    const digits = this.quantityDigits()
    if (digits < 0 || digits > digitsMax) return this.respelledQuantity(digitsMax)
    const start = this.at
    this.at += digits + 1
    // A status, or a parity: most quantities that are kept as text.
    if (digits === 1) return oneDigit[digitValue(this.source[start] ?? 0)] ?? '0x0'
    return `0x${this.source.toString('latin1', start, start + digits)}`
  }

  readQuantityOrNull(digitsMax: number): `0x${string}` | null {
    return this.skipNull() ? null : this.readQuantity(digitsMax)
  }

  /** Passes `0x` and says how many lowercase digits stand before the quote; -1 for another spelling. */
  hexDigits(): number {
    this.#expectPrefix()
    const { source, at } = this
    const end = digitsEnd(source, at)
    return source[end] === ascii.quote && source[at - 1] === ascii.letterX ? end - at : -1
  }

  /** The same of a quantity; -1 too where it begins with a zero, or has no digit. */
  quantityDigits(): number {
    const digits = this.hexDigits()
    return digits === 0 || (digits > 1 && this.source[this.at] === ascii.zero) ? -1 : digits
  }

  /** Behind `0x`: a text of bytes in another spelling, to the end of its text. */
  respelledHex(): `0x${string}` {
    return this.#respelled(spelledHex)
  }

  /** Behind `0x`: a quantity of at most `digitsMax` digits in another spelling. */
  respelledQuantity(digitsMax: number): `0x${string}` {
    const quantity = this.#respelled(spelledQuantity)
    if (quantity.length > 2 + digitsMax) throw declined
    return quantity
  }

  /**
   * Passes any value. The inside of lists and objects is not looked at: whoever needs it valid
   * parses it.
   */
  skipValue(): void {
    const character = this.peek()
    if (character === ascii.quote) this.at = this.#quoteAfter(this.at + 1) + 1
    else if (character === ascii.openList) this.skipList(ascii.closeList)
    else if (character === ascii.openObject) this.skipList(ascii.closeObject)
    else this.#skipScalar()
  }

  /** Passes any value that is valid JSON. */
  skipValidValue(): void {
    const start = this.at
    this.skipValue()
    if (this.source[start] !== ascii.openList && this.source[start] !== ascii.openObject) return
    try {
      JSON.parse(this.source.toString('utf8', start, this.at))
    } catch {
      throw declined
    }
  }

  /**
   * Passes a list or an object, whatever is in it, unless it is deep; whoever needs it valid parses
   * it.
   */
  skipList(close: number): void {
    let depth = 0
    for (const end = this.source.length; this.at < end; ) {
      const character = this.source[this.at++]
      if (character === ascii.quote) this.at = this.#quoteAfter(this.at) + 1
      else if (character === ascii.openList || character === ascii.openObject) {
        if (++depth > NESTING_MAX) break
      } else if (character === ascii.closeList || character === ascii.closeObject) {
        if (--depth > 0) continue
        if (character === close) return
        break
      }
    }
    throw declined
  }

  #respelled(spelled: (text: string) => `0x${string}` | null): `0x${string}` {
    const start = this.at
    const end = this.#quoteAfter(start)
    const text = spelled(`0x${this.source.toString('latin1', start, end)}`)
    if (text === null) throw declined
    this.at = end + 1
    return text
  }

  /** The second form is written by no node that we know of, and read by most. */
  #expectPrefix(): void {
    const { source, at } = this
    const isPrefix = source[at] === ascii.quote && source[at + 1] === ascii.zero
    if (!isPrefix || (source[at + 2] !== ascii.letterX && source[at + 2] !== ascii.capitalX)) throw declined
    this.at = at + 3
  }

  /** The end of a text that starts at `from`. */
  #quoteAfter(from: number): number {
    const { source, view } = this
    let at = from
    for (const last = source.length - 4; at <= last; at += 4) {
      if (endsText(view.getInt32(at, true))) break
    }
    for (; at < source.length; at++) {
      const character = source[at] ?? 0
      if (character === ascii.quote) return at
      if (character === ascii.backslash || character < BLANK) break
    }
    throw declined
  }

  #skipScalar(): void {
    const text = this.source.toString('latin1', this.at, this.at + SCALAR_MAX)
    const [scalar] = scalarPattern.exec(text) ?? []
    if (scalar === undefined) throw declined
    this.at += scalar.length
  }
}

/**
 * Whether one of four characters is a quote, a backslash or below a blank. A subtraction sets the
 * highest bit of a byte that had it unset only if one is below what is taken from it. Takes 0.6 of
 * the time of a character at a time.
 */
function endsText(four: number): boolean {
  const quote = four ^ 0x22222222
  const backslash = four ^ 0x5c5c5c5c
  const found =
    (((quote - 0x01010101) | 0) & ~quote) |
    (((backslash - 0x01010101) | 0) & ~backslash) |
    (((four - 0x20202020) | 0) & ~four)
  return (found & HIGHEST_BITS) !== 0
}

const HIGHEST_BITS = 0x80808080 | 0

const oneDigit = Array.from({ length: 16 }, (_, value): `0x${string}` => `0x${value.toString(16)}`)

/**
 * Four bytes at least, as `startsWith` takes them. The length stands beside: asked of the view, V8
 * calls a function for it.
 */
export interface AsciiText {
  readonly view: DataView
  readonly length: number
}

export function asciiText(text: string): AsciiText {
  const { buffer, length } = Uint8Array.from(text, (character) => character.charCodeAt(0))
  return { view: new DataView(buffer), length }
}

export const words = { null: asciiText('null'), true: asciiText('true'), false: asciiText('false') } as const

/** Four bytes at a step; the last step overlaps the one before. */
function isSame(one: DataView, at: number, other: DataView, otherAt: number, length: number): boolean {
  const last = length - 4
  for (let offset = 0; offset < last; offset += 4) {
    if (one.getInt32(at + offset, true) !== other.getInt32(otherAt + offset, true)) return false
  }
  return one.getInt32(at + last, true) === other.getInt32(otherAt + last, true)
}
