import { defineProjection } from '../projection.ts'

/** `direction` of the account that sent the transaction and of the one it was sent to. */
const SENDER = 0
const RECIPIENT = 1

/**
 * Sender and recipient of a transaction; two rows, also when both are the same account, one when a
 * contract was created.
 */
export const addressTxs = defineProjection({
  name: 'address_txs',
  tables: ['address_txs'],

  project(tx, rows) {
    const place = {
      block_num: tx.block.number,
      tx_idx: tx.txIndex,
      block_timestamp: tx.block.timestampSeconds,
      tx_hash: tx.txHash,
    }
    rows.address_txs.append({ ...place, direction: SENDER, address: tx.from, counterparty: tx.to })
    if (tx.to !== null)
      rows.address_txs.append({ ...place, direction: RECIPIENT, address: tx.to, counterparty: tx.from })
  },
})
