import type { ColumnType } from '#transform/tables.ts'

/** Numbers beside which ways to hold a number part: signs, doubles, words of each width. */
export const numberEdges: readonly bigint[] = [
  ...[2n ** 31n - 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n],
  ...[2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 128n, 2n ** 256n - 1n],
]

/** The largest number of each type of column that holds numbers without a sign. */
export const numberMaxima: Readonly<Partial<Record<ColumnType, bigint>>> = {
  uint8: 2n ** 8n - 1n,
  uint32: 2n ** 31n - 1n,
  uint53: 2n ** 53n - 1n,
  uint64: 2n ** 64n - 1n,
  seconds: 2n ** 32n - 1n,
  uint256: 2n ** 256n - 1n,
}

/** Whether rows hold its values as bigint, those at least that a number does not. */
export const isWide = (type: ColumnType): boolean => type === 'uint64' || type === 'uint256'
