/**
 * Entities of a follower whose events cannot be reduced or stored: each stops alone, in a row that
 * says so, and the others go on.
 */
import { MillraceError, messageOf } from '#errors.ts'
import type { Queryable } from '../ledger/lane.ts'
import { isDataFault } from '../postgres.ts'
import { relationOf, toBytes, toHex } from '../sql.ts'
import type { FoldColumns, FoldEvent, FoldState, FoldTable } from './fold.ts'

/** Enough to act on; an error may repeat what somebody on the chain wrote. */
const PROBLEM_CHARACTERS_MAX = 200
/** Named in /status; the rest are in the table. */
const TOLD_MAX = 5

/** Suffix of the table, which all entities of one follower share. */
export const stoppedTable = (follower: string): string => `${follower}_stopped`

interface Storing<Columns extends FoldColumns> {
  readonly client: Queryable
  readonly schema: string
  /** Name of the follower. */
  readonly follower: string
  readonly fold: FoldTable<Columns>
  /** Reduces events and stores what they change. */
  readonly store: (events: readonly FoldEvent<FoldState<Columns>>[]) => Promise<void>
}

/**
 * Stores all events at once. Where that fails, each entity's block by block up to the one that
 * fails: the same one whatever was read together.
 */
export async function storeOrStop<Columns extends FoldColumns>(
  storing: Storing<Columns>,
  events: readonly FoldEvent<FoldState<Columns>>[],
): Promise<void> {
  const stopped = await readStopped(storing, events)
  const live = events.filter(({ entity }) => !stopped.has(entity))
  const storeAll = () => storing.store(live)
  if (live.length === 0 || (await tryStore(storing.client, storeAll)) === null) return
  for (const [entity, own] of Map.groupBy(live, (event) => event.entity))
    await storeBlocks(storing, entity, own)
}

async function storeBlocks<Columns extends FoldColumns>(
  storing: Storing<Columns>,
  entity: string,
  events: readonly FoldEvent<FoldState<Columns>>[],
): Promise<void> {
  for (const [block, together] of Map.groupBy(events, ({ place }) => place.blockNumber)) {
    const problem = await tryStore(storing.client, () => storing.store(together))
    if (problem !== null) return await stop(storing, storing.fold.name, { entity, block, problem })
  }
}

/** A row that nothing but its own entity depends on. */
export interface LoneRow {
  readonly entity: string
  /** Since when there is the entity. */
  readonly block: number
}

/** Stores rows together. Where that fails each is stored alone, and what fails is left out and told. */
export async function storeOrLeaveOut<Row extends LoneRow>(
  of: Pick<Storing<FoldColumns>, 'client' | 'schema' | 'follower'>,
  rows: readonly Row[],
  store: (rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  await of.client.query(
    `DELETE FROM ${relationOf(of.schema, stoppedTable(of.follower))} WHERE name = $1 AND entity = ANY ($2)`,
    [of.follower, rows.map(({ entity }) => toBytes(entity))],
  )
  if (rows.length === 0 || (await tryStore(of.client, () => store(rows))) === null) return
  for (const row of rows) {
    const problem = await tryStore(of.client, () => store([row]))
    if (problem !== null) await stop(of, of.follower, { ...row, problem })
  }
}

/** Null when they are stored; else why they cannot be, with nothing of them stored. */
async function tryStore(client: Queryable, store: () => Promise<void>): Promise<string | null> {
  await client.query('SAVEPOINT entity')
  try {
    await store()
  } catch (error) {
    // On a connection that is lost this fails, and with it the step.
    await client.query('ROLLBACK TO SAVEPOINT entity')
    if (!isOfEntity(error)) throw error
    return messageOf(error)
  }
  await client.query('RELEASE SAVEPOINT entity')
  return null
}

/** An error about the data from Postgres, or from a reducer; all else is nobody's on the chain. */
const isOfEntity = (error: unknown): boolean =>
  isDataFault(error) || (error instanceof Error && !(error instanceof MillraceError) && !('code' in error))

async function readStopped<Columns extends FoldColumns>(
  { client, schema, follower, fold }: Storing<Columns>,
  events: readonly FoldEvent<FoldState<Columns>>[],
): Promise<ReadonlySet<string>> {
  if (events.length === 0) return new Set()
  const { rows } = await client.query<{ entity: Buffer }>(
    `SELECT entity FROM ${relationOf(schema, stoppedTable(follower))} WHERE name = $1 AND entity = ANY ($2)`,
    [fold.name, [...new Set(events.map(({ entity }) => entity))].map(toBytes)],
  )
  return new Set(rows.map(({ entity }) => toHex(entity)))
}

async function stop(
  { client, schema, follower }: Pick<Storing<FoldColumns>, 'client' | 'schema' | 'follower'>,
  name: string,
  { entity, block, problem }: LoneRow & { readonly problem: string },
): Promise<void> {
  const short = problem.replaceAll('\0', '').slice(0, PROBLEM_CHARACTERS_MAX)
  await client.query(
    `INSERT INTO ${relationOf(schema, stoppedTable(follower))} (name, entity, block_num, problem) VALUES ($1, $2, $3, $4)`,
    [name, toBytes(entity), block, short],
  )
}

/** Entities that have stopped, in words; null where none has. */
export async function describeStopped(
  client: Queryable,
  schema: string,
  follower: string,
): Promise<string | null> {
  const { rows } = await client.query<{ entity: Buffer; block_num: number; problem: string; count: number }>(
    `SELECT entity, block_num, problem, count(*) OVER () AS count
     FROM ${relationOf(schema, stoppedTable(follower))} ORDER BY block_num, entity LIMIT ${TOLD_MAX}`,
  )
  const [first] = rows
  if (!first) return null
  const told = rows.map((row) => `${toHex(row.entity)} from block ${row.block_num} on (${row.problem})`)
  return `${first.count} stand still: ${told.join(', ')}`
}
