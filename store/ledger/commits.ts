/**
 * The commit log of a chain's head lane: written by the sink in the transaction of the commit
 * itself, read by everything that follows it: live queries, webhooks, folds, feeds. Each follower
 * keeps its own position and reads in its own time; a wake-up only saves it from waiting for the
 * next poll.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { Clock } from '#runtime/runtime.ts'
import { quoteIdentifier, toBytes } from '../sql.ts'
import { hashOf, type Queryable } from './lane.ts'

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

/**
 * Commits the log keeps: some three days of a chain with two blocks a second, 150 MB. A reader away
 * for longer starts over: a stream is told that its place is lost, a follower makes its rows again.
 */
export const COMMITS_KEPT = 500_000
/** Commits between two prunings, so that nearly every commit pays nothing for it. */
const PRUNE_EVERY = 256

/**
 * Appends commit `seq` to the log, inside its transaction. `refs` are its blocks, ascending, at
 * least one.
 */
export async function logCommit(
  client: Queryable,
  schema: string,
  seq: number,
  kind: Commit['kind'],
  refs: readonly { readonly number: number; readonly hash: string }[],
): Promise<void> {
  const hashes = refs.map((ref) => toBytes(ref.hash))
  await client.query(
    `INSERT INTO ${quoteIdentifier(schema)}.commits (seq, kind, from_block, to_block, hash, hashes)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [seq, kind, refs[0]?.number, refs.at(-1)?.number, hashes.at(-1), hashes],
  )
}

/** Now and then deletes what lies more than `kept` commits behind `seq`. */
export async function pruneCommits(
  client: Queryable,
  schema: string,
  seq: number,
  kept: number,
): Promise<void> {
  if (seq <= kept || seq % Math.min(PRUNE_EVERY, kept) !== 0) return
  await client.query(`DELETE FROM ${quoteIdentifier(schema)}.commits WHERE seq <= $1`, [seq - kept])
}

/** True when the log still holds every commit after `seq`. */
export async function holdsCommitsAfter(client: Queryable, schema: string, seq: number): Promise<boolean> {
  const oldest = await client.query<{ seq: number | null }>(
    `SELECT min(seq) AS seq FROM ${quoteIdentifier(schema)}.commits`,
  )
  return (oldest.rows[0]?.seq ?? 0) <= seq + 1
}

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

/** Lowest block that a revert after commit `seq` took back; null when there was none. */
export async function readLowestRevert(
  client: Queryable,
  schema: string,
  seq: number,
): Promise<number | null> {
  const result = await client.query<{ lowest: number | null }>(
    `SELECT min(from_block) AS lowest FROM ${quoteIdentifier(schema)}.commits WHERE seq > $1 AND kind = 'revert'`,
    [seq],
  )
  return result.rows[0]?.lowest ?? null
}

/** Wakes followers in this process. */
export class CommitBell {
  #waiting = new Set<() => void>()
  #rings = 0
  readonly #with: CommitBell[] = []

  /** So many so far: whoever looks before it waits hears what rang meanwhile. */
  get rings(): number {
    return this.#rings
  }

  /** Has the other ring with this one. */
  add(other: CommitBell): void {
    this.#with.push(other)
  }

  ring(): void {
    this.#rings++
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const resolve of waiting) resolve()
    for (const other of this.#with) other.ring()
  }

  /**
   * Resolves at the next ring, after `timeoutMs`, or when aborted; at once where it has rung since
   * it had rung `rings` times. Never rejects.
   */
  async wait(clock: Clock, timeoutMs: number, signal: AbortSignal, rings = this.#rings): Promise<void> {
    if (rings !== this.#rings) return
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
