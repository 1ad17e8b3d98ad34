/**
 * Recursive Length Prefix encoding (Yellow Paper, appendix B), written backwards: the prefix of a
 * list holds the size of its content, which is known once the content stands behind it, so nothing
 * is measured first or moved afterwards.
 */

import type { ByteBuffer } from '../../read/json/ByteBuffer.ts'

/**
 * A value that can be encoded: bytes as checked lowercase `0x` text, raw bytes, lists. A quantity (`0x0`,
 * `0x1f4`) is given as nodes write it: zero is the empty string, and an odd number of digits starts with a
 * byte of one digit. Absent values are the empty string, which is how RLP writes an absent field that
 * others follow.
 */
export type RlpItem = string | Uint8Array | null | undefined | readonly RlpItem[]

/** Holds one large transaction or trie node; the buffer doubles when something is larger. */
const BYTES_AT_FIRST = 1 << 16

/**
 * A reusable buffer filled from its end. A mark is the number of bytes written when it was taken;
 * it survives growth.
 */
export class RlpWriter {
  written = 0
  #bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_AT_FIRST)
  #view: DataView = viewOf(this.#bytes)

  /** The bytes written after a mark, as a view that is valid until the next write. */
  since(mark: number): Uint8Array {
    const length = this.#bytes.length
    return this.#bytes.subarray(length - this.written, length - mark)
  }

  /** Forgets what was written after a mark. */
  rewind(mark: number): void {
    this.written = mark
  }

  /** Puts one item in front of what is written. */
  writeItem(item: RlpItem): void {
    if (typeof item === 'string') this.#writeText(item)
    else if (item === null || item === undefined) this.writeByte(EMPTY_STRING)
    else if (item instanceof Uint8Array) this.writeString(item)
    else this.writeList(item)
  }

  /** Puts a list in front of what is written. */
  writeList(items: readonly RlpItem[]): void {
    const mark = this.written
    for (let index = items.length - 1; index >= 0; index--) this.writeItem(items[index])
    this.closeList(mark)
  }

  /** Puts a byte string in front of what is written. */
  writeString(bytes: Uint8Array): void {
    const mark = this.written
    this.writeBytes(bytes)
    this.closeString(mark)
  }

  /** Makes a list of all items written since the mark. */
  closeList(mark: number): void {
    this.#writePrefix(this.written - mark, EMPTY_LIST)
  }

  /**
   * Makes one byte string of all bytes written since the mark. A single byte below 0x80 is its own
   * encoding.
   */
  closeString(mark: number): void {
    const size = this.written - mark
    if (size === 1 && this.#firstByte() < EMPTY_STRING) return
    this.#writePrefix(size, EMPTY_STRING)
  }

  /** Puts bytes in front of what is written, without a prefix. */
  writeBytes(bytes: Uint8Array): void {
    const start = this.#take(bytes.length)
    this.#bytes.set(bytes, start)
  }

  /**
   * Puts a byte string in front of what is written, given as text whose characters are its bytes.
   */
  writeLatin1(text: string): void {
    const mark = this.written
    const start = this.#take(text.length)
    this.#bytes.write(text, start, 'latin1')
    this.closeString(mark)
  }

  /** Puts a byte string that is part of a buffer in front of what is written. */
  writeSlice({ bytes, view }: ByteBuffer, from: number, length: number): void {
    const mark = this.written
    const start = this.#take(length)
    if (length > COPIED_MAX) this.#bytes.set(bytes.subarray(from, from + length), start)
    else copyShort(view, from, this.#view, start, length)
    this.closeString(mark)
  }

  /** Puts a number that is written without leading zeros in front of what is written. */
  writeNumber(value: number): void {
    const mark = this.written
    for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) this.writeByte(rest % 256)
    this.closeString(mark)
  }

  /** Puts one byte in front of what is written, without a prefix. */
  writeByte(byte: number): void {
    const start = this.#take(1)
    this.#bytes[start] = byte
  }

  /**
   * Puts the bytes of a `0x` text in front of what is written, without a prefix. The text must have
   * been checked if it is short (`NATIVE_FROM`); a longer one that is no hex writes nothing, and
   * never lets stand what was written there before.
   */
  writeHex(text: string): void {
    const size = (text.length >> 1) - 1
    const start = this.#take(size)
    if (size < NATIVE_FROM) decodeShort(text, this.#bytes, start)
    else if (this.#bytes.write(text.slice(2), start, 'hex') < size) this.written -= size
  }

  #writeText(text: string): void {
    if (text === '0x0') {
      this.writeByte(EMPTY_STRING)
      return
    }
    const mark = this.written
    this.writeHex(text.length % 2 === 0 ? text : `0x0${text.slice(2)}`)
    this.closeString(mark)
  }

  #writePrefix(size: number, kind: number): void {
    if (size <= 55) {
      this.writeByte(kind + size)
      return
    }
    let lengthBytes = 0
    for (let rest = size; rest > 0; rest >>>= 8) {
      this.writeByte(rest & 0xff)
      lengthBytes++
    }
    this.writeByte(kind + 55 + lengthBytes)
  }

  #firstByte(): number {
    return this.#bytes[this.#bytes.length - this.written] ?? 0
  }

  /** Makes room for `size` bytes and says where they start. */
  #take(size: number): number {
    this.written += size
    if (this.written > this.#bytes.length) this.#grow(size)
    return this.#bytes.length - this.written
  }

  #grow(size: number): void {
    const before = this.#bytes
    let length = before.length
    while (length < this.written) length *= 2
    this.#bytes = Buffer.allocUnsafeSlow(length)
    const held = this.written - size
    before.copy(this.#bytes, length - held, before.length - held)
    this.#view = viewOf(this.#bytes)
  }
}

const EMPTY_STRING = 0x80
const EMPTY_LIST = 0xc0

/**
 * For fewer bytes a loop is faster than a call into Node's hex decoder (measured: even at 20
 * bytes).
 */
const NATIVE_FROM = 20

/** Up to this many bytes a loop is faster than making the view that `set` takes. */
const COPIED_MAX = 64

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Four bytes at a step take a third of the time of one. */
function copyShort(source: DataView, from: number, target: DataView, start: number, length: number): void {
  let index = 0
  for (; index + 4 <= length; index += 4) target.setInt32(start + index, source.getInt32(from + index))
  for (; index < length; index++) target.setInt8(start + index, source.getInt8(from + index))
}

const digits = new Uint8Array(128)
for (let digit = 0; digit < 16; digit++) digits[digit.toString(16).charCodeAt(0)] = digit

function decodeShort(text: string, target: Uint8Array, start: number): void {
  let position = start
  for (let index = 2; index < text.length; index += 2) {
    const high = digits[text.charCodeAt(index)] ?? 0
    const low = digits[text.charCodeAt(index + 1)] ?? 0
    target[position++] = (high << 4) | low
  }
}
