/** Walks the tokens of one query; the parsers' shared place, with the bounds on nesting. */

import { SELECT_COUNT_MAX, SELECT_DEPTH_MAX } from '../../text.ts'
import { positionAt, UserQueryError } from '../../UserQueryError.ts'
import { quotedNameHint } from '../../words/hints.ts'
import type { Name } from './ast.ts'
import { type LexedToken, tokenize } from './lexer.ts'

/** Nesting of brackets, calls and sub-selects; honest queries stay under 30. */
const DEPTH_MAX = 100

/**
 * Words that end an expression or a source, so that none of them is taken for an alias without AS.
 */
const reserved: ReadonlySet<string> = new Set(
  `ALL AND ANTI ANY ARRAY AS ASC ASOF BETWEEN BY CASE CAST CROSS CUBE DESC DISTINCT ELSE END EXCEPT EXISTS FETCH FINAL
   FOR FORMAT FROM FULL GLOBAL GROUP GROUPING HAVING IN INNER INTERSECT INTERVAL INTO IS JOIN LEFT LIKE ILIKE LIMIT
   NATURAL NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION PASTE PREWHERE QUALIFY RIGHT ROLLUP SAMPLE SELECT SEMI
   SETTINGS THEN UNION USING VALUES WHEN WHERE WINDOW WITH WITHIN`.split(/\s+/),
)

export class TokenReader {
  readonly sql: string
  readonly #tokens: readonly LexedToken[]
  #index = 0
  #depth = 0
  #queryDepth = 0
  #selectCount = 0

  /** @throws UserQueryError on characters outside the subset. */
  constructor(sql: string) {
    this.sql = sql
    this.#tokens = tokenize(sql)
  }

  peek(ahead = 0): LexedToken {
    const index = Math.min(this.#index + ahead, this.#tokens.length - 1)
    return this.#tokens[index] ?? { kind: 'end', text: 'the end', at: this.sql.length }
  }

  next(): LexedToken {
    const token = this.peek()
    this.#index++
    return token
  }

  /** Whether what comes is a query: in brackets, a sub-select. */
  startsQuery(): boolean {
    return ['SELECT', 'WITH', 'VALUES'].some((word) => this.isWord(word))
  }

  isWord(word: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.kind === 'word' && token.text.toUpperCase() === word
  }

  isSymbol(symbol: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.kind === 'symbol' && token.text === symbol
  }

  /** Whether the brackets that open here hold the word, outside of brackets within. */
  hasWordInBrackets(word: string): boolean {
    let depth = 0
    for (let ahead = 0; this.peek(ahead).kind !== 'end'; ahead++) {
      if (this.isSymbol('(', ahead)) depth++
      if (this.isSymbol(')', ahead) && --depth === 0) return false
      if (depth === 1 && this.isWord(word, ahead)) return true
    }
    return false
  }

  /** Takes the words in a row, or none of them. */
  acceptWords(...words: string[]): boolean {
    if (!words.every((word, index) => this.isWord(word, index))) return false
    this.#index += words.length
    return true
  }

  acceptSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false
    this.#index++
    return true
  }

  expectWord(word: string): void {
    if (!this.acceptWords(word)) throw this.unexpected(word)
  }

  expectSymbol(symbol: string): void {
    if (!this.acceptSymbol(symbol)) throw this.unexpected(symbol)
  }

  /** A name: quoted, or a word that is not reserved. */
  expectName(what: string): Name {
    const name = this.acceptName()
    if (!name) throw this.unexpected(what)
    return name
  }

  acceptName(): Name | undefined {
    if (!this.isName()) return undefined
    const { text, at } = this.next()
    if (text === '') throw this.invalid('a name is empty', at)
    return { text, at }
  }

  isName(ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.kind === 'quotedName' || (token.kind === 'word' && !reserved.has(token.text.toUpperCase()))
  }

  /** A whole number, written out. */
  expectWholeNumber(what: string): number {
    const token = this.peek()
    const value = Number(token.text)
    if (token.kind !== 'number' || !/^\d+$/.test(token.text) || !Number.isSafeInteger(value)) {
      throw this.refused(`${what} must be a whole number, written out`, token.at)
    }
    this.#index++
    return value
  }

  /** Reads one level deeper. @throws UserQueryError past the bound. */
  nested<T>(read: () => T): T {
    if (++this.#depth > DEPTH_MAX) throw this.refused('the query is nested too deeply', this.peek().at)
    const result = read()
    this.#depth--
    return result
  }

  /** Reads a query one level deeper. @throws UserQueryError past the bound. */
  nestedQuery<T>(read: () => T): T {
    if (++this.#queryDepth > SELECT_DEPTH_MAX) {
      throw this.refused(`more than ${SELECT_DEPTH_MAX} levels of SELECT`, this.peek().at)
    }
    const result = this.nested(read)
    this.#queryDepth--
    return result
  }

  /** Counts a SELECT. @throws UserQueryError past the bound. */
  countSelect(): void {
    if (++this.#selectCount > SELECT_COUNT_MAX) {
      throw this.refused(`more than ${SELECT_COUNT_MAX} SELECTs`, this.peek().at)
    }
  }

  /** One or more, separated by commas. */
  list<T>(read: () => T): T[] {
    const items = [read()]
    while (this.acceptSymbol(',')) items.push(read())
    return items
  }

  unexpected(wanted: string): UserQueryError {
    const { text, at, kind } = this.peek()
    const found = kind === 'string' ? 'a text' : text
    const isReserved = /^an? /.test(wanted) && kind === 'word' && reserved.has(text.toUpperCase())
    return this.invalid(
      `expected ${wanted}, found ${found}`,
      at,
      isReserved ? quotedNameHint(text) : undefined,
    )
  }

  invalid(problem: string, at: number, hint?: string): UserQueryError {
    return new UserQueryError('sql_invalid', problem, { position: positionAt(this.sql, at), hint })
  }

  refused(problem: string, at: number, hint?: string): UserQueryError {
    return new UserQueryError('sql_refused', problem, { position: positionAt(this.sql, at), hint })
  }
}
