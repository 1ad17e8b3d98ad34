import type { Hex } from '#primitives.ts'
import { declined, type JsonCursor } from './JsonCursor.ts'

/**
 * A text that a node repeats in item after item, such as the hash of their block. The first time
 * its characters are compared; from then on the bytes that stood there, four at a step, which takes
 * a fifth of the time.
 */
export class RepeatedText {
  readonly #text: string
  readonly #spelled: (text: string) => Hex | null
  /** Its last place in the spelling of this node, with its quotes. */
  #place = -1
  #length = 0

  /**
   * @param text two characters at least, without what JSON escapes
   * @param spelled gives `text` for each of its spellings
   */
  constructor(text: string, spelled: (text: string) => Hex | null) {
    this.#text = text
    this.#spelled = spelled
  }

  /** Passes this text in quotes. All calls are with one cursor. */
  expect(cursor: JsonCursor): void {
    if (this.#place >= 0 && cursor.skipSame(this.#place, this.#length)) return
    const { at } = cursor
    if (!cursor.skipQuoted(this.#text) && this.#spelled(cursor.readText()) !== this.#text) throw declined
    this.#place = at
    this.#length = cursor.at - at
  }
}
