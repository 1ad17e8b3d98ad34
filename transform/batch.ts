import type { BlockRange } from '#ingest/range.ts'
import type { Batch } from '#ingest/sink.ts'
import type { BlockRef } from '#primitives.ts'
import { ledgerTableNames, type TableName } from './tables.ts'

/** A range's rows of one table, already in both stores' wire formats. */
export interface EncodedTable {
  readonly rowCount: number
  /**
   * COPY BINARY tuples without the stream's header and trailer, so that pieces concatenate. Empty
   * for ClickHouse-only tables.
   */
  readonly postgres: Uint8Array<ArrayBuffer>
  /**
   * Native column data, one buffer per stream in the order of `nativeStreams(table)` (a nullable
   * column has two: null map, then values), without the block header, so that pieces concatenate
   * stream by stream. Empty for Postgres-only tables.
   */
  readonly clickhouse: readonly Uint8Array<ArrayBuffer>[]
  /** Rows of each block of the range, in order. */
  readonly blockRowCounts: Uint32Array<ArrayBuffer>
  /**
   * Sum of CRC32 over the canonical bytes of each block's rows, in order (digest.ts). Exact: below
   * 2^53.
   */
  readonly blockDigests: Float64Array<ArrayBuffer>
}

export type EncodedTables = { readonly [Name in TableName]: EncodedTable }

/** The proved parts of the blocks of a batch. */
export interface ProofSummary {
  readonly provedBlocks: number
  /** Blocks with at least one root that could not be recomputed. */
  readonly unprovableBlocks: number
  readonly unprovableTxs: number
  /** Parts that could not be recomputed, or are not all proved, in one of the blocks at least. */
  readonly unprovableParts: readonly UnprovablePart[]
}

/** In the order in which they are looked at. */
export const rootParts = ['header', 'transactionsRoot', 'receiptsRoot', 'bloom'] as const
export type UnprovablePart = (typeof rootParts)[number]

/**
 * A range, verified, decoded and encoded. Built in a worker; its buffers are transferred, never
 * copied.
 */
export interface EncodedBatch extends Batch {
  readonly range: BlockRange
  readonly refs: readonly BlockRef[]
  /** Unix seconds of the first and last block. */
  readonly firstTimestampSeconds: number
  readonly lastTimestampSeconds: number
  readonly tables: EncodedTables
  readonly proofs: ProofSummary
  /** Receipts that the node told beside the blocks' own, and that were left out. */
  readonly foreignReceipts: number
  readonly byteLength: number
}

/** Rows of a batch, all tables together. */
export const rowCount = ({ tables }: EncodedBatch): number =>
  Object.values(tables).reduce((sum, table) => sum + table.rowCount, 0)

/** Tables that no comparison heeds: other words of an endpoint on a block decide its proof. */
export const sameWithout: ReadonlySet<TableName> = new Set(['raw', 'block_proofs'])

/**
 * Whether two batches of one range hold the same rows. Answers themselves differ in spaces and
 * fields nobody reads.
 */
export const sameRows = (one: EncodedBatch, other: EncodedBatch): boolean =>
  ledgerTableNames.every(
    (name) =>
      sameWithout.has(name) || Buffer.compare(one.tables[name].postgres, other.tables[name].postgres) === 0,
  )

/**
 * Gives back the memory of a batch's Postgres rows once they are committed. At once, not when the
 * collector finds it: buffers it has not examined yet make it collect the whole heap repeatedly (a
 * seventh of the main thread's time).
 */
export function releasePostgres(batch: EncodedBatch): EncodedBatch {
  return { ...batch, byteLength: batch.byteLength - release(arenasOf(batch, ({ postgres }) => [postgres])) }
}

/** Gives back what is left when both stores hold the rows. */
export function releaseClickhouse(batch: EncodedBatch): void {
  release(arenasOf(batch, ({ clickhouse }) => clickhouse))
}

/** @throws TypeError when the rows were given back: to send none of them would look like success */
export function assertNotReleased(bytes: Uint8Array<ArrayBuffer>): void {
  if (bytes.buffer.detached) throw new TypeError('the rows of this batch were given back')
}

function arenasOf(
  { tables }: EncodedBatch,
  piecesOf: (table: EncodedTable) => readonly Uint8Array<ArrayBuffer>[],
): ReadonlySet<ArrayBuffer> {
  return new Set(Object.values(tables).flatMap((table) => piecesOf(table).map(({ buffer }) => buffer)))
}

/** @returns how many bytes that were */
function release(arenas: ReadonlySet<ArrayBuffer>): number {
  let bytes = 0
  for (const arena of arenas) {
    bytes += arena.byteLength
    if (!arena.detached) arena.transfer(0)
  }
  return bytes
}
