import type { BytesAt } from '#ingest/read/json/ByteBuffer.ts'
import type { ScannedLog } from '#ingest/read/scan/scannedReceipt.ts'
import type { StoredRow } from '../tables.ts'
import type { TxPlace } from './txRow.ts'

/** The transaction a log belongs to, as its rows name it. */
export interface LogPlace extends TxPlace {
  readonly txHash: BytesAt
}

export function logRow(log: ScannedLog, place: LogPlace): StoredRow<'logs'> {
  return {
    block_num: place.blockNumber,
    log_idx: log.logIndex,
    block_timestamp: place.timestampSeconds,
    tx_idx: place.txIndex,
    tx_hash: place.txHash,
    address: log.emitter,
    topic0: log.topicAt(0),
    topic1: log.topicAt(1),
    topic2: log.topicAt(2),
    topic3: log.topicAt(3),
    data: log.dataAt,
    is_virtual_forward: log.isVirtualForward,
  }
}
