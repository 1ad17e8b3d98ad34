/**
 * Why a fee is unknown, as rows tell it: by what they hold, so that every reader of a row says the
 * same.
 */

/**
 * - `type`: what transactions of this type pay is not known, or others pay it
 * - `price`: the node tells no price, or one that nobody could have paid
 * - `terms`: the receipt has terms of a fee by no known rule, or only a part of them
 */
export const feeUnknowns = ['type', 'price', 'terms'] as const
export type FeeUnknown = (typeof feeUnknowns)[number]

/** Types of transactions whose fee some chain's receipt tells. */
export const feeTypes: readonly number[] = [
  ...[0x0, 0x1, 0x2, 0x3, 0x4],
  ...[0x64, 0x65, 0x66, 0x6a, 0x71, 0x76, 0x78, 0x7b, 0x7c, 0x7e],
]
const told: ReadonlySet<number> = new Set(feeTypes)

export const uint256Max = 2n ** 256n - 1n

interface FeeColumns {
  readonly type: number
  readonly gas_used: number | bigint
  readonly gas_price: bigint | null
  readonly effective_gas_price: bigint | null
  readonly fee_amount: bigint | null
}

/** Null where the fee is known. */
export function feeUnknownOf(row: FeeColumns): FeeUnknown | null {
  if (row.fee_amount !== null) return null
  if (!told.has(row.type)) return 'type'
  const price = row.effective_gas_price ?? row.gas_price
  if (price === null) return 'price'
  return price > uint256Max / (BigInt(row.gas_used) || 1n) ? 'price' : 'terms'
}
