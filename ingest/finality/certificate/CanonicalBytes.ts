/** Bytes as commonware's codec writes them: each value has one spelling, any other is refused. */

/** Seven bits a byte, up to 2^53. */
const VARINT_BYTES_MAX = 8

/** Reads from front to back. Its methods throw CanonicalBytesError. */
export class CanonicalBytes {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The start of the next value, in bytes. */
  get at(): number {
    return this.#at
  }

  take(length: number): Uint8Array {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new CanonicalBytesError(this.#at, 'ends too early')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  /** LEB128 without leading zero groups. */
  varint(): number {
    const begin = this.#at
    let value = 0
    for (let index = 0; index < VARINT_BYTES_MAX; index++) {
      const byte = this.byte()
      value += (byte & 0x7f) * 2 ** (7 * index)
      if (byte >= 0x80) continue
      if (byte === 0 && index > 0) throw new CanonicalBytesError(begin, 'is longer than its number needs')
      if (Number.isSafeInteger(value)) return value
      break
    }
    throw new CanonicalBytesError(begin, 'is a number past 2^53')
  }

  byte(): number {
    const [byte = 0] = this.take(1)
    return byte
  }

  flag(): boolean {
    const begin = this.#at
    const byte = this.byte()
    if (byte > 1) throw new CanonicalBytesError(begin, 'is neither yes nor no')
    return byte === 1
  }

  end(): void {
    if (this.#at < this.#bytes.length) throw new CanonicalBytesError(this.#at, 'is behind the end')
  }
}

/** It never leaves the room: its catchers say what the bytes were to be. */
export class CanonicalBytesError extends Error {
  constructor(at: number, problem: string) {
    super(`what stands at byte ${at} ${problem}`)
  }
}

/** The least bytes that say the number, which is a whole one from 0 to 2^53 - 1. */
export function varintBytes(value: number): Uint8Array {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Uint8Array.from([...bytes, rest])
    bytes.push((rest % 128) | 0x80)
  }
}
