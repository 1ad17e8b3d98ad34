import type { Address } from '#primitives.ts'
import { defineProjection, type Stored } from '../projection.ts'
import { readTransfer } from './scannedTransfer.ts'

/** `leg` of the side that gave and of the side that got. */
const SENT = -1
const RECEIVED = 1

/**
 * Each transfer as the changes of two balances, so that balances are sums. The zero address, which
 * mints and burns name, holds nothing and has no leg. Every other side has one, even where it says
 * little about ownership: a transfer to oneself has both, and what the receive-policy guard holds
 * is the guard's until claimed. Dropping any would make sums differ from balanceOf.
 */
export const holderDeltas = defineProjection({
  name: 'holder_deltas',
  tables: ['holder_deltas'],

  project(tx, rows) {
    for (const log of tx.logs) {
      const movement = readTransfer(log)
      if (movement === null) continue
      const append = (leg: number, holder: Stored<Address>, counterparty: Stored<Address>) =>
        rows.holder_deltas.append({
          block_num: tx.block.number,
          log_idx: log.logIndex,
          leg,
          block_timestamp: tx.block.timestampSeconds,
          tx_idx: tx.txIndex,
          tx_hash: tx.txHash,
          token: movement.token,
          holder,
          counterparty,
          amount: movement.amount,
        })
      if (!movement.fromNobody) append(SENT, movement.from, movement.to)
      if (!movement.toNobody) append(RECEIVED, movement.to, movement.from)
    }
  },
})
