/** How much disk encoded rows take in the two stores, before any of them is stored. */
import { constants, zstdCompressSync } from 'node:zlib'
import type { EncodedTables } from '#transform/batch.ts'
import { tables as declared, type TableName, tableNames } from '#transform/tables.ts'

/*
 * The constants were measured on three chains whose data have nothing in common: two recorded ones
 * of 2,000 and 30,000 transactions, and one of 30,000 in which every address, topic, amount and hash
 * is random. They held within a fifth on each of them (the smallest, all first pages, aside).
 */

/** A row in its page, per byte of COPY tuple: a longer head, shorter lengths, a free tail. */
const HEAP_PER_BYTE = 1.05
/** The archive is compressed already and moves to TOAST, in pieces with heads of their own. */
const ARCHIVE_PER_BYTE = 1.16

/** All indexes of a table together, bytes for each of its rows. */
const indexBytes: Partial<Record<TableName, number>> = {
  blocks: 280,
  txs: 755,
  logs: 345,
  token_transfers: 370,
  token_approvals: 243,
  contract_creations: 700,
  raw: 45,
  block_proofs: 60,
}
/** A table that was not measured: about three keys. */
const INDEX_BYTES_USUAL = 250

/** ClickHouse compresses a column with LZ4 in blocks of up to this size. */
const COLUMN_BLOCK_BYTES = 1_048_576
/** Nearest to LZ4 of what this platform has, in speed and in size. */
const level = { params: { [constants.ZSTD_c_compressionLevel]: -5 } }
/**
 * A part on disk against its columns so compressed: keys, marks, skip indexes, and LZ4 against
 * zstd. Measured 1.07 to 1.27.
 */
const PART_PER_BYTE = 1.18

/** Takes rows of a sample in, batch by batch, and says what their like takes on disk. */
export class DiskEstimate {
  #postgres = 0
  #clickhouse = 0
  /** Columns that wait until a block of them is full, by table and stream. */
  readonly #columns = new Map<string, Uint8Array[]>()

  /** The rows are kept until a block of each column is full. */
  add(tables: EncodedTables): void {
    for (const name of tableNames) {
      const { postgres, rowCount, clickhouse } = tables[name]
      const heap = name === 'raw' ? ARCHIVE_PER_BYTE : HEAP_PER_BYTE
      if (declared[name].stores !== 'clickhouse')
        this.#postgres += postgres.byteLength * heap + rowCount * (indexBytes[name] ?? INDEX_BYTES_USUAL)
      for (const [stream, column] of clickhouse.entries()) this.#addColumn(`${name} ${stream}`, column)
    }
  }

  /** Bytes on disk of all rows added, indexes and the engines' own structures included. */
  bytes(): { readonly postgres: number; readonly clickhouse: number } {
    for (const name of this.#columns.keys()) this.#compress(name)
    return { postgres: this.#postgres, clickhouse: this.#clickhouse }
  }

  #addColumn(name: string, column: Uint8Array): void {
    if (column.byteLength === 0) return
    const waiting = [...(this.#columns.get(name) ?? []), column]
    this.#columns.set(name, waiting)
    if (waiting.reduce((sum, { byteLength }) => sum + byteLength, 0) >= COLUMN_BLOCK_BYTES)
      this.#compress(name)
  }

  #compress(name: string): void {
    const column = Buffer.concat(this.#columns.get(name) ?? [])
    this.#columns.delete(name)
    this.#clickhouse += zstdCompressSync(column, level).byteLength * PART_PER_BYTE
  }
}
