/**
 * JSON texts that go into an answer as they stand: read and written again, their numbers would lose
 * digits. Until the answer is a text, a mark that nobody can guess stands for each.
 */
import { randomUUID } from 'node:crypto'

const marks = /"verbatim:[0-9a-f-]{36}"/g

export class Verbatim {
  readonly #texts = new Map<string, string>()

  /** The value in whose place `fill` writes the JSON text. */
  markOf(text: string): string {
    const mark = `verbatim:${randomUUID()}`
    this.#texts.set(JSON.stringify(mark), text)
    return mark
  }

  /** @param json that was written with marks in it */
  fill(json: string): string {
    return this.#texts.size === 0 ? json : json.replace(marks, (mark) => this.#texts.get(mark) ?? mark)
  }
}
