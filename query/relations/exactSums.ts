/**
 * Sums of 256-bit amounts that cannot wrap. ClickHouse adds modulo 2^256, and anybody can deploy a
 * token that emits Transfers of 2^256-1; sums of both halves tell apart what wrapped, and what is
 * negative.
 */

const half = 2n ** 128n
const uint256Max = 2n ** 256n - 1n
/**
 * More than any sum of low halves (2^64 rows of less than 2^128), so that a sum above it is
 * positive for intDiv.
 */
const lift = half * 2n ** 65n

const int256 = (value: bigint): string => `toInt256('${value}')`
const uint256 = (value: bigint): string => `toUInt256('${value}')`

/**
 * Two aggregates over `amount` (UInt256), each counted `sign` times (+1, 0 or -1): `wrapped` is the
 * sum modulo 2^256, `carry` the sum divided by 2^256's root, rounded down. Read by `exactSum`.
 */
export const wrappedSums = (amount: string, sign: string): string =>
  `assumeNotNull(toUInt256(sum(toInt256(${sign}) * reinterpretAsInt256(${amount})))) AS wrapped, ` +
  `assumeNotNull(sum(toInt256(${sign}) * toInt256(bitShiftRight(${amount}, 128))) ` +
  `+ intDiv(sum(toInt256(${sign}) * toInt256(bitAnd(${amount}, ${uint256(half - 1n)}))) + ${int256(lift)}, ${int256(half)}) ` +
  `- ${int256(lift / half)}) AS carry`

/** `carry` of the rows of a window up to each of its rows: below zero where their sum is. */
export const carrySoFar = (amount: string, sign: string, window: string): string =>
  `sum(toInt256(${sign}) * toInt256(bitShiftRight(${amount}, 128))) OVER (${window}) ` +
  `+ intDiv(sum(toInt256(${sign}) * toInt256(bitAnd(${amount}, ${uint256(half - 1n)}))) OVER (${window}) + ${int256(lift)}, ${int256(half)}) ` +
  `- ${int256(lift / half)}`

/** The sum, and 2^256-1 where it is more. Only for sums that are not negative. */
export const exactSum = `if(carry >= ${int256(half)}, ${uint256(uint256Max)}, wrapped)`

/** Whether the sum is above zero. */
export const isPositive = `(carry > 0 OR (carry = 0 AND wrapped > 0))`
