/**
 * The commit log of a chain's head lane, read by everything that follows it: live queries, webhooks, folds, feeds. Each
 * follower keeps its own position and reads in its own time; a wake-up only saves it from waiting for the next poll.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { Clock } from '../runtime.ts'
import { hashOf, type Queryable } from './lane.ts'
import { type Postgres, quoteIdentifier } from './postgres.ts'

export interface Commit {
  /** Numbered without gaps. */
  readonly seq: number
  readonly kind: 'append' | 'revert'
  readonly range: BlockRange
  /** Every block of the range, ascending. */
  readonly blocks: readonly { readonly num: number; readonly hash: string }[]
  readonly committedAtMs: number
}

interface CommitRow {
  seq: number
  kind: 'append' | 'revert'
  from_block: number
  to_block: number
  hashes: Buffer[]
  committed_at: Date
}

/** Commits read at once. A follower that is behind catches up in steps of this size. */
const COMMITS_MAX = 100
/** How long a follower waits without a wake-up: it bounds the delay in another process. */
const POLL_MS = 500

/** Commits after `seq`, oldest first, at most COMMITS_MAX. */
export async function readCommits(client: Queryable, schema: string, seq: number): Promise<Commit[]> {
  const result = await client.query<CommitRow>(
    `SELECT seq, kind, from_block, to_block, hashes, committed_at FROM ${quoteIdentifier(schema)}.commits
     WHERE seq > $1 ORDER BY seq LIMIT $2`,
    [seq, COMMITS_MAX],
  )
  return result.rows.map((row) => ({
    seq: row.seq,
    kind: row.kind,
    range: { from: row.from_block, to: row.to_block },
    blocks: row.hashes.map((hash, index) => ({ num: row.from_block + index, hash: hashOf(hash) })),
    committedAtMs: row.committed_at.getTime(),
  }))
}

/** Number of the last commit; 0 before the first. */
export async function readLastSeq(client: Queryable, schema: string): Promise<number> {
  const result = await client.query<{ seq: number | null }>(
    `SELECT max(seq) AS seq FROM ${quoteIdentifier(schema)}.commits`,
  )
  return result.rows[0]?.seq ?? 0
}

/** Whether a block of commit `seq` was taken back by a later one. */
export async function isTakenBack(
  client: Queryable,
  schema: string,
  seq: number,
  block: number,
): Promise<boolean> {
  const result = await client.query(
    `SELECT 1 FROM ${quoteIdentifier(schema)}.commits WHERE seq > $1 AND kind = 'revert' AND from_block <= $2 LIMIT 1`,
    [seq, block],
  )
  return result.rows.length > 0
}

/** Wakes followers in this process. */
export class CommitBell {
  #waiting = new Set<() => void>()

  ring(): void {
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const resolve of waiting) resolve()
  }

  /** Resolves at the next ring, after `timeoutMs`, or when aborted; never rejects. */
  async wait(clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController()
    let wake = () => {}
    const rung = new Promise<void>((resolve) => {
      wake = resolve
      this.#waiting.add(resolve)
    })
    const late = clock.sleep(timeoutMs, AbortSignal.any([signal, done.signal])).catch(() => {})
    await Promise.race([rung, late])
    this.#waiting.delete(wake)
    done.abort()
  }
}

export interface FollowOptions {
  readonly postgres: Postgres
  readonly schema: string
  readonly bell: CommitBell
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Every commit after `seq`, in order, for ever. @throws PostgresError when the log cannot be read */
export async function* followCommits(options: FollowOptions, seq: number): AsyncGenerator<Commit> {
  const { postgres, schema, bell, clock, signal } = options
  let last = seq
  while (!signal.aborted) {
    const commits = await readCommits(postgres.pool, schema, last)
    for (const commit of commits) {
      last = commit.seq
      yield commit
    }
    if (commits.length === 0) await bell.wait(clock, POLL_MS, signal)
  }
}
