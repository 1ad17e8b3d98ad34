import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import type { EncodedTable, EncodedTables } from '../batch.ts'
import type { RowSinks } from '../projection.ts'
import { type TableName, tableNames } from '../tables.ts'
import { Arena, TableEncoder } from './TableEncoder.ts'

/** A worker's result: the tables, and the buffers behind them for the transfer list. */
export interface EncodedOutput {
  readonly tables: EncodedTables
  readonly buffers: readonly ArrayBuffer[]
  readonly byteLength: number
}

type Encoders = { readonly [Name in TableName]: TableEncoder<Name> }

/** Values of a block of 1,000 transactions; what a huge block needed goes back. */
const KEPT_BYTES_MAX = 1 << 20

/** One encoder per table, kept over the life of a worker. */
export class BatchEncoder {
  /** The bytes in which rows find the values of the current block, by their places. */
  readonly bytes = new ByteBuffer(64 << 10)
  readonly #encoders: Encoders
  readonly #all: readonly Encoders[TableName][]

  constructor() {
    this.#encoders = Object.fromEntries(
      tableNames.map((name) => [name, new TableEncoder(name, this.bytes)]),
    ) as Encoders
    this.#all = tableNames.map((name) => this.#encoders[name])
  }

  get rows(): RowSinks {
    return this.#encoders
  }

  /** Every table takes part, rows or not: its counts and digests have one entry per block. */
  endBlock(): void {
    for (const encoder of this.#all) encoder.endBlock()
    this.bytes.clear(KEPT_BYTES_MAX)
  }

  finish(): EncodedOutput {
    const postgres = new Arena(sum(this.#all.map((encoder) => encoder.postgresBytes)))
    const clickhouse = new Arena(sum(this.#all.map((encoder) => encoder.clickhouseBytes)))
    const entries = this.#all.map((encoder): [string, EncodedTable] => [
      encoder.table.name,
      encoder.copyTo(postgres, clickhouse),
    ])
    const small = entries.flatMap(([, table]) => [table.blockRowCounts.buffer, table.blockDigests.buffer])
    const buffers = [postgres.buffer, clickhouse.buffer, ...small]
    return {
      tables: Object.fromEntries(entries) as EncodedTables,
      buffers,
      byteLength: sum(buffers.map((buffer) => buffer.byteLength)),
    }
  }

  /** Drops what was collected, also after an error midway. */
  clear(): void {
    for (const encoder of this.#all) encoder.clear()
    this.bytes.clear(KEPT_BYTES_MAX)
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
