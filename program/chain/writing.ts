/** The common part of the lanes of one chain while this process writes it. */
import type { ByteBudget } from '#ingest/ByteBudget.ts'
import type { AheadOptions } from '#ingest/lanes/fetchAhead.ts'
import type { Witnessing } from '#ingest/lanes/UnprovedAnswers.ts'
import type { Decode } from '#ingest/sink.ts'
import type { RawRange, Source } from '#ingest/source.ts'
import type { BatchCache } from '#store/clickhouse/BatchCache.ts'
import type { ChainState } from '#store/ledger/ChainState.ts'
import { type EncodedBatch, sameRows } from '#transform/batch.ts'
import type { DecodePool } from '#transform/decode/decodePool.ts'
import { leavesOutAlone } from '#transform/leftOut.ts'
import type { ChainActivity } from './activity.ts'
import type { ChainLimits, ChainOptions } from './options.ts'

export interface Writing {
  readonly options: ChainOptions
  readonly limits: ChainLimits
  /** Never answers a range across two ClickHouse partitions. */
  readonly source: Source
  /** The same; blocks are asked of another endpoint than gave them to the lanes. */
  readonly otherSource: Source
  readonly pool: DecodePool
  /** Decodes what nodes answer: some senders are recovered. */
  readonly decode: Decode<EncodedBatch, RawRange>
  /** Batches between Postgres and ClickHouse. */
  readonly cache: BatchCache
  readonly budget: ByteBudget
  readonly state: ChainState
  readonly activity: ChainActivity
}

/**
 * No answer about several blocks is longer, and what is encoded of a usual one, 6 MB, is up to 11
 * MB.
 */
const BATCH_BYTES_ESTIMATE = 16 * 1024 * 1024
const FETCH_WINDOW = 6

/** How far head and history work ahead of their commits; both are charged to the same budget. */
export const aheadOf = ({ limits, budget }: Pick<Writing, 'limits' | 'budget'>): AheadOptions => ({
  windowMax: FETCH_WINDOW,
  batchBlocksMax: limits.batchBlocksMax,
  batchBytesEstimate: BATCH_BYTES_ESTIMATE,
  budget,
})

/**
 * A batch that cannot be proved whole needs a second endpoint that tells the same rows; without one it is
 * taken and alarmed.
 */
export const witnessingOf = (
  { activity }: Writing,
  lane: keyof ChainActivity['unproved'],
): Witnessing<EncodedBatch> => ({
  isProved: ({ proofs }) => proofs.unprovableBlocks === 0,
  isSame: sameRows,
  leavesOut: leavesOutAlone,
  takenAlone: ({ range, proofs }) => activity.unproved[lane].takenAlone(range, proofs.unprovableParts),
  takenSurely: ({ range }) => activity.unproved[lane].takenSurely(range),
})

/** Readers look again; a read that fails keeps the old picture and the next poll mends it. */
export function wake({ state, options }: Writing): void {
  options.notices?.tell(state.schema)
  state.refresh().then(
    () => state.bell.ring(),
    () => state.bell.ring(),
  )
}
