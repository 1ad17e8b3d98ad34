/** Reads a signature's text word by word. */

/** Postgres cuts longer names silently. */
const NAME_CHARACTERS_MAX = 63

export class SignatureCursor {
  readonly #text: string
  readonly #problemOf: (problem: string) => Error
  #at = 0

  /** `problemOf` makes the error of a problem. */
  constructor(text: string, problemOf: (problem: string) => Error) {
    this.#text = text
    this.#problemOf = problemOf
    this.#skipSpace()
  }

  problem(problem: string): Error {
    return this.#problemOf(problem)
  }

  isAt(symbol: string): boolean {
    return this.#text[this.#at] === symbol
  }

  accept(symbol: string): boolean {
    if (!this.isAt(symbol)) return false
    this.#take(symbol)
    return true
  }

  expect(symbol: string): void {
    if (!this.accept(symbol)) throw this.#expected(`"${symbol}"`)
  }

  expectEnd(): void {
    if (this.#at < this.#text.length) throw this.#expected('the end')
  }

  acceptWord(word: string): boolean {
    if (this.#match(/[A-Za-z_$][\w$]*/y) !== word) return false
    this.#take(word)
    return true
  }

  acceptName(): string | undefined {
    const name = this.#match(/[A-Za-z_$][\w$]*/y)
    if (name === undefined) return undefined
    if (name.length > NAME_CHARACTERS_MAX)
      throw this.problem(`a name is longer than ${NAME_CHARACTERS_MAX} characters`)
    this.#take(name)
    return name
  }

  name(what: string): string {
    const name = this.acceptName()
    if (name === undefined) throw this.#expected(what)
    return name
  }

  acceptNumber(): number | undefined {
    const digits = this.#match(/\d{1,6}/y)
    if (digits === undefined) return undefined
    this.#take(digits)
    return Number(digits)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)?.[0]
  }

  #take(text: string): void {
    this.#at += text.length
    this.#skipSpace()
  }

  #skipSpace(): void {
    this.#at += this.#match(/\s*/y)?.length ?? 0
  }

  #expected(what: string): Error {
    const found = this.#at < this.#text.length ? `"${this.#text[this.#at]}"` : 'the end'
    return this.problem(`expected ${what} at character ${this.#at + 1}, found ${found}`)
  }
}
