/** The memo of a transfer that pays a debt. */
import { keccak256, toHex } from 'viem'

/** A debt, by what it is owed for. */
export interface Debt {
  readonly kind: string
  readonly reference: string
}

/**
 * The memo of each transaction of a payout. Two payouts of one amount to one account within a second would
 * be the same transaction else. It says what is owed, not which row says so: a chain knows by it what its
 * database may have lost.
 */
export const memoOf = ({ kind, reference }: Debt, attempt: number): `0x${string}` =>
  keccak256(toHex(`${kind}/${reference}/${attempt}`))

/** Transactions behind those that a row has: each takes a failed one before it. */
const NEXT = 4

/** The memos of a payout's next transactions. @param attempt how many its row has */
export const nextMemosOf = (debt: Debt, attempt: number): readonly `0x${string}`[] =>
  Array.from({ length: NEXT }, (_, next) => memoOf(debt, attempt + 1 + next))
