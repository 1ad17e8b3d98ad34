import { ascii, declined, type JsonCursor } from './jsonCursor.ts'

/**
 * The keys that are looked for in objects of one kind. A node writes all of them in one order, so the key that followed
 * last time is tried first: one comparison instead of a search. Any order is read right, and a new one is learned.
 */
export class ObjectKeys {
  readonly #texts: readonly Uint8Array[]
  readonly #numbers: ReadonlyMap<string, number>
  /** By number of the key before: number of the key that followed it last. */
  readonly #following: Int8Array
  /** Number of every key that is not looked for. */
  readonly unknown: number
  /** Stands in for the key before the first one. */
  readonly none: number

  constructor(names: readonly string[]) {
    this.#texts = names.map((name) => Buffer.from(`"${name}":`))
    this.#numbers = new Map(names.map((name, number) => [name, number]))
    this.unknown = names.length
    this.none = names.length + 1
    this.#following = new Int8Array(names.length + 2)
  }

  /** Passes a key with its colon. `before` is the number of the key before it. */
  read(cursor: JsonCursor, before: number): number {
    const likely = this.#following[before] ?? 0
    const text = this.#texts[likely]
    if (text !== undefined && cursor.startsWith(text)) {
      cursor.at += text.length
      return likely
    }
    const number = this.#numbers.get(cursor.readKey()) ?? this.unknown
    cursor.expect(ascii.colon)
    this.#following[before] = number
    return number
  }
}

/** Which keys an object had, as bits by their numbers. A key that comes twice is left to JSON.parse, which takes the last. */
export function withKey(seen: number, key: number): number {
  const bit = 1 << key
  if ((seen & bit) !== 0) throw declined
  return seen | bit
}
