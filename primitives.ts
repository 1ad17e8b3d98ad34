/**
 * The words every stage shares: branded values that must not be mixed, and the functions that make
 * them. A brand is made by exactly one checking function; nothing else casts to it.
 */

declare const brand: unique symbol
type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** `0x` + 40 lowercase hex digits. */
export type Address = Brand<`0x${string}`, 'Address'>
/** `0x` + 64 lowercase hex digits: a block, transaction or topic hash. */
export type Hash = Brand<`0x${string}`, 'Hash'>
/** `0x` + an even number of lowercase hex digits. */
export type Hex = `0x${string}`

/** Address of pathUSD, the first token of every Tempo chain. */
export const PATH_USD = '0x20c0000000000000000000000000000000000000'

/** The engines of users' SQL: Postgres follows the head, ClickHouse the final blocks. */
export const engines = ['postgres', 'clickhouse'] as const
export type Engine = (typeof engines)[number]

/** A block's place in its chain. */
export interface BlockRef {
  readonly number: number
  readonly hash: Hash
  readonly parentHash: Hash
}

const addressPattern = /^0x[0-9a-f]{40}$/
const hashPattern = /^0x[0-9a-f]{64}$/

/** Lowercases and brands an address. @throws TypeError when the text is not one. */
export function address(text: string): Address {
  const lower = text.toLowerCase()
  if (!addressPattern.test(lower)) throw new TypeError(`not an address: ${shorten(text)}`)
  return lower as Address
}

/** Lowercases and brands a 32-byte hash. @throws TypeError when the text is not one. */
export function hash(text: string): Hash {
  if (!isHash(text)) throw new TypeError(`not a 32-byte hash: ${shorten(text)}`)
  return text.toLowerCase() as Hash
}

/** Whether it is the text of a 32-byte hash, in letters of either case. */
export const isHash = (value: unknown): value is Hex =>
  typeof value === 'string' && hashPattern.test(value.toLowerCase())

/** The form in which hex is compared and kept. @param hex checked: `0x` and digits of either case */
export const lowercased = (hex: string): Hex => `0x${hex.slice(2).toLowerCase()}`

/** Most digits behind the point that a token can have: `decimals()` is a uint8. */
const DECIMALS_MAX = 255

/** The answer of a contract's `decimals()`; null if that is no uint8. */
export function decimalsOf(told: unknown): number | null {
  if (typeof told !== 'bigint' && typeof told !== 'number') return null
  return told >= 0 && told <= DECIMALS_MAX ? Number(told) : null
}

/** Keeps error messages short whatever a client or node sent. */
export function shorten(text: string, charactersMax = 80): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}… (${text.length} characters)`
}

/** Makes a `switch` over a union a compile-time check. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${String(value)}`)
}

/** Whether JSON from outside is an object with members. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export type Json = Readonly<Record<string, unknown>>

// Readers of strangers' documents: a value of another form counts as absent.
/** The members of a value that is an object, else none. */
export const membersOf = (value: unknown): Json => (isRecord(value) ? value : {})
export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The chains that are meant, where a key does not reach all. */
export interface ChainReach {
  /** Null for all. */
  readonly only: readonly number[] | null
  readonly except: number | null
}
