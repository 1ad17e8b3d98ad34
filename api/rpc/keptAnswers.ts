/**
 * Answers about the state of final blocks, which never changes: kept by what was asked, with the
 * height in place of any tag.
 */

/** Characters kept, answers and questions together. */
const CHARACTERS_MAX = 32 * 1024 * 1024
/** A longer answer would push out too many others. */
const ANSWER_CHARACTERS_MAX = 64 * 1024

export class KeptAnswers {
  readonly #answers = new Map<string, string>()
  #characters = 0

  /** JSON of the result; undefined where none is kept. */
  get(key: string): string | undefined {
    const kept = this.#answers.get(key)
    if (kept === undefined) return undefined
    this.#answers.delete(key)
    this.#answers.set(key, kept)
    return kept
  }

  /** Results that say nothing (null, an empty list) may come of a node that does not know yet. */
  keep(key: string, text: string): void {
    if (text === 'null' || text === '[]' || text.length > ANSWER_CHARACTERS_MAX) return
    if (this.#answers.has(key)) return
    this.#answers.set(key, text)
    this.#characters += key.length + text.length
    for (const [oldest, answer] of this.#answers) {
      if (this.#characters <= CHARACTERS_MAX) break
      this.#answers.delete(oldest)
      this.#characters -= oldest.length + answer.length
    }
  }
}
