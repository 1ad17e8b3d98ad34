/**
 * JSON-RPC quantities as the values rows hold. They were checked when the answer was parsed
 * (ingest/verify).
 */
import type { Quantity } from '#ingest/read/block.ts'

type Maybe<Value> = Value | null | undefined

/** A number of at most 53 bits: heights, indexes, seconds. */
export const toNumber = (quantity: Quantity): number => Number(quantity)

/** A number of what no root covers: null where it is not exact, as where the node does not tell it. */
export function toNumberOrNull(quantity: Maybe<Quantity>): number | null {
  const number = quantity === null || quantity === undefined ? NaN : Number(quantity)
  return Number.isSafeInteger(number) ? number : null
}

/** `0x` and 13 digits are 52 bits: exact as a number, and four times cheaper than a bigint. */
const EXACT_LENGTH = 15

/** A `uint64` column's value. */
export const toUint64 = (quantity: Quantity): number | bigint =>
  quantity.length <= EXACT_LENGTH ? Number(quantity) : BigInt(quantity)

export const toUint64OrNull = (quantity: Maybe<Quantity>): number | bigint | null =>
  quantity === null || quantity === undefined ? null : toUint64(quantity)

/** A `uint256` column's value. */
export const toUint256 = (quantity: Quantity): bigint => (quantity === '0x0' ? 0n : BigInt(quantity))

export const toUint256OrNull = (quantity: Maybe<Quantity>): bigint | null =>
  quantity === null || quantity === undefined ? null : toUint256(quantity)
