/**
 * Reads what a follower has written, at one moment: it must have taken in the blocks readers
 * already see, and nothing of a block that was reverted since. A follower is at most a moment
 * behind, so a read waits for it rather than show less.
 */
import type pg from 'pg'
import { failure } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import { readOnce, readSnapshot } from '../cancel.ts'
import type { ChainState } from '../ledger/chainState.ts'
import { type Postgres, preparedName } from '../postgres.ts'
import { relationOf } from '../sql.ts'
import { type BlockFollower, revertedFromSql } from './follower.ts'

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
/** How long to wait without a wake-up; bounds what a lost notice of another process costs. */
const POLL_MS = 250

/**
 * `read` gets a snapshot of all of them, and the block the last of them stands at in it.
 * @throws CoverageIncompleteError when the follower cannot work on this chain,
 * ProjectionIncompleteError while it is behind
 */
export function readFollowed<Result>(
  chain: FollowedChain,
  followed: readonly Followed[],
  signal: AbortSignal,
  read: (client: pg.PoolClient, tip: number) => Promise<Result>,
): Promise<Result> {
  const text = placeSql(chain.state.schema, followed, '$1')
  const statement = { name: preparedName(text), text }
  return untilCurrent(chain, followed, signal, (target) =>
    readSnapshot(chain.postgres, signal, async (client) => {
      const found = await client.query<PlaceRow>({ ...statement, values: [target] })
      const { behind, tip } = placeOf(found.rows[0])
      return behind ? { behind } : { behind, result: await read(client, tip) }
    }),
  )
}

/** A statement whose rows are read together with where the followers stand. */
export interface FollowedRows {
  /** May name `place.last_tip`, the block the last follower stands at. */
  readonly text: string
  readonly values: readonly unknown[]
  /** A column that is never NULL. */
  readonly key: string
  /** What the text is ordered by. */
  readonly order: string
}

/**
 * The same for what one statement reads, prepared: there are few texts of them. Rows as the driver
 * gives them, each with `last_tip`, the block the last follower stands at.
 */
export function readFollowedRows<Row extends Readonly<Record<string, unknown>>>(
  { postgres, ...chain }: FollowedChain,
  followed: readonly Followed[],
  signal: AbortSignal,
  { text: page, values, key, order }: FollowedRows,
): Promise<readonly (PlaceRow & Row)[]> {
  const place = placeSql(chain.state.schema, followed, `$${values.length + 1}`)
  const text = `SELECT place.*, page.* FROM (${place}) AS place LEFT JOIN LATERAL (${page}) AS page ON true ORDER BY ${order}`
  return untilCurrent(chain, followed, signal, async (target) => {
    const statement = { name: preparedName(text), text, values: [...values, target] }
    const found = await readOnce(postgres, signal, (client) => client.query<PlaceRow & Row>(statement))
    const { behind } = placeOf(found.rows[0])
    return behind ? { behind } : { behind, result: found.rows.filter((row) => row[key] !== null) }
  })
}

type Look<Result> = { readonly behind: Place } | { readonly behind: null; readonly result: Result }

/** Looks until no follower is behind what readers could see at first. */
async function untilCurrent<Result>(
  { state, clock }: Pick<FollowedChain, 'state' | 'clock'>,
  followed: readonly Followed[],
  signal: AbortSignal,
  look: (target: number) => Promise<Look<Result>>,
): Promise<Result> {
  const [first] = followed
  if (state.startBlock > 0 && first) throw new CoverageIncompleteError(first.name, state.startBlock)
  const target = state.tip
  const untilMs = clock.monotonic() + BEHIND_MS_MAX
  for (;;) {
    const { rings } = state.followed
    const seen = await look(target)
    if (!seen.behind) return seen.result
    const { name, tip } = seen.behind
    if (clock.monotonic() >= untilMs) throw new ProjectionIncompleteError(name, tip, target)
    await state.followed.wait(clock, POLL_MS, signal, rings)
    signal.throwIfAborted()
  }
}

interface Place {
  readonly name: string
  /** -1 before its first block. */
  readonly tip: number
}

interface PlaceRow extends Readonly<Record<string, unknown>> {
  readonly behind: string | null
  readonly behind_tip: number | null
  readonly last_tip: number | null
}

function placeOf(row: PlaceRow | undefined): { readonly behind: Place | null; readonly tip: number } {
  const { behind = '', behind_tip: behindTip = -1, last_tip: tip = -1 } = row ?? {}
  return {
    behind: behind === null ? null : { name: behind, tip: behindTip ?? -1 },
    tip: tip ?? -1,
  }
}

/**
 * One row: the first follower that is not current, and the block the last one stands at. A follower
 * is current when nothing in it was taken back, and it holds what readers could see (up to
 * `target`, a parameter), unless that was taken back since.
 */
function placeSql(schema: string, followed: readonly Followed[], target: string): string {
  const [followers, coverage, lanes] = ['followers', 'coverage', 'lanes'].map((table) =>
    relationOf(schema, table),
  )
  const asked = followed.map(
    ({ name, version, completes = false }, index) => `(${index + 1}, '${name}', ${version}, ${completes})`,
  )
  return `SELECT (array_agg(name ORDER BY nth) FILTER (WHERE is_current IS NOT TRUE))[1] AS behind,
      (array_agg(tip ORDER BY nth) FILTER (WHERE is_current IS NOT TRUE))[1] AS behind_tip,
      (array_agg(tip ORDER BY nth))[${followed.length}] AS last_tip
    FROM (SELECT nth, asked.name, tip, tip >= 0 AND (completed OR NOT completes)
        AND (${revertedFromSql(schema, 'f.seq')}) <= tip IS NOT TRUE
        AND tip >= least(${target}::bigint, (SELECT lanes.tip FROM ${lanes} AS lanes WHERE lanes.name = 'head')) AS is_current
      FROM (VALUES ${asked.join(', ')}) AS asked (nth, name, version, completes)
      LEFT JOIN ${followers} AS f ON f.name = asked.name AND f.version = asked.version
      LEFT JOIN ${coverage} AS c ON c.store = 'postgres' AND c.projection = f.name AND c.version = f.version
      CROSS JOIN LATERAL (SELECT coalesce(upper(blocks) - 1, -1) AS tip) AS held) AS each_follower`
}

/** A follower has not taken in yet what a read needs. */
export class ProjectionIncompleteError extends failure(
  'ProjectionIncompleteError',
  'projection_incomplete',
  'retry',
) {
  readonly projection: string
  /** Newest block taken in; -1 before the first. */
  readonly to: number

  constructor(projection: string, to: number, target: number) {
    super(
      to < 0
        ? `${projection}: still being computed for this chain.`
        : to < target
          ? `${projection}: computed up to block ${to} of ${target} for this chain.`
          : `${projection}: lacks what no block of this chain tells, and no node has told it yet.`,
    )
    this.projection = projection
    this.to = to
  }
}

/** A follower needs the chain from genesis on, and this installation begins later. */
export class CoverageIncompleteError extends failure(
  'CoverageIncompleteError',
  'coverage_incomplete',
  'stop',
) {
  constructor(projection: string, startBlock: number) {
    super(
      `The ${projection} need the chain from genesis on; this installation begins at block ${startBlock}.`,
    )
  }
}
