import type { Projection } from '../projection.ts'
import { addressTxs } from './addressTxs.ts'
import { contractCreations } from './contractCreations.ts'
import { holderDeltas } from './holderDeltas.ts'
import { nativeTransfers } from './nativeTransfers.ts'
import { tokenApprovals } from './tokenApprovals.ts'
import { tokenTransfers } from './tokenTransfers.ts'

/**
 * Every projection, in the order it runs. A new derived table is one file beside this and one line
 * here.
 */
export const projections: readonly Projection[] = [
  tokenTransfers,
  nativeTransfers,
  tokenApprovals,
  holderDeltas,
  addressTxs,
  contractCreations,
]
