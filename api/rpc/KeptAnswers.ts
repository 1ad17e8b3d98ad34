/**
 * Answers about the state of final blocks, which never changes: kept by what was asked, with the
 * height in place of any tag.
 */

import { BoundedMap } from '#runtime/BoundedMap.ts'

/** Characters kept, answers and questions together. */
const CHARACTERS_MAX = 32 * 1024 * 1024
/** A longer answer would push out too many others. */
const ANSWER_CHARACTERS_MAX = 64 * 1024

export class KeptAnswers {
  readonly #answers = new BoundedMap<string, string>({
    max: CHARACTERS_MAX,
    weigh: (text, key) => key.length + text.length,
  })

  /** JSON of the result; undefined where none is kept. */
  get(key: string): string | undefined {
    return this.#answers.use(key)
  }

  /** Results that say nothing (null, an empty list) may come of a node that does not know yet. */
  keep(key: string, text: string): void {
    if (text === 'null' || text === '[]' || text.length > ANSWER_CHARACTERS_MAX) return
    if (!this.#answers.has(key)) this.#answers.set(key, text)
  }
}
