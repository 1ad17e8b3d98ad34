import type { ProjectionName } from './tables.ts'

/**
 * Raised when the rules of a projection change, so that the same payloads give other rows of its
 * tables. What is held of another version is made again by `millrace rederive` before anything is
 * added to it. `base` is what every block gives without a projection: blocks, transactions, logs,
 * proofs.
 */
export const projectionVersions: Readonly<Record<ProjectionName, number>> = {
  base: 3,
  token_transfers: 2,
  native_transfers: 1,
  token_approvals: 1,
  holder_deltas: 2,
  address_txs: 1,
  contract_creations: 1,
}
