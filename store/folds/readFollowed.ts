/**
 * Reads what a follower has written, at one moment: it must have taken in the blocks readers already see, and nothing of a
 * block that was reverted since. A follower is at most a moment behind, so a read waits for it rather than show less.
 */
import type pg from 'pg'
import { newestSegment } from '#ingest/range.ts'
import { MillraceError } from '../../errors.ts'
import type { Clock } from '../../runtime.ts'
import { readSnapshot } from '../cancel.ts'
import type { ChainState } from '../chainState.ts'
import { type Queryable, readLane } from '../lane.ts'
import type { Postgres } from '../postgres.ts'
import { type BlockFollower, type FollowerState, readFollower, readRevertedFrom } from './follower.ts'

export interface FollowedChain {
  readonly postgres: Postgres
  readonly state: ChainState
  readonly clock: Clock
}

/** What is read: a follower's rows. `completes`: only with what no block tells. */
export interface Followed extends Pick<BlockFollower, 'name' | 'version'> {
  readonly completes?: boolean
}

/** Far longer than a follower needs for a block, short enough for a client that waits. */
const BEHIND_MS_MAX = 2_000
const LOOK_AGAIN_MS = 25

/**
 * `read` gets a snapshot of all of them, and the block the last of them stands at in it.
 * @throws CoverageIncompleteError when the follower cannot work on this chain, ProjectionIncompleteError while it is behind
 */
export async function readFollowed<Result>(
  { postgres, state, clock }: FollowedChain,
  followed: readonly Followed[],
  signal: AbortSignal,
  read: (client: pg.PoolClient, tip: number) => Promise<Result>,
): Promise<Result> {
  const [first] = followed
  if (state.startBlock > 0 && first) throw new CoverageIncompleteError(first.name, state.startBlock)
  const target = state.tip
  const untilMs = clock.monotonic() + BEHIND_MS_MAX
  for (;;) {
    let behind: Place = { name: '', tip: -1 }
    const outcome = await readSnapshot(postgres, signal, async (client) => {
      let tip = -1
      for (const follower of followed) {
        const place = await placeOf(client, state.schema, follower, target)
        if (!place.current) {
          behind = place
          return null
        }
        tip = place.tip
      }
      return { result: await read(client, tip) }
    })
    if (outcome) return outcome.result
    if (clock.monotonic() >= untilMs) throw new ProjectionIncompleteError(behind.name, behind.tip, target)
    await state.bell.wait(clock, LOOK_AGAIN_MS, signal)
    signal.throwIfAborted()
  }
}

interface Place {
  readonly name: string
  /** -1 before its first block. */
  readonly tip: number
}

async function placeOf(
  client: Queryable,
  schema: string,
  follower: Followed,
  target: number,
): Promise<Place & { readonly current: boolean }> {
  const { name } = follower
  const found = await readFollower(client, schema, follower)
  const tip = (found && newestSegment(found.coverage)?.to) ?? -1
  if (!found || tip < 0 || (follower.completes && !found.completed)) return { name, tip, current: false }
  return { name, tip, current: await isCurrent(client, schema, found, tip, target) }
}

/** Nothing in it was taken back, and it holds what readers could see when they asked, unless that was taken back since. */
async function isCurrent(
  client: Queryable,
  schema: string,
  { seq }: FollowerState,
  tip: number,
  target: number,
): Promise<boolean> {
  const reverted = await readRevertedFrom(client, schema, seq)
  if (reverted !== null && reverted <= tip) return false
  if (tip >= target) return true
  const lane = await readLane(client, schema)
  return lane !== null && tip >= Math.min(target, lane.tip)
}

/** A follower has not taken in yet what a read needs. */
export class ProjectionIncompleteError extends MillraceError {
  override readonly name = 'ProjectionIncompleteError'
  readonly code = 'projection_incomplete'
  readonly remedy = 'retry'
  readonly projection: string
  /** Newest block taken in; -1 before the first. */
  readonly to: number

  constructor(projection: string, to: number, target: number) {
    super(
      to < 0
        ? `The ${projection} of this chain are still being computed.`
        : `The ${projection} of this chain are computed up to block ${to} of ${target}.`,
    )
    this.projection = projection
    this.to = to
  }
}

/** A follower needs the chain from genesis on, and this installation begins later. */
export class CoverageIncompleteError extends MillraceError {
  override readonly name = 'CoverageIncompleteError'
  readonly code = 'coverage_incomplete'
  readonly remedy = 'stop'

  constructor(projection: string, startBlock: number) {
    super(
      `The ${projection} need the chain from genesis on; this installation begins at block ${startBlock}.`,
    )
  }
}
