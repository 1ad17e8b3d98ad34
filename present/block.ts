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
} as const

export const blockSummarySchema = s.named('BlockSummary', summaryFields)

export const headerGasUsed = s.chainNumberWith({
  description:
    'As in the header. On Tempo without the gas of state growth since T14 (draft), which `gasUsed` of receipts has.',
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
