/**
 * Payments that were sent and that the database does not know: by the operator on a chain that this program
 * sends nothing on, or by the program before a backup was restored. A debt is paid if a final block moved
 * exactly its amount of its token to whom it is owed, in a transaction that has paid no other debt; or,
 * among others, if the database has forgotten a transfer that moved more.
 */
import { isAddressEqual } from 'viem'
import { feeOf } from '#money/fees.ts'
import type { Ask } from '#money/node.ts'
import { lookForTx, type TxFate } from '#money/settled.ts'
import { type Transfer, transfersIn } from '#money/transfersIn.ts'
import { lowercased } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import { finishPaidElsewhere } from '#rows/payments/debts.ts'
import { finishPaidAmong } from '#rows/payments/forgotten.ts'
import { findPayoutById, isPayoutTransaction, type Payout } from '#rows/payments/payouts.ts'

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
  const found = await lookForTx(nodes, { txHash, validBeforeSeconds: Number.MAX_SAFE_INTEGER })
  return (await settleAmong(app, payout, found)) ? null : settleBy(app, payout, found)
}

/** Whether a transfer that a restored database does not know may have paid it with others, and has now. */
async function settleAmong(app: AppDatabase, payout: Payout, found: TxFate): Promise<boolean> {
  if (found.kind !== 'mined' || !found.isFinal || !found.succeeded) return false
  const { txHash, blockNumber, logs } = found
  const moved = transfersIn(logs).find(
    (transfer) => goesTo(payout, transfer) && transfer.amount > payout.total,
  )
  if (!moved) return false
  return finishPaidAmong(app, payout, { txHash, blockNumber, ...feeOf(moved.from, logs) })
}

/** @returns why a payout that is queued is not paid by a transaction; null where it is */
export async function settleBy(app: AppDatabase, payout: Payout, found: TxFate): Promise<string | null> {
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

const pays = (payout: Payout, moved: Transfer): boolean =>
  goesTo(payout, moved) && moved.amount === payout.total

const goesTo = ({ currency, to }: Payout, moved: Transfer): boolean =>
  isAddressEqual(moved.token, lowercased(currency)) && isAddressEqual(moved.to, lowercased(to))
