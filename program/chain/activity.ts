/**
 * What the lanes of a chain are doing, for /status and for code that waits on them. Written by the
 * lanes alone.
 */
import type { FollowState } from '#ingest/lanes/follow.ts'
import type { HistoryProgress } from '#ingest/lanes/progress.ts'
import type { Clock } from '#runtime/runtime.ts'
import { UnprovedBlocks } from './UnprovedBlocks.ts'

export interface LaneStatus {
  readonly state: FollowState | 'idle' | 'filling'
  readonly problem: string | null
}

/** Outlives the lease under which the lanes run: a standby shows how it came to be one. */
export interface ChainActivity {
  head: LaneStatus
  history: LaneStatus
  historyProgress: HistoryProgress | null
  /** Receipts that nodes told beside the blocks' own; since the start. */
  foreignReceipts: number
  /** By lane: blocks of history say nothing of whether it has passed at the head. */
  readonly unproved: Readonly<Record<'head' | 'history', UnprovedBlocks>>
}

export const idleActivity = (clock: Clock): ChainActivity => ({
  head: { state: 'running', problem: null },
  history: { state: 'idle', problem: null },
  historyProgress: null,
  foreignReceipts: 0,
  unproved: { head: new UnprovedBlocks(clock), history: new UnprovedBlocks(clock) },
})
