/**
 * The lanes' activity on a chain, for /status and for code that waits on them. Written by the lanes alone.
 */
import type { FollowState } from '#ingest/lanes/follow.ts'
import type { HistoryProgress } from '#ingest/lanes/progress.ts'
import { covers } from '#ingest/range.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { ChainState } from '#store/ledger/ChainState.ts'
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

/** Whether the stores cover what the chain had at this moment: both all of it, or Postgres its head. */
export function hasCaughtUp(
  state: ChainState,
  target: { readonly head: number; readonly finalized: number },
  scope: 'all' | 'head',
): boolean {
  if (scope === 'head') return state.tip >= target.head
  const needed = { from: state.startBlock, to: target.head }
  const final = { from: state.startBlock, to: target.finalized }
  const isFollowed = final.to < final.from || covers(state.coverage('clickhouse'), final)
  // The lane hurries while somebody waits for this, and not for probes afterwards.
  if (!isFollowed) state.demand.ask()
  return isFollowed && (needed.to < needed.from || covers(state.coverage('postgres'), needed))
}
