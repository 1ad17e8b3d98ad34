/**
 * What was sent and the database does not know: by the operator on a chain that this program sends nothing
 * on, or by the program before a backup was restored. A debt is paid
 * where a final block moved exactly its amount of its token to whom it is owed, in a transaction that
 * has paid no other debt.
 */
import { isAddressEqual } from 'viem'
import { feeOf } from '#money/fees.ts'
import type { Ask } from '#money/node.ts'
import { type Found, lookFor } from '#money/settled.ts'
import { type Transfer, transfersIn } from '#money/transfersIn.ts'
import { lowercased } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import {
  findPayoutById,
  finishPaidElsewhere,
  isPayoutTransaction,
  type Payout,
} from '#rows/payments/payouts.ts'

/**
 * @param nodes of the payout's chain
 * @returns why it is not paid by that transaction; null where it is
 */
export async function settleByHand(
  app: AppDatabase,
  nodes: readonly Ask[],
  { id, txHash, chainId }: { readonly id: string; readonly txHash: string; readonly chainId: number },
): Promise<string | null> {
  const payout = await findPayoutById(app, id)
  if (!payout) return `there is no payout ${id}`
  if (payout.chainId !== chainId) return `the payout is on chain ${payout.chainId}, not on ${chainId}`
  if (payout.sentWith !== null) return `the payout is sent with ${payout.sentWith}`
  if (payout.state !== 'queued') return `the payout is ${payout.state}: something was signed for it here`
  // It may be mined for as long as anybody likes.
  return settleBy(app, payout, await lookFor(nodes, { txHash, validBeforeSeconds: Number.MAX_SAFE_INTEGER }))
}

/** @returns why a payout that is queued is not paid by a transaction; null where it is */
export async function settleBy(app: AppDatabase, payout: Payout, found: Found): Promise<string | null> {
  if (found.kind !== 'mined') return 'no block that a node knows has this transaction'
  if (!found.isFinal) return 'its block is not final yet: ask again later'
  if (!found.succeeded) return 'the chain refused this transaction'
  const { txHash } = found
  const moved = transfersIn(found.logs).find((transfer) => pays(payout, transfer))
  if (!moved) return `it moves no ${payout.total} units of ${payout.currency} to ${payout.to} in one transfer`
  if (await isPayoutTransaction(app, payout.chainId, txHash)) return 'it has paid another payout'
  const by = { txHash, blockNumber: found.blockNumber, ...feeOf(moved.from, found.logs) }
  const isPaid = await finishPaidElsewhere(app, payout, by)
  return isPaid ? null : 'something was signed for the payout meanwhile'
}

const pays = ({ currency, to, total: amount }: Payout, moved: Transfer): boolean =>
  isAddressEqual(moved.token, lowercased(currency)) &&
  isAddressEqual(moved.to, lowercased(to)) &&
  moved.amount === amount
