/**
 * Reads what a follower has written, at one moment: it must have taken in the blocks readers
 * already see, and nothing of a block that was reverted since. A follower is at most a moment
 * behind, so a read waits for it rather than show less; on a machine that is too busy for that, an
 * answer says which block it is of.
 */
import type pg from 'pg'
import { failure } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import { readOnce, readSnapshot } from '../cancel.ts'
import type { ChainState } from '../ledger/ChainState.ts'
import { type Postgres, preparedName } from '../postgres.ts'
import { relationOf } from '../sql.ts'
import { type BlockFollower, revertedFromSql } from './follower.ts'

export interface FollowedChain {
  readonly postgres: Postgres
  readonly state: ChainState
  readonly clock: Clock
  /** Absent, an answer that is behind is none. */
  readonly standing?: ToldReader | undefined
}

/** A reader that can be told that the answer is of an older block than readers may see. */
export interface ToldReader {
  /** A block that the answer has to contain. */
  readonly atLeast?: number | undefined
  readonly tell: (tip: number) => void
}

/** The source of a read: a follower's rows. `completes`: only with what no block tells. */
export interface Followed extends Pick<BlockFollower, 'name' | 'version'> {
  readonly completes?: boolean
}

/**
 * A follower that takes longer than `BEHIND_MS_MAX` for a block, as on a busy machine, takes in all
 * that came meanwhile in one step: what is further behind than such a step is being made anew.
 */
const BEHIND_BLOCKS_MAX = 200
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
  return untilCurrent(chain, followed, signal, (target, mayTell) =>
    readSnapshot(chain.postgres, signal, async (client) => {
      const found = await client.query<PlaceRow>({ ...statement, values: [target] })
      const place = placeOf(found.rows[0])
      return { place, ...(mayTell(place) && { result: await read(client, place.tip) }) }
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
  /** The order of the text. */
  readonly order: string
}

/**
 * The same for what one statement reads, prepared: there are few texts of them. Rows as the driver
 * gives them, each with `last_tip`, the block the last follower stands at.
 */
export function readFollowedRows<Row extends Readonly<Record<string, unknown>>>(
  chain: FollowedChain,
  followed: readonly Followed[],
  signal: AbortSignal,
  { text: page, values, key, order }: FollowedRows,
): Promise<readonly (PlaceRow & Row)[]> {
  const place = placeSql(chain.state.schema, followed, `$${values.length + 1}`)
  const text = `SELECT place.*, page.* FROM (${place}) AS place LEFT JOIN LATERAL (${page}) AS page ON true ORDER BY ${order}`
  return untilCurrent(chain, followed, signal, async (target) => {
    const statement = { name: preparedName(text), text, values: [...values, target] }
    const found = await readOnce(chain.postgres, signal, (client) => client.query<PlaceRow & Row>(statement))
    return { place: placeOf(found.rows[0]), result: found.rows.filter((row) => row[key] !== null) }
  })
}

/** One look: where the followers stand, and what was read there, if it may be told. */
interface Look<Result> {
  readonly place: Place
  readonly result?: Result
}

/**
 * Looks until no follower is behind what readers could see at first, or, where that may be told, for
 * as long as one that keeps up needs.
 */
async function untilCurrent<Result>(
  { state, clock, standing }: Omit<FollowedChain, 'postgres'>,
  followed: readonly Followed[],
  signal: AbortSignal,
  look: (target: number, mayTell: (place: Place) => boolean) => Promise<Look<Result>>,
): Promise<Result> {
  const [first] = followed
  if (state.startBlock > 0 && first) throw new CoverageIncompleteError(first.name, state.startBlock)
  const target = state.tip
  const isNear = ({ whole }: Place) =>
    standing !== undefined &&
    whole !== null &&
    whole >= (standing.atLeast ?? 0) &&
    target - whole <= BEHIND_BLOCKS_MAX &&
    !followed.some(({ name }) => state.stopped.has(name))
  const untilMs = clock.monotonic() + BEHIND_MS_MAX
  for (;;) {
    const { rings } = state.followed
    // Nobody waits again for a follower that was waited for in vain.
    const isPatient = () => clock.monotonic() < untilMs && !followed.some(({ name }) => state.late.has(name))
    const mayTell = (place: Place) => place.behind === null || (!isPatient() && isNear(place))
    const { place, ...seen } = await look(target, mayTell)
    const { behind } = place
    if (behind === null) for (const { name } of followed) state.late.delete(name)
    if ('result' in seen && mayTell(place)) {
      if (behind !== null && place.whole !== null) standing?.tell(place.whole)
      return seen.result
    }
    if (behind && clock.monotonic() >= untilMs) {
      if (!isNear(place)) throw new ProjectionIncompleteError(behind.name, behind.tip, target)
      state.late.add(behind.name)
      continue
    }
    await state.followed.wait(clock, POLL_MS, signal, rings)
    signal.throwIfAborted()
  }
}

interface Place {
  /** The first follower that is not current. */
  readonly behind: { readonly name: string; readonly tip: number } | null
  /** The block the last follower stands at; -1 before its first. */
  readonly tip: number
  /**
   * The newest block that all of them have taken in; null where one has taken in none, holds what was
   * taken back, or lacks what no block tells.
   */
  readonly whole: number | null
}

interface PlaceRow extends Readonly<Record<string, unknown>> {
  readonly behind: string | null
  readonly behind_tip: number | null
  readonly last_tip: number | null
  readonly whole_tip: number | null
}

function placeOf(row: PlaceRow | undefined): Place {
  const { behind = '', behind_tip: behindTip = -1, last_tip: tip = -1, whole_tip: whole = null } = row ?? {}
  return {
    behind: behind === null ? null : { name: behind, tip: behindTip ?? -1 },
    tip: tip ?? -1,
    whole,
  }
}

/**
 * One row: the first follower that is not current, the block the last one stands at, and the one that
 * all have taken in. A follower is current when it is whole (nothing in it was taken back, nothing is
 * missing), and it holds what readers could see (up to `target`, a parameter), unless that was taken
 * back since. OFFSET 0 has what a whole one takes looked up once for each.
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
      (array_agg(tip ORDER BY nth))[${followed.length}] AS last_tip,
      CASE WHEN bool_and(is_whole IS TRUE) THEN min(tip) END AS whole_tip
    FROM (SELECT nth, asked.name, tip, is_whole, is_whole AND tip >= least(${target}::bigint, (SELECT lanes.tip FROM ${lanes} AS lanes WHERE lanes.name = 'head')) AS is_current
      FROM (VALUES ${asked.join(', ')}) AS asked (nth, name, version, completes)
      LEFT JOIN ${followers} AS f ON f.name = asked.name AND f.version = asked.version
      LEFT JOIN ${coverage} AS c ON c.store = 'postgres' AND c.projection = f.name AND c.version = f.version
      CROSS JOIN LATERAL (SELECT coalesce(upper(blocks) - 1, -1) AS tip) AS held
      CROSS JOIN LATERAL (SELECT tip >= 0 AND (completed OR NOT completes)
        AND (${revertedFromSql(schema, 'f.seq')}) <= tip IS NOT TRUE AS is_whole OFFSET 0) AS state) AS each_follower`
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
