/** Receipts as scans leave them, made of plain ones, and their values back as text. */
import type { RpcReceipt } from '#ingest/read/block.ts'
import { ByteBuffer, type BytesAt } from '#ingest/read/json/ByteBuffer.ts'
import { receiptBytes } from '#ingest/read/receiptBytes.ts'
import type { ScannedReceipts } from '#ingest/read/scan/scannedReceipt.ts'
import { type Row, type StoredRow, type TableName, tables } from '#transform/tables.ts'

export function scanned(receipts: readonly RpcReceipt[]): ScannedReceipts {
  const bytes = new ByteBuffer(0)
  return { bytes, list: receiptBytes(receipts, bytes) }
}

/** The row with values in place of their places. */
export function resolveRow<Name extends TableName>(
  name: Name,
  row: StoredRow<Name>,
  bytes: ByteBuffer,
): Row<Name> {
  const values: Readonly<Record<string, unknown>> = row
  const entries = tables[name].columns.map((column) => {
    const value = values[column.name]
    if (typeof value !== 'number') return [column.name, value]
    const at = value as BytesAt
    if (column.type === 'address') return [column.name, bytes.hexAt(at, 20)]
    if (column.type === 'hash') return [column.name, bytes.hexAt(at, 32)]
    if (column.type === 'uint256') return [column.name, BigInt(bytes.hexAt(at, 32))]
    if (column.type === 'bytes') return [column.name, bytes.hexAt(at, bytes.sizeAt(at))]
    return [column.name, value]
  })
  return Object.fromEntries(entries)
}
