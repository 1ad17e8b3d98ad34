/**
 * Moves a chain's followers forward, one after the other, ascending and without gaps. Final blocks
 * are taken in without holding up the head lane; above them every step holds the lane's row, so
 * that what it reads cannot be taken back under it, and first undoes what the commit log says was
 * reverted.
 */
import type pg from 'pg'
import { MillraceError, messageOf } from '#errors.ts'
import type { RangeSet } from '#ingest/range.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock, Failpoint } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { stoppableTransaction } from '../cancel.ts'
import type { CommitBell } from '../ledger/commits.ts'
import { assertFence, holdLane, type LaneState, readLane } from '../ledger/lane.ts'
import { type Postgres, PostgresError } from '../postgres.ts'
import { FindingsWatch } from './FindingsWatch.ts'
import {
  type BlockFollower,
  completeFollower,
  type FollowerFindings,
  type FollowerState,
  insertFollower,
  moveFollower,
} from './follower.ts'
import { followerIn, heldFrom, type LaneStanding, readStanding } from './standing.ts'

export interface FollowerDriverOptions {
  readonly postgres: Postgres
  readonly schema: string
  /**
   * First block of the chain's history. Followers need it to be 0: what lies below is not in any
   * log held here.
   */
  readonly startBlock: number
  readonly fence: bigint
  readonly followers: readonly BlockFollower[]
  readonly bell: CommitBell
  /** Told after each commit of a follower. */
  readonly moved: () => void
  /** Is told of those that stop. */
  readonly stopped?: Set<string>
  readonly clock: Clock
  readonly failpoint: Failpoint
  readonly log: Logger
}

/** The operator's view of a follower. */
export interface FollowerStatus {
  readonly name: string
  readonly state: 'unavailable' | 'waiting' | 'filling' | 'following' | 'stopped'
  readonly problem: string | null
  /** Newest block taken in; -1 before the first. */
  readonly tip: number
  /** Null before the first look, and where there is nothing to find. */
  readonly found: FollowerFindings | null
}

/** Blocks of one step in history; a follower ends a step earlier when its rows are many. */
const PIECE_BLOCKS_MAX = 65_536
/** Blocks of one step above finality: the head lane waits for its end. */
const HEAD_PIECE_BLOCKS_MAX = 200
/** How long to wait without a wake-up; bounds the delay when another process commits. */
const POLL_MS = 500
const RETRY_MS = 1_000
/**
 * Longest pause before a node is asked again what no block tells. Where none keeps the state it is
 * never told, and each try is a hundred calls.
 */
const ASK_AGAIN_MS_MAX = 300_000
/** One statement of a piece, whose blocks may hold many times the rows of others. */
const HISTORY_STATEMENT_TIMEOUT = '6h'

export class FollowerDriver {
  readonly #options: FollowerDriverOptions
  readonly #status = new Map<string, Omit<FollowerStatus, 'found'>>()
  readonly #findings: FindingsWatch
  /** Blocks each follower's next step in history may have. */
  readonly #pieceBlocks = new Map<string, number>()
  /** Followers whose last question to a node failed. */
  readonly #unanswered = new Map<string, Unanswered>()

  constructor(options: FollowerDriverOptions) {
    this.#options = options
    this.#findings = new FindingsWatch(options)
    for (const { name } of options.followers) this.#report(name, { state: 'waiting', problem: null, tip: -1 })
  }

  get status(): readonly FollowerStatus[] {
    return [...this.#status.values()].map((status) => ({ ...status, found: this.#findings.of(status.name) }))
  }

  /** Follows until aborted. A follower that fails for good stops alone. */
  async run(signal: AbortSignal): Promise<void> {
    const { followers, bell, clock, startBlock } = this.#options
    if (startBlock > 0) {
      const problem = `history begins at block ${startBlock}, not at genesis`
      for (const { name } of followers) this.#report(name, { state: 'unavailable', problem })
      return
    }
    await repeat({ clock, signal }, async () => {
      const { rings } = bell
      const pass: Pass = { seen: undefined }
      let moved = false
      let failed = false
      for (const follower of followers) {
        if (signal.aborted) return 'ended'
        const isStopped = this.#status.get(follower.name)?.state === 'stopped'
        const outcome = isStopped ? 'idle' : await this.#tryStep(follower, signal, pass)
        moved ||= outcome === 'moved'
        failed ||= outcome === 'failed'
        await this.#findings.look(follower)
      }
      if (failed) return RETRY_MS
      if (!moved) await bell.wait(clock, POLL_MS, signal, rings)
      return 0
    })
  }

  async #tryStep(
    follower: BlockFollower,
    signal: AbortSignal,
    pass: Pass,
  ): Promise<'moved' | 'idle' | 'failed'> {
    const { log, schema, clock } = this.#options
    const { name } = follower
    try {
      const { untilMs = 0 } = this.#unanswered.get(name) ?? {}
      return (await this.step(follower, signal, untilMs <= clock.monotonic(), pass)) ? 'moved' : 'idle'
    } catch (thrown) {
      pass.seen = undefined
      if (signal.aborted) return 'idle'
      const error = failureOf(thrown)
      const stops = !(error instanceof MillraceError) || error.remedy !== 'retry'
      this.#report(name, { state: stops ? 'stopped' : 'waiting', problem: messageOf(error) })
      if (stops) log.error({ schema, follower: name, error: messageOf(error) }, 'a follower stopped')
      return 'failed'
    }
  }

