/**
 * Rows as JSON, written from an engine's own bytes: no value becomes an object on its way, so a row
 * costs little more than the copying of its bytes. What is not plain goes through JSON.stringify,
 * with the same result.
 */

import type { RowBatch, SqlValue } from './result.ts'

/**
 * Enough for one piece of an answer as the system gives it (64 KiB), whose JSON may be twice as
 * long.
 */
const BYTES_AT_FIRST = 128 * 1024
/**
 * A longer run is copied by the system; a shorter one is faster byte by byte (measured at 40 to 60
 * bytes).
 */
const COPIED_MIN = 48

const [quote, comma, open, close, lineFeed, minus, zero] = [0x22, 0x2c, 0x5b, 0x5d, 0x0a, 0x2d, 0x30]
const hexDigits = Buffer.from('0123456789abcdef')

export class JsonRows {
  #bytes = Buffer.allocUnsafe(BYTES_AT_FIRST)
  #at = 0
  /** The end of the last whole row. */
  #whole = 0
  #count = 0
  #isFirst = true

  /** Bytes of the rows that were not taken. */
  get length(): number {
    return this.#whole
  }

  /** Begins a row, in the place of one that was not ended. */
  beginRow(): void {
    this.#at = this.#whole
    this.#isFirst = true
    this.#reserve(1)
    this.#bytes[this.#at++] = open
  }

  endRow(): void {
    this.#reserve(2)
    this.#bytes[this.#at++] = close
    this.#bytes[this.#at++] = lineFeed
    this.#whole = this.#at
    this.#count++
  }

  /** The rows since the last call; null when there are none. */
  take(): RowBatch | null {
    if (this.#count === 0) return null
    const batch = { count: this.#count, json: this.#bytes.subarray(0, this.#whole) }
    this.#bytes = Buffer.allocUnsafe(BYTES_AT_FIRST)
    this.#at = 0
    this.#whole = 0
    this.#count = 0
    return batch
  }

  null(): void {
    this.#begin(4)
    this.#ascii('null')
  }

  bool(value: boolean): void {
    this.#begin(5)
    this.#ascii(value ? 'true' : 'false')
  }

  /** Any value of the table. */
  value(value: SqlValue): void {
    const text = JSON.stringify(value)
    this.#begin(3 * text.length)
    this.#at += this.#bytes.write(text, this.#at)
  }

  /** These bytes as they are: a number. */
  plain(source: Buffer, start: number, end: number): void {
    this.#begin(end - start)
    this.#copy(source, start, end)
  }

  /** These bytes in quotes; the caller knows that none of them needs an escape. */
  quoted(source: Buffer, start: number, end: number): void {
    this.#begin(end - start + 2)
    this.#bytes[this.#at++] = quote
    this.#copy(source, start, end)
    this.#bytes[this.#at++] = quote
  }

  /**
   * UTF-8 in quotes, escaped where needed. @param read the text of bytes that are not plain ASCII
   */
  text(source: Buffer, start: number, end: number, read: (bytes: Buffer) => string = utf8Of): void {
    if (isPlain(source, start, end)) this.quoted(source, start, end)
    else this.value(read(source.subarray(start, end)))
  }

  /** Hex digits that stand in the source, behind 0x and in quotes. */
  digits(source: Buffer, start: number, end: number): void {
    this.#begin(end - start + 4)
    this.#ascii('"0x')
    this.#copy(source, start, end)
    this.#bytes[this.#at++] = quote
  }

  /** Bytes as hex, behind 0x and in quotes. */
  hex(source: Buffer, start: number, end: number): void {
    this.#begin(2 * (end - start) + 4)
    this.#ascii('"0x')
    const bytes = this.#bytes
    let to = this.#at
    for (let at = start; at < end; at++) {
      const byte = source[at] ?? 0
      bytes[to++] = hexDigits[byte >> 4] ?? 0
      bytes[to++] = hexDigits[byte & 0xf] ?? 0
    }
    bytes[to++] = quote
    this.#at = to
  }

  /** A safe whole number, in quotes or not. */
  integer(value: number, isQuoted: boolean): void {
    this.#begin(24)
    if (isQuoted) this.#bytes[this.#at++] = quote
    let rest = value
    if (rest < 0) {
      this.#bytes[this.#at++] = minus
      rest = -rest
    }
    let width = 1
    for (let bound = 10; bound <= rest; bound *= 10) width++
    for (let at = this.#at + width - 1; at >= this.#at; at--) {
      const shorter = Math.floor(rest / 10)
      this.#bytes[at] = zero + (rest - 10 * shorter)
      rest = shorter
    }
    this.#at += width
    if (isQuoted) this.#bytes[this.#at++] = quote
  }

  /** `2026-11-21 12:00:00` of the source as `"2026-11-21T12:00:00Z"`. */
  second(source: Buffer, start: number): void {
    this.#begin(22)
    this.#bytes[this.#at++] = quote
    this.#copy(source, start, start + 10)
    this.#ascii('T')
    this.#copy(source, start + 11, start + 19)
    this.#ascii('Z"')
  }

  /** Room for a value, behind a comma where one stands before it. */
  #begin(bytes: number): void {
    this.#reserve(bytes + 1)
    if (this.#isFirst) this.#isFirst = false
    else this.#bytes[this.#at++] = comma
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#at + bytes))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }

  #ascii(text: string): void {
    for (let index = 0; index < text.length; index++) this.#bytes[this.#at++] = text.charCodeAt(index)
  }

  #copy(source: Buffer, start: number, end: number): void {
    if (end - start >= COPIED_MIN) {
      source.copy(this.#bytes, this.#at, start, end)
      this.#at += end - start
      return
    }
    for (let at = start; at < end; at++) this.#bytes[this.#at++] = source[at] ?? 0
  }
}

const utf8Of = (bytes: Buffer): string => bytes.toString('utf8')

/** ASCII without what JSON escapes. */
function isPlain(source: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = source[at] ?? 0
    if (byte < 0x20 || byte === quote || byte === 0x5c || byte >= 0x7f) return false
  }
  return true
}
