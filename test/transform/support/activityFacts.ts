/** Transactions of a few accounts in two tokens, and the activities that a viewer has of them. */
import { type Address, hash } from '#primitives.ts'
import { listActivities } from '#transform/activities/listActivities.ts'
import { feeManagerAddress } from '#transform/addresses.ts'
import { transfer } from '#transform/events/tokens/erc20.ts'
import { transferWithMemo } from '#transform/events/tokens/tip20.ts'
import type { LogFacts, TransactionFacts } from '#transform/projection.ts'
import { account, logOf, numbered, tip20, transactionFacts } from '../../support/transactionFacts.ts'

export const [alice, bob, carol, sponsor] = [account('a'), account('b'), account('c'), account('d')]
export const [token, other] = [tip20('1'), tip20('2')]
export const memo = hash(`0x${'5'.repeat(64)}`)

export const moved = (from: Address, to: Address, amount: bigint, of = token) =>
  logOf(transfer, of, { from, to, amount })
export const memoOf = (from: Address, to: Address, amount: bigint) =>
  logOf(transferWithMemo, token, { from, to, amount, memo })
const fee = moved(alice, feeManagerAddress, 77n, other)

/** A transaction of alice's that ends with its fee. */
export function txOf(...logs: readonly LogFacts[]): TransactionFacts {
  const all = numbered(...logs, fee)
  return transactionFacts({ logs: all, feeLogIndex: all.at(-1)?.logIndex ?? null })
}

export function typesSeenBy(viewer: Address, ...logs: readonly LogFacts[]): readonly string[] {
  return listActivities(txOf(...logs), viewer).map(({ type }) => type)
}
