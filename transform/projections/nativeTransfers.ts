import { nativeTransfer } from '../nativeCoin.ts'
import { defineProjection, type LogFacts, type ProjectedTransaction } from '../projection.ts'
import type { StoredRow } from '../tables.ts'
import { accountOf, readNativeTransfer } from './scannedTransfer.ts'

/**
 * Movements of the chain's own coin. A transaction that logs any (EIP-7708) logs all, its own
 * `value` first, so that log and the value are one row. Without such a log the value alone is known:
 * before the fork what contracts passed on left no trace in receipts. Receipts from before Byzantium
 * do not tell success, and a value that may not have been paid is no row. Fees and withdrawals are
 * no transfers.
 */
export const nativeTransfers = defineProjection({
  name: 'native_transfers',
  tables: ['native_transfers'],

  project(tx, rows) {
    const append = (
      logIndex: number,
      { from, to, amount }: Sides,
      marks: { readonly is_logged: boolean; readonly is_value: boolean },
    ) =>
      rows.native_transfers.append({
        block_num: tx.block.number,
        log_idx: logIndex,
        block_timestamp: tx.block.timestampSeconds,
        tx_idx: tx.txIndex,
        tx_hash: tx.txHash,
        from,
        to,
        ...marks,
        amount,
      })
    let isFirst = true
    for (const log of tx.logs) {
      const movement = readNativeTransfer(log)
      if (movement === null) continue
      append(log.logIndex, movement, { is_logged: true, is_value: isFirst && isValue(tx, log) })
      isFirst = false
    }
    const to = paidTo(tx)
    if (!isFirst || to === null) return
    append(tx.logsBefore, { from: tx.from, to, amount: tx.paid }, { is_logged: false, is_value: true })
  },
})

type Sides = Pick<StoredRow<'native_transfers'>, 'from' | 'to' | 'amount'>

/** Whether the first log of the coin is what the transaction itself paid. */
function isValue(tx: ProjectedTransaction, log: LogFacts): boolean {
  if (tx.paid === 0n) return false
  const to = tx.to ?? tx.contractAddress
  const args = nativeTransfer.decode(log)
  return (
    args !== null &&
    to !== null &&
    args.amount === tx.paid &&
    args.from === accountOf(tx.from, log) &&
    args.to === accountOf(to, log)
  )
}

/** The account that got what the transaction paid; null where nobody is known to have got anything. */
export function paidTo<Account>({
  paid,
  status,
  to,
  contractAddress,
}: Pick<ProjectedTransaction, 'paid' | 'status'> & {
  readonly to: Account | null
  readonly contractAddress: Account | null
}): Account | null {
  return paid === 0n || status !== 1 ? null : (to ?? contractAddress)
}
