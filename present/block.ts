/** A block as the API shows it, in a list and alone. */

import * as s from '#http/schema.ts'
import type { BlockDetail } from '#store/read/blocks.ts'
import type { StoredRow } from '#store/read/lists/row.ts'
import { rpcBlock } from './rpc.ts'

const summaryFields = {
  id: s.hash,
  hash: s.hash,
  number: s.count,
  timestamp: s.timestamp,
  transactionCount: s.count,
  blockAccessListHash: s.optional(s.hash),
  slotNumber: s.optional(
    s.chainNumberWith({
      description:
        'As `blockAccessListHash` since Amsterdam; absent before, and where the node does not say.',
    }),
  ),
} as const

export const blockSummarySchema = s.named('BlockSummary', summaryFields)

export const headerGasUsed = s.chainNumberWith({
  description:
    'As in the header: since EIP-7778 no sum of the `gasUsed` of receipts, which may be more or less; on Tempo without the gas of state growth since T14 (draft).',
})

export const blockSchema = s.named('Block', {
  ...summaryFields,
  parentHash: s.hash,
  miner: s.address,
  size: s.nullable(s.chainNumber),
  gasLimit: s.chainNumber,
  gasUsed: headerGasUsed,
  baseFeePerGas: s.nullable(s.amount),
  meta: s.object({ rpc: rpcBlock }),
})

export function presentBlockSummary(row: StoredRow<'blocks'>): s.Static<typeof blockSummarySchema> {
  return {
    id: row.hash,
    hash: row.hash,
    number: Number(row.num),
    timestamp: s.isoSeconds(row.timestamp),
    transactionCount: row.tx_count,
    ...(row.block_access_list_hash !== null && { blockAccessListHash: row.block_access_list_hash }),
    ...(row.slot_number !== null && { slotNumber: row.slot_number }),
  }
}

export function presentBlock({ row, rpc }: BlockDetail): s.Static<typeof blockSchema> {
  return {
    ...presentBlockSummary(row),
    parentHash: row.parent_hash,
    miner: row.miner,
    size: row.size,
    gasLimit: row.gas_limit,
    gasUsed: row.gas_used,
    baseFeePerGas: row.base_fee_per_gas === null ? null : `${row.base_fee_per_gas}`,
    meta: { rpc },
  }
}
