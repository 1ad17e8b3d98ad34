import type { RpcBlock } from '#ingest/read/block.ts'
import type { ScannedReceipt } from '#ingest/read/scan/scannedReceipt.ts'
import type { Row } from '../tables.ts'
import { toNumber, toNumberOrNull, toUint64, toUint64OrNull, toUint256OrNull } from './quantity.ts'

const MS_PER_SECOND = 1000

export function blockRow(block: RpcBlock, receipts: readonly ScannedReceipt[]): Row<'blocks'> {
  const timestamp = toNumber(block.timestamp)
  return {
    num: toNumber(block.number),
    hash: block.hash,
    parent_hash: block.parentHash,
    timestamp,
    timestamp_ms: millisecondsOf(timestamp, block.timestampMillisPart),
    gas_limit: toUint64(block.gasLimit),
    gas_used: toNumber(block.gasUsed),
    miner: block.miner,
    extra_data: block.extraData,
    state_root: block.stateRoot,
    transactions_root: block.transactionsRoot,
    receipts_root: block.receiptsRoot,
    size: toNumberOrNull(block.size),
    tx_count: block.transactions.length,
    log_count: receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0),
    consensus_proposer: block.consensusContext?.proposer ?? null,
    base_fee_per_gas: toUint256OrNull(block.baseFeePerGas),
    block_access_list_hash: block.blockAccessListHash ?? null,
    slot_number: toUint64OrNull(block.slotNumber),
  }
}

/** Whether the block tells a number beside its roots that its row cannot hold. */
export const leavesOut = ({ size, timestampMillisPart }: RpcBlock): boolean =>
  isLost(size) || isLost(timestampMillisPart)

const isLost = (quantity: RpcBlock['size']): boolean =>
  quantity !== null && quantity !== undefined && toNumberOrNull(quantity) === null

/** Whole seconds where the header has no finer time, and where what it has is no part of a second. */
function millisecondsOf(seconds: number, part: RpcBlock['timestampMillisPart']): number {
  const milliseconds = seconds * MS_PER_SECOND + (toNumberOrNull(part) ?? 0)
  return Number.isSafeInteger(milliseconds) ? milliseconds : seconds * MS_PER_SECOND
}
