import { defineProjection } from '../projection.ts'

/**
 * Contracts created by a transaction itself, not those a contract made: these leave no trace in
 * receipts. Receipts from before Byzantium do not tell success, and a creation that may have failed
 * is not listed.
 */
export const contractCreations = defineProjection({
  name: 'contract_creations',
  tables: ['contract_creations'],

  project(tx, rows) {
    if (tx.contractAddress === null || tx.status !== 1) return
    rows.contract_creations.append({
      block_num: tx.block.number,
      tx_idx: tx.txIndex,
      block_timestamp: tx.block.timestampSeconds,
      tx_hash: tx.txHash,
      creator: tx.from,
      contract: tx.contractAddress,
    })
  },
})
