/**
 * Parts of the raw archive that were unpacked lately. Unpacking is most of what a page of
 * transactions costs, and most pages asked for are of the newest blocks. A part is kept under the
 * hash of its block, so that no revert makes one wrong.
 */
import { type OpenPart, openArchivedPart } from '#transform/decode/openArchivedPart.ts'

export interface PartName {
  readonly blockHash: string
  readonly part: number
}

/** Some 300 parts of 16 transactions with two transfers each. */
const BYTES_MAX = 32 * 1024 * 1024

export class OpenParts {
  /** Oldest use first. */
  readonly #parts = new Map<string, OpenPart>()
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Unpacks the part unless it is held. @throws when it is damaged */
  open({ blockHash, part }: PartName, packed: () => Uint8Array): OpenPart {
    const name = `${blockHash}/${part}`
    const held = this.#parts.get(name)
    if (held) {
      this.#parts.delete(name)
      this.#parts.set(name, held)
      return held
    }
    const opened = openArchivedPart(packed())
    this.#parts.set(name, opened)
    this.#bytes += opened.bytes
    for (const [oldest, { bytes }] of this.#parts) {
      if (this.#bytes <= this.#bytesMax) break
      this.#parts.delete(oldest)
      this.#bytes -= bytes
    }
    return opened
  }

  /** Unpacked bytes held. */
  get bytes(): number {
    return this.#bytes
  }
}
