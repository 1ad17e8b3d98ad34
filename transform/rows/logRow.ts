import type { RpcLog } from '#ingest/block.ts'
import type { Row } from '../tables.ts'
import { toNumber } from './quantity.ts'

/** The transaction a log belongs to, as its rows name it. */
export interface LogPlace {
  readonly blockNumber: number
  readonly timestampSeconds: number
  readonly txIndex: number
  readonly txHash: string
}

export function logRow(log: RpcLog, place: LogPlace, isVirtualForward: boolean): Row<'logs'> {
  const { topics } = log
  return {
    block_num: place.blockNumber,
    log_idx: toNumber(log.logIndex),
    block_timestamp: place.timestampSeconds,
    tx_idx: place.txIndex,
    tx_hash: place.txHash,
    address: log.address,
    topic0: topics[0] ?? null,
    topic1: topics[1] ?? null,
    topic2: topics[2] ?? null,
    topic3: topics[3] ?? null,
    data: log.data,
    is_virtual_forward: isVirtualForward,
  }
}
