import { type AsciiText, ascii, asciiText, declined, type JsonCursor } from './JsonCursor.ts'

/**
 * The keys that are looked for in objects of one kind. A node writes all of them in one order, or
 * in two by turns where the objects differ (envelopes of transactions), so the keys that followed
 * the last times are tried first: a comparison instead of a search. Any order is read right, and a
 * new one is learned.
 */
export class ObjectKeys {
  readonly #texts: readonly AsciiText[]
  readonly #numbers: ReadonlyMap<string, number>
  /** By number of the key before: number of the key that followed it last. */
  readonly #following: Int8Array
  /** The one before that. */
  readonly #followingBefore: Int8Array
  /** Number of every key that is not looked for. */
  readonly unknown: number
  /** Stands in for the key before the first one. */
  readonly none: number

  constructor(names: readonly string[]) {
    if (names.length > 2 * KEYS_MAX) throw new RangeError(`${names.length} keys`)
    this.#texts = names.map((name) => asciiText(`"${name}":`))
    this.#numbers = new Map(names.map((name, number) => [name, number]))
    this.unknown = names.length
    this.none = names.length + 1
    this.#following = new Int8Array(names.length + 2)
    this.#followingBefore = new Int8Array(names.length + 2)
  }

  /** Passes a key with its colon. `before` is the number of the key before it. */
  read(cursor: JsonCursor, before: number): number {
    const likely = this.#following[before] ?? 0
    if (this.#passes(cursor, likely)) return likely
    const other = this.#followingBefore[before] ?? 0
    if (this.#passes(cursor, other)) return other
    const number = this.#numbers.get(cursor.readText()) ?? this.unknown
    cursor.expect(ascii.colon)
    this.#followingBefore[before] = likely
    this.#following[before] = number
    return number
  }

  #passes(cursor: JsonCursor, number: number): boolean {
    const text = this.#texts[number]
    if (text === undefined || !cursor.startsWith(text)) return false
    cursor.at += text.length
    return true
  }
}

/** Bits of a number that `withKey` has for keys. An object of more keys has two such numbers. */
export const KEYS_MAX = 31

/**
 * Which keys an object had, as bits by their numbers. A key that comes twice is left to JSON.parse,
 * which takes the last.
 */
export function withKey(seen: number, key: number): number {
  const bit = 1 << key
  if ((seen & bit) !== 0) throw declined
  return seen | bit
}
