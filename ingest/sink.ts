import type { BlockRef } from '#primitives.ts'
import type { BlockRange } from './range.ts'

/**
 * A batch's own account of itself, whatever its rows are: enough to check continuity and to account for
 * memory.
 */
export interface Batch {
  readonly range: BlockRange
  /** One per block, ascending, parent-linked. */
  readonly refs: readonly BlockRef[]
  /** Bytes held by the batch; backpressure counts these. */
  readonly byteLength: number
  /** Receipts that were told beside the blocks' own, and left out. */
  readonly foreignReceipts?: number
}

/** Turns a fetched range into a batch; the worker pool behind it verifies before it returns. */
export type Decode<B extends Batch, R> = (raw: R, signal?: AbortSignal) => Promise<B>

/**
 * A store that follows the head and can take blocks back. Appending and reverting are one
 * transaction each; the tip is stored with the rows, so a crash at any instruction leaves either
 * the old tip or the new one.
 */
export interface HeadSink<B extends Batch> {
  /** Newest block held by the head lane, or null when it holds none. */
  tip(): Promise<BlockRef | null>
  /** The block the head lane holds at a height, or null. */
  refAt(number: number): Promise<BlockRef | null>
  /**
   * @throws FencedOutError when another writer holds the lane; @throws TipMismatchError when our
   * tip is not its parent.
   */
  append(batch: B): Promise<void>
  /**
   * Drops every block of the lane above `to`, and none below the lane. `to` is null when nothing of
   * it remains.
   */
  revert(to: BlockRef | null): Promise<void>
  /** Raises the finalized height; ignores a lower one (I5). */
  finalize(number: number): Promise<void>
  /** Our finalized height, or -1. */
  finalized(): Promise<number>
  /**
   * Ends the lane's segment at its tip, which is final, so that the next append starts a new one:
   * `tip()` is null afterwards and history fills what lies between. An empty lane only begins
   * elsewhere. A sink without it catches up block by block after a downtime.
   * @param next where the new segment begins: the first block that is not final now
   */
  seal?(next: number): Promise<void>
  /**
   * Lets an empty lane begin further down, and drops what was planned or loaded of history from
   * there on.
   * @param next where it begins at the lowest: above what is held it begins behind that
   * @param head the chain's newest block; when anything above it is held, the lane stays
   * @returns whether it begins elsewhere now
   */
  restart?(next: number, head: number): Promise<boolean>
  /**
   * The first block of an empty lane, if that was decided before; absent, it begins with the first block
   * that is not final.
   */
  emptyFrom?(): Promise<number>
}

/** A piece of history being loaded into detached tables; attaching it is its commit. */
export interface Chunk {
  readonly range: BlockRange
  /** Newest block loaded, or `range.from - 1`. */
  readonly tip: number
  /** Hash of the newest block loaded, or null when none is. */
  readonly tipHash: string | null
}

/** History filled ascending in chunks, several in flight. */
export interface HistorySink<B extends Batch> {
  /**
   * Chunks still to be loaded so that the store covers `target`, ascending; resumes those begun
   * earlier with their tip. Pure of side effects except that new chunks are recorded.
   */
  openChunks(target: BlockRange): Promise<readonly Chunk[]>
  /**
   * Appends to a chunk's detached tables, its tip in the same transaction. Batches of one chunk
   * come in order.
   */
  appendToChunk(chunk: Chunk, batch: B): Promise<void>
  /** The block that a chunk holds at a height, or null. */
  refInChunk(chunk: Chunk, number: number): Promise<BlockRef | null>
  /**
   * Drops what a chunk holds above `to`, or all of it, from every store: its tip is not on the
   * chain.
   */
  revertChunk(chunk: Chunk, to: BlockRef | null): Promise<void>
  /**
   * Checks the links to both neighbours, shows the chunk's blocks to readers and extends coverage:
   * in one transaction, or from the last block down in several, of which each leaves a complete
   * chunk of the rest.
   */
  attachChunk(chunk: Chunk): Promise<void>
}
