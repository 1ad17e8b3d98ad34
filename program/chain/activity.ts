/** What the lanes of a chain are doing, for /status and for code that waits on them. Written by the lanes alone. */
import type { FollowState } from '#ingest/lanes/follow.ts'
import type { HistoryProgress } from '#ingest/lanes/progress.ts'

export interface LaneStatus {
  readonly state: FollowState | 'idle' | 'filling'
  readonly problem: string | null
}

/** Outlives the lease under which the lanes run: a standby shows how it came to be one. */
export interface ChainActivity {
  head: LaneStatus
  history: LaneStatus
  historyProgress: HistoryProgress | null
}
