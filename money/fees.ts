/** Fees that a Tempo chain takes in a token, by the logs of a transaction. */
import { isAddressEqual } from 'viem'
import { lowercased } from '#primitives.ts'
import { feeManager } from './outflows.ts'
import type { Log } from './settled.ts'
import { transfersIn } from './transfersIn.ts'

/** A chain's fee for a transaction. */
export interface Fee {
  /** In the smallest unit of `feeCurrency`. */
  readonly fee: bigint
  /** Lowercase address of the token; `0x` where nothing was taken. */
  readonly feeCurrency: `0x${string}`
}

export const noFee: Fee = { fee: 0n, feeCurrency: '0x' }

/** Decimals of every token that fees are paid in. */
export const FEE_DECIMALS = 6

/** An account's payment to the chain's fee manager; nothing if somebody else paid, or the chain has none. */
export function feeOf(account: `0x${string}`, logs: readonly Log[]): Fee {
  const paid = transfersIn(logs).find(
    ({ from, to }) => isAddressEqual(from, account) && isAddressEqual(to, feeManager),
  )
  return paid ? { fee: paid.amount, feeCurrency: lowercased(paid.token) } : noFee
}
