/**
 * Takes the head off every block but the first: chDB formats each block of a streamed query by
 * itself, and RowBinaryWithNamesAndTypes begins with the number of columns, their names and types.
 */
import { queryError } from './QueryError.ts'

export class RepeatedHead {
  #head: Buffer | undefined

  /** @throws QueryError for a block with another head */
  strip(block: Uint8Array): Uint8Array {
    const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
    if (!this.#head) {
      // Copied: the block is the engine's memory.
      this.#head = Buffer.from(bytes.subarray(0, headLength(bytes)))
      return block
    }
    const { length } = this.#head
    if (!bytes.subarray(0, length).equals(this.#head))
      throw queryError('NOT_IMPLEMENTED', 'A block of the answer has columns of its own.')
    return block.subarray(length)
  }
}

/** A count, then as many names and as many types, each with its length in front. */
function headLength(bytes: Buffer): number {
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; at < bytes.length; shift += 7) {
      const byte = bytes[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    return value
  }
  const texts = 2 * varint()
  for (let text = 0; text < texts && at < bytes.length; text++) {
    const length = varint()
    at += length
  }
  return at
}