  /**
   * One commit of one follower; false when there was nothing to do. No node is asked where it
   * `mayAsk` none. Followers of one `pass` share a look, until one of them moves.
   */
  async step(
    follower: BlockFollower,
    signal: AbortSignal,
    mayAsk = true,
    pass: Pass = { seen: undefined },
  ): Promise<boolean> {
    const { postgres, schema, moved } = this.#options
    pass.seen ??= await readStanding(postgres.pool, schema)
    if (!pass.seen || !(await this.#step(follower, pass.seen, signal, mayAsk))) return false
    pass.seen = undefined
    moved()
    return true
  }

  async #step(
    follower: BlockFollower,
    seen: LaneStanding,
    signal: AbortSignal,
    mayAsk: boolean,
  ): Promise<boolean> {
    const { lane } = seen
    const held = heldFrom(seen, this.#options.startBlock, follower.needs)
    if (!held) return false
    const state = followerIn(seen, follower)
    if (!state || hasLostItsPlace(state, seen))
      return follower.begins === 'whole' && held.to < Math.min(lane.tip, lane.finalized)
        ? false
        : mayAsk && this.#begin(follower, signal)
    const tip = tipOf(state.coverage)
    const problem = this.#unanswered.get(follower.name)?.problem ?? null
    this.#report(follower.name, { state: problem === null ? 'following' : 'waiting', problem, tip })
    if (state.seq === lane.seq && held.to <= tip)
      return !state.completed && tip >= 0 && mayAsk ? this.#complete(follower, signal) : false
    const { revertedFrom: reverted } = state
    const final = Math.min(held.to, lane.finalized)
    // Blocks of ours that were taken back while we were away are undone first, whatever has become
    // final since.
    if (tip >= final || (reverted !== null && reverted <= tip)) return this.#followHead(follower, signal)
    await this.#fill(follower, state, lane, final, signal)
    return true
  }

  async #begin(follower: BlockFollower, signal: AbortSignal): Promise<boolean> {
    const { postgres, schema, fence } = this.#options
    const store = await this.#ask(follower, () => follower.prepare({ postgres, schema, signal }))
    await stoppableTransaction(postgres, signal, async (client) => {
      await assertFence(client, schema, fence)
      const lane = await readLane(client, schema)
      const transaction = { client, schema, finalized: lane?.finalized ?? -1 }
      await follower.clear(transaction)
      await insertFollower(client, schema, follower, lane?.seq ?? 0)
      await store(transaction)
    })
    return true
  }

  /** Remembers a question that failed, so that it is asked less and less often. */
  async #ask<Answer>({ name }: BlockFollower, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await ask()
      this.#unanswered.delete(name)
      return answer
    } catch (error) {
      const failures = (this.#unanswered.get(name)?.failures ?? 0) + 1
      const pauseMs = Math.min(ASK_AGAIN_MS_MAX, RETRY_MS * 2 ** failures)
      const untilMs = this.#options.clock.monotonic() + pauseMs
      this.#unanswered.set(name, { failures, untilMs, problem: messageOf(error) })
      throw error
    }
  }

