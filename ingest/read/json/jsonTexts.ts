import type { Hex } from '#primitives.ts'
import type { Quantity } from '../block.ts'
import { declined, type JsonCursor } from './jsonCursor.ts'

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
    const digits = this.cursor.passHex()
    if (digits !== 2 * width) throw declined
    return this.#passed(digits)
  }

  readBytesOrNull(width: number): Hex | null {
    return this.cursor.skipNull() ? null : this.readBytes(width)
  }

  /** Any number of bytes. */
  readHexOrNull(): Hex | null {
    if (this.cursor.skipNull()) return null
    const digits = this.cursor.passHex()
    if (digits % 2 !== 0) throw declined
    return this.#passed(digits)
  }

  /** Any number of digits, leading zeros or not. */
  readDigits(): Hex {
    return this.#passed(this.cursor.passHex())
  }

  /** A quantity of at most `digitsMax` digits. */
  readQuantity(digitsMax: number): Quantity {
    const digits = this.cursor.passQuantity()
    if (digits > digitsMax) throw declined
    return this.#passed(digits)
  }

  readQuantityOrNull(digitsMax: number): Quantity | null {
    return this.cursor.skipNull() ? null : this.readQuantity(digitsMax)
  }

  /** What the cursor just passed, with its quote. */
  #passed(digits: number): Hex {
    const to = this.cursor.at - 1
    return this.#text.slice(to - digits - 2, to) as Hex
  }
}
