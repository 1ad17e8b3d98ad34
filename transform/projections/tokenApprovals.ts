import { approval } from '../events/erc20.ts'
import { defineProjection } from '../projection.ts'

/** Every well-formed Approval of any contract. Allowances spent by transferFrom, and implicit ones since T5, emit none. */
export const tokenApprovals = defineProjection({
  name: 'token_approvals',
  tables: ['token_approvals'],

  project(tx, rows) {
    for (const log of tx.logs) {
      const args = approval.decode(log)
      if (args === null) continue
      rows.token_approvals.append({
        block_num: tx.block.number,
        log_idx: log.logIndex,
        block_timestamp: tx.block.timestampSeconds,
        tx_idx: tx.txIndex,
        tx_hash: tx.txHash,
        token: log.address,
        owner: args.owner,
        spender: args.spender,
        amount: args.amount,
      })
    }
  },
})