  /** Stores what no block tells, unless the block it was asked about was taken back meanwhile. */
  async #complete(follower: BlockFollower, signal: AbortSignal): Promise<boolean> {
    const { postgres, schema, fence } = this.#options
    const completion = await this.#ask(follower, async () =>
      follower.complete?.({ postgres, schema, signal }),
    )
    if (completion === null) return false
    return stoppableTransaction(postgres, signal, async (client) => {
      await assertFence(client, schema, fence)
      const now = await readStanding(client, schema)
      const state = now && followerIn(now, follower)
      if (!state || state.revertedFrom !== null) return false
      await completion?.store({ client, schema, finalized: now.lane.finalized })
      if (completion?.last ?? true) await completeFollower(client, schema, follower)
      return true
    })
  }

  /**
   * Final blocks: nothing below `final` can change, so the lane's row is held only for the commit.
   */
  async #fill(
    follower: BlockFollower,
    { coverage }: FollowerState,
    lane: LaneState,
    final: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { postgres, schema, fence, failpoint } = this.#options
    const from = tipOf(coverage) + 1
    const whole = follower.begins === 'whole' && coverage.length === 0
    const blocks = whole ? final - from + 1 : (this.#pieceBlocks.get(follower.name) ?? PIECE_BLOCKS_MAX)
    const range = { from, to: Math.min(final, from + blocks - 1) }
    const to = await stoppableTransaction(postgres, signal, async (client) => {
      await client.query(`SET LOCAL statement_timeout = '${HISTORY_STATEMENT_TIMEOUT}'`)
      const transaction = { client, schema, finalized: lane.finalized }
      const last =
        whole && follower.load
          ? await follower.load(transaction, range)
          : await follower.apply(transaction, range)
      failpoint('postgres.follower.rows')
      await assertFence(client, schema, fence)
      await this.#store(client, follower, lane.seq, last ?? -1)
      return last
    })
    if (to === null) return this.#report(follower.name, { state: 'filling', problem: null, tip: -1 })
    // As much as fitted this time, or more and more while it fits.
    const fitted = to - from + 1
    const next = to < range.to ? fitted : Math.max(fitted, blocks) * 2
    this.#pieceBlocks.set(follower.name, Math.min(PIECE_BLOCKS_MAX, next))
    this.#report(follower.name, { state: 'filling', problem: null, tip: to })
  }

  /** Above finality: the lane stands still during the step. */
  async #followHead(follower: BlockFollower, signal: AbortSignal): Promise<boolean> {
    const { postgres, schema, startBlock, fence, failpoint } = this.#options
    return stoppableTransaction(postgres, signal, async (client) => {
      await holdLane(client, schema, fence)
      const now = await readStanding(client, schema)
      const state = now && followerIn(now, follower)
      const held = now && heldFrom(now, startBlock, follower.needs)
      if (!state || !held) return false
      const { lane } = now
      const transaction = { client, schema, finalized: lane.finalized }
      const before = tipOf(state.coverage)
      const { revertedFrom: reverted } = state
      if (reverted !== null && reverted <= before) await follower.revert(transaction, reverted)
      const tip = reverted === null ? before : Math.min(before, reverted - 1)
      const to = Math.min(held.to, tip + HEAD_PIECE_BLOCKS_MAX)
      const last = to > tip ? await follower.apply(transaction, { from: tip + 1, to }) : tip
      if (last === before && state.seq === lane.seq) return false
      failpoint('postgres.follower.rows')
      await this.#store(client, follower, lane.seq, last)
      return true
    })
  }

  async #store(client: pg.PoolClient, follower: BlockFollower, seq: number, tip: number): Promise<void> {
    const { schema, startBlock, failpoint } = this.#options
    const coverage = tip < startBlock ? [] : [{ from: startBlock, to: tip }]
    await moveFollower(client, schema, follower, { seq, coverage })
    failpoint('postgres.follower.commit')
  }

  #report(name: string, change: Pick<FollowerStatus, 'state' | 'problem'> & { readonly tip?: number }): void {
    if (change.state === 'stopped') this.#options.stopped?.add(name)
    else this.#options.stopped?.delete(name)
    this.#status.set(name, { name, tip: this.#status.get(name)?.tip ?? -1, ...change })
  }
}

/** One round over all followers, and what it saw last; undefined once that is out of date. */
interface Pass {
  seen: LaneStanding | null | undefined
}

/** Away for longer than the log keeps commits: what was taken back meanwhile cannot be known. */
const hasLostItsPlace = ({ seq }: FollowerState, { lane, firstSeq }: LaneStanding): boolean =>
  seq < lane.seq && (firstSeq ?? 0) > seq + 1

interface Unanswered {
  readonly failures: number
  /** Monotonic; nobody is asked before. */
  readonly untilMs: number
  readonly problem: string
}

/**
 * Statements outside a transaction throw what the driver gives, and a lost connection may have no code
 * at all; so whatever is no mistake of the program's is told by what Postgres says of it.
 */
const failureOf = (thrown: unknown): unknown =>
  thrown instanceof MillraceError || mistakes.some((mistake) => thrown instanceof mistake)
    ? thrown
    : new PostgresError(thrown)

const mistakes = [TypeError, RangeError, ReferenceError, SyntaxError]

const tipOf = (coverage: RangeSet): number => coverage.at(-1)?.to ?? -1
