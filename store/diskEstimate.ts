/** How much disk encoded rows take in the two stores, before any of them is stored. */
import type { EncodedTables } from '#transform/batch.ts'
import { type TableName, tableNames } from '#transform/tables.ts'

/** Bytes on disk per encoded byte, indexes and the engine's own structures included. */
interface Density {
  /** Per byte of COPY tuples. */
  readonly postgres: number
  /** Per byte of Native columns, compressed. */
  readonly clickhouse: number
}

/**
 * Measured on a recorded Tempo chain of 30,000 transactions, attached and not yet merged. Payloads of other chains compress
 * otherwise; keys, row headers and indexes, which are most of it, do not.
 */
const measured: Partial<Record<TableName, Density>> = {
  blocks: { postgres: 1.76, clickhouse: 0.7 },
  txs: { postgres: 1.26, clickhouse: 0.2 },
  logs: { postgres: 1.93, clickhouse: 0.15 },
  token_transfers: { postgres: 2.3, clickhouse: 0.24 },
  token_approvals: { postgres: 2.15, clickhouse: 0.5 },
  holder_deltas: { postgres: 2.18, clickhouse: 0.31 },
  address_txs: { postgres: 1.86, clickhouse: 0.49 },
  raw: { postgres: 1.2, clickhouse: 0 },
}
/** A table that was not measured: a heap and two indexes; half of its size in columns. */
const usual: Density = { postgres: 2.2, clickhouse: 0.5 }

export function estimateDisk(tables: EncodedTables): {
  readonly postgres: number
  readonly clickhouse: number
} {
  let [postgres, clickhouse] = [0, 0]
  for (const name of tableNames) {
    const density = measured[name] ?? usual
    const rows = tables[name]
    postgres += rows.postgres.byteLength * density.postgres
    clickhouse += rows.clickhouse.reduce((sum, { byteLength }) => sum + byteLength, 0) * density.clickhouse
  }
  return { postgres, clickhouse }
}
