/**
 * What the lanes of a chain are doing, for /status and for code that waits on them. Written by the
 * lanes alone.
 */
import type { FollowState } from '#ingest/lanes/follow.ts'
import type { HistoryProgress } from '#ingest/lanes/progress.ts'
import type { BlockRange } from '#ingest/range.ts'

export interface LaneStatus {
  readonly state: FollowState | 'idle' | 'filling'
  readonly problem: string | null
}

/** Outlives the lease under which the lanes run: a standby shows how it came to be one. */
export interface ChainActivity {
  head: LaneStatus
  history: LaneStatus
  historyProgress: HistoryProgress | null
  /**
   * Blocks taken on the word of one endpoint because nothing proves them whole, the newest ones,
   * and when.
   */
  unproved: { readonly range: BlockRange; readonly atMs: number } | null
}
