/** The disk of the simulated Postgres: all that survives a crash of the indexer. */
import type { BlockRange, RangeSet } from '#ingest/range.ts'
import type { BlockRef } from '#primitives.ts'
import type { JournalEntry } from '#store/clickhouse/journal.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { analyticsTableNames, type TableName } from '#transform/tables.ts'

/** A batch with the bytes it was made of, which production keeps as rows of the archive. */
export interface SimBatch extends EncodedBatch {
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** A block's content in each table: rows and their digest. */
export type BlockContent = ReadonlyMap<TableName, { readonly rows: number; readonly digest: number }>

export interface StoredBlock {
  readonly ref: BlockRef
  readonly content: BlockContent
  /** The answer it came in, and its place there. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly index: number
}

export interface StoredChunk {
  readonly range: BlockRange
  tip: number
  blocks: StoredBlock[]
}

export interface StoredLane {
  fromBlock: number
  tip: number
  tipHash: string | null
  finalized: number
  fence: bigint
  withdrawals: number
}

export interface StoredLease {
  readonly holder: string
  readonly fence: bigint
  readonly expiresAtMs: number
}

export interface StoredEntry {
  readonly entry: JournalEntry
  readonly state: 'open' | 'written'
}

export interface LedgerState {
  /** The head lane; null before the chain was opened. */
  lane: StoredLane | null
  lease: StoredLease | null
  /** Attached blocks, by height. */
  readonly blocks: Map<number, StoredBlock>
  /** The first answer ever stored of a height, for a planted bug alone. */
  readonly firstAnswers: Map<number, StoredBlock>
  readonly chunks: Map<number, StoredChunk>
  postgresCoverage: RangeSet
  clickhouseCoverage: RangeSet
  readonly journal: Map<number, StoredEntry>
  /** Commits by fence: who wrote last, and that nobody older wrote after. */
  highestFence: bigint
  commits: number
}

export const emptyLedger = (): LedgerState => ({
  lane: null,
  lease: null,
  blocks: new Map(),
  firstAnswers: new Map(),
  chunks: new Map(),
  postgresCoverage: [],
  clickhouseCoverage: [],
  journal: new Map(),
  highestFence: 0n,
  commits: 0,
})

/** A batch's blocks as they are stored. */
export function storedBlocks(batch: SimBatch): StoredBlock[] {
  return batch.refs.map((ref, index) => ({
    ref,
    content: contentOf(batch, index),
    bytes: batch.bytes,
    index,
  }))
}

/** One block's content in every analytics table. Tables without rows are left out. */
export function contentOf(batch: EncodedBatch, index: number): BlockContent {
  const content = new Map<TableName, { rows: number; digest: number }>()
  for (const name of analyticsTableNames) {
    const rows = batch.tables[name].blockRowCounts[index] ?? 0
    if (rows > 0) content.set(name, { rows, digest: batch.tables[name].blockDigests[index] ?? 0 })
  }
  return content
}

export function sameContent(a: BlockContent, b: BlockContent): boolean {
  if (a.size !== b.size) return false
  for (const [name, { rows, digest }] of a) {
    const other = b.get(name)
    if (other?.rows !== rows || other.digest !== digest) return false
  }
  return true
}
