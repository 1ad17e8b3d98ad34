/** Reads ClickHouse's binary row format piece by piece. */

import { valueBytesMax } from '../limits.ts'
import { UserQueryError } from '../UserQueryError.ts'

/** A place in the answer's bytes; reading past the end is a broken answer. */
export class ByteCursor {
  readonly #bytes: Buffer
  #at = 0
  #committed = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** What was read so far is whole. */
  commit(): void {
    this.#committed = this.#at
  }

  /** The bytes behind the last commit. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#committed)
  }

  /** The next `length` bytes, not copied. */
  take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new AnswerEndedError()
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  /** LEB128. */
  varint(): number {
    let value = 0
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.take(1)[0] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new AnswerEndedError()
  }

  /** Bytes with their length in front. */
  block(): Buffer {
    const length = this.varint()
    if (length > valueBytesMax) {
      throw new UserQueryError('sql_failed', `a value is larger than ${valueBytesMax} bytes`)
    }
    return this.take(length)
  }

  text(): string {
    return this.block().toString('utf8')
  }

  /** A little-endian whole number of `width` bytes. */
  integer(width: number, isSigned: boolean): bigint {
    const hex = Buffer.from(this.take(width)).reverse().toString('hex')
    const value = BigInt(`0x${hex}`)
    return isSigned ? BigInt.asIntN(width * 8, value) : value
  }
}

/** The bytes ended where a value goes on: more may come, or the engine broke off. */
export class AnswerEndedError extends UserQueryError {
  constructor() {
    super('sql_unavailable', 'ClickHouse broke off its answer')
  }
}
