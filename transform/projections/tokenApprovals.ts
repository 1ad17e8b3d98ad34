import { defineProjection } from '../projection.ts'
import { readApproval } from './scannedTransfer.ts'

/**
 * Every well-formed Approval of any contract. Allowances spent by transferFrom, and implicit ones
 * since T5, emit none.
 */
export const tokenApprovals = defineProjection({
  name: 'token_approvals',
  tables: ['token_approvals'],

  project(tx, rows) {
    for (const log of tx.logs) {
      const approval = readApproval(log)
      if (approval === null) continue
      rows.token_approvals.append({
        block_num: tx.block.number,
        log_idx: log.logIndex,
        block_timestamp: tx.block.timestampSeconds,
        tx_idx: tx.txIndex,
        tx_hash: tx.txHash,
        token: approval.token,
        owner: approval.from,
        spender: approval.to,
        amount: approval.amount,
      })
    }
  },
})
