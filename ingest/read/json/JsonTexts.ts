import type { Hex } from '#primitives.ts'
import type { Quantity } from '../block.ts'
import { declined, type JsonCursor } from './JsonCursor.ts'

/**
 * Reads texts where a cursor stands, as slices of the whole source: they are checked, but neither
 * copied nor decoded.
 */
export class JsonTexts {
  readonly cursor: JsonCursor
  /** The source, a character per byte. */
  readonly #text: string

  constructor(cursor: JsonCursor) {
    this.cursor = cursor
    this.#text = cursor.source.toString('latin1')
  }

  /** Exactly `width` bytes. */
  readBytes(width: number): Hex {
    const digits = this.cursor.hexDigits()
    if (digits === 2 * width) return this.#passed(digits)
    const text = this.cursor.respelledHex()
    if (text.length !== 2 + 2 * width) throw declined
    return text
  }

  readBytesOrNull(width: number): Hex | null {
    return this.cursor.skipNull() ? null : this.readBytes(width)
  }

  /** Any number of bytes. */
  readHexOrNull(): Hex | null {
    if (this.cursor.skipNull()) return null
    const digits = this.cursor.hexDigits()
    if (digits % 2 === 0) return this.#passed(digits)
    const text = this.cursor.respelledHex()
    if (text.length % 2 !== 0) throw declined
    return text
  }

  /** Any number of digits, leading zeros or not. */
  readDigits(): Hex {
    const digits = this.cursor.hexDigits()
    return digits < 0 ? this.cursor.respelledHex() : this.#passed(digits)
  }

  /** A quantity of at most `digitsMax` digits. */
  readQuantity(digitsMax: number): Quantity {
    const digits = this.cursor.quantityDigits()
    if (digits < 0 || digits > digitsMax) return this.cursor.respelledQuantity(digitsMax)
    return this.#passed(digits)
  }

  readQuantityOrNull(digitsMax: number): Quantity | null {
    return this.cursor.skipNull() ? null : this.readQuantity(digitsMax)
  }

  /** Passes so many digits and their quote; they and `0x` before them are the text. */
  #passed(digits: number): Hex {
    const from = this.cursor.at
    this.cursor.at = from + digits + 1
    return this.#text.slice(from - 2, from + digits) as Hex
  }
}
