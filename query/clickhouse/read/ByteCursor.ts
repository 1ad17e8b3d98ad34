/** Reads ClickHouse's binary row format piece by piece. */

import { VALUE_BYTES_MAX } from '../../limits.ts'
import { UserQueryError } from '../../UserQueryError.ts'

/** A place in the answer's bytes; reading past the end is a broken answer. */
export class ByteCursor {
  /** All of the answer's piece; `advance` tells places in it. */
  readonly bytes: Buffer
  #at = 0
  #committed = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.bytes.length
  }

  /** Marks all that was read so far as whole. */
  commit(): void {
    this.#committed = this.#at
  }

  /** The bytes behind the last commit. */
  rest(): Buffer {
    return this.bytes.subarray(this.#committed)
  }

  /** The next `length` bytes, not copied. */
  take(length: number): Buffer {
    const start = this.advance(length)
    return this.bytes.subarray(start, start + length)
  }

  /** The start of the next `length` bytes. */
  advance(length: number): number {
    const start = this.#at
    if (start + length > this.bytes.length) throw new AnswerEndedError()
    this.#at = start + length
    return start
  }

  byte(): number {
    return this.bytes[this.advance(1)] ?? 0
  }

  /** LEB128. */
  varint(): number {
    let value = 0
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.byte()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new AnswerEndedError()
  }

  /** Bytes with their length in front. */
  block(): Buffer {
    return this.take(this.blockLength())
  }

  /** The length in front of bytes. */
  blockLength(): number {
    const length = this.varint()
    if (length > VALUE_BYTES_MAX) {
      throw new UserQueryError('sql_failed', `a value is larger than ${VALUE_BYTES_MAX} bytes`)
    }
    return length
  }

  text(): string {
    return this.block().toString('utf8')
  }

  /** A little-endian whole number of `width` bytes. */
  integer(width: number, isSigned: boolean): bigint {
    const start = this.advance(width)
    if (width <= 4) {
      const { bytes } = this
      return BigInt(isSigned ? bytes.readIntLE(start, width) : bytes.readUIntLE(start, width))
    }
    let value = 0n
    for (let at = start + width - 8; at >= start; at -= 8)
      value = (value << 64n) | this.bytes.readBigUInt64LE(at)
    return isSigned ? BigInt.asIntN(width * 8, value) : value
  }

  /**
   * The same where it is small, which it mostly is; undefined, and nothing is read, where a number
   * cannot hold it.
   */
  smallInteger(width: number, isSigned: boolean): number | undefined {
    const start = this.advance(width)
    const { bytes } = this
    if (width <= 4) return isSigned ? bytes.readIntLE(start, width) : bytes.readUIntLE(start, width)
    let isSmall = bytes.readUInt32LE(start + 4) < 2 ** 21
    for (let at = start + 8; isSmall && at < start + width; at += 4) isSmall = bytes.readUInt32LE(at) === 0
    if (isSmall) return bytes.readUInt32LE(start + 4) * 2 ** 32 + bytes.readUInt32LE(start)
    this.#at = start
    return undefined
  }
}

/** The bytes ended where a value goes on: more may come, or the engine broke off. */
export class AnswerEndedError extends UserQueryError {
  constructor() {
    super('sql_unavailable', 'ClickHouse broke off its answer')
  }
}
