/**
 * Before the lane writes: does ClickHouse hold what the journal says, no more and no less? It holds
 * more after Postgres was restored from an older copy, and less after it lost parts itself.
 * Counting is cheap and done at every start; only when the counts differ is the content digested,
 * and what does not agree is deleted and made again from the archive.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import { type BlockRange, parseMultirange, type RangeSet } from '#ingest/range.ts'
import type { Logger } from '#telemetry.ts'
import { clickhouseDigestSql } from '#transform/digest.ts'
import { analyticsTableNames, type TableName, tables } from '#transform/tables.ts'
import { assertFence } from '../ledger/lane.ts'
import { readLedgerIdentity, renewLedger } from '../ledger/ledger.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier } from '../sql.ts'
import { readStoreIdentity, recordStoreIdentity } from './adopt.ts'
import { selectRows } from './client.ts'
import { KEPT_ENCODERS } from './encoderVersion.ts'
import { deleteFenced } from './fence.ts'
import { forgetBatches } from './journal.ts'

/** Partitions whose content one request digests. */
const PARTITIONS_AT_ONCE = 8

export interface ReconcileOptions {
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  readonly schema: string
  readonly database: string
  readonly fence: bigint
  /** Throws when this process may no longer write (lease lost). */
  readonly assertMayWrite: () => void
  readonly partitionBlocks: number
  readonly log: Logger
}

export interface Reconciliation {
  /** Rows of blocks the journal does not know were deleted: Postgres is older than ClickHouse. */
  readonly deletedBeyond: boolean
  /** Partitions that did not hold what was sent, and are made again. */
  readonly forgotten: readonly BlockRange[]
}

/** The rows that the journal has sent, per table: batches known to be there, and all begun. */
interface Journalled {
  readonly written: bigint
  readonly begun: bigint
}

interface Content {
  readonly rows: bigint
  readonly digest: bigint
}

/**
 * Brings ClickHouse and its journal to agree. Null when they do. @throws ClickHouseFailure,
 * PostgresError
 */
export async function reconcileClickHouse(options: ReconcileOptions): Promise<Reconciliation | null> {
  const { postgres, clickhouse, schema, database, log } = options
  const ours = await readLedgerIdentity(postgres, schema)
  const theirs = await readStoreIdentity(clickhouse, database)
  const outdated = await outdatedPartitions(options)
  if (outdated.length === 0 && ours.ledgerId === theirs?.ledgerId && (await countsAgree(options))) return null
  const deletedBeyond = await deleteBeyond(options)
  const forgotten = await forgetPartitions(options, [...outdated, ...(await disagreeingPartitions(options))])
  // Postgres has another past than the one ClickHouse followed: tokens of that past must not meet
  // ours.
  if (deletedBeyond) await renewLedger(postgres, schema)
  await recordStoreIdentity(clickhouse, database, await readLedgerIdentity(postgres, schema))
  log.warn(
    { database, deletedBeyond, forgotten },
    'ClickHouse did not hold what the journal says; it was corrected',
  )
  return { deletedBeyond, forgotten }
}

async function countsAgree(options: ReconcileOptions): Promise<boolean> {
  const journalled = await readJournalled(options)
  const sql = analyticsTableNames.map(
    (name) =>
      `SELECT '${name}' AS name, count() AS rows, max(${tables[name].blockColumn}) AS top FROM ${options.database}.${name}`,
  )
  const found = await selectRows<{ name: TableName; rows: string; top: string }>(
    options.clickhouse,
    sql.join(' UNION ALL '),
  )
  const top = (await readRanges(options, 'begun')).at(-1)?.to ?? -1
  return found.every((table) => {
    const { written, begun } = journalled.get(table.name) ?? { written: 0n, begun: 0n }
    const rows = BigInt(table.rows)
    return written <= rows && rows <= begun && (rows === 0n || Number(table.top) <= top)
  })
}

async function readJournalled({ postgres, schema }: ReconcileOptions): Promise<Map<string, Journalled>> {
  const result = await postgres.pool.query<{ name: string; written: string; begun: string }>(
    `SELECT t.key AS name, sum((t.value->>'rows')::numeric)::text AS begun,
            coalesce(sum((t.value->>'rows')::numeric) FILTER (WHERE state = 'written'), 0)::text AS written
     FROM ${quoteIdentifier(schema)}.ch_batches, jsonb_each(tables) t GROUP BY t.key`,
  )
  return new Map(
    result.rows.map((row) => [row.name, { written: BigInt(row.written), begun: BigInt(row.begun) }]),
  )
}

/** Blocks of all batches in the journal, or of those that are not known to be written. */
async function readRanges(
  { postgres, schema }: ReconcileOptions,
  which: 'begun' | 'open',
): Promise<RangeSet> {
  const result = await postgres.pool.query<{ blocks: string | null }>(
    `SELECT range_agg(int8range(from_block, to_block, '[]'))::text AS blocks
     FROM ${quoteIdentifier(schema)}.ch_batches WHERE $1 = 'begun' OR state = 'open'`,
    [which],
  )
  return parseMultirange(result.rows[0]?.blocks ?? '{}')
}

/** Deletes rows of blocks the journal does not know. True when there were any. */
async function deleteBeyond(options: ReconcileOptions): Promise<boolean> {
  const ranges = await readRanges(options, 'begun')
  let any = false
  for (const name of analyticsTableNames) {
    const condition = `NOT ${within(name, ranges)}`
    const [found] = await selectRows<{ rows: string }>(
      options.clickhouse,
      `SELECT count() AS rows FROM ${options.database}.${name} WHERE ${condition}`,
    )
    if (found?.rows === '0') continue
    any = true
    await deleteRows(options, name, condition)
  }
  return any
}

/**
 * Partitions of which another version of the encoder sent something: it is made again by this one.
 */
async function outdatedPartitions({
  postgres,
  schema,
  partitionBlocks,
}: ReconcileOptions): Promise<number[]> {
  const result = await postgres.pool.query<{ partition: number }>(
    `SELECT DISTINCT from_block / $1::bigint AS partition FROM ${quoteIdentifier(schema)}.ch_batches
     WHERE encoder <> ALL ($2) AND state = 'written'`,
    [partitionBlocks, KEPT_ENCODERS],
  )
  return result.rows.map((row) => row.partition)
}

/**
 * Forgets partitions whole. The journal goes first: what it no longer claims is deleted at the next
 * start, if not now.
 */
async function forgetPartitions(
  options: ReconcileOptions,
  partitions: readonly number[],
): Promise<BlockRange[]> {
  const { postgres, schema, fence, partitionBlocks } = options
  const forgotten: BlockRange[] = []
  for (const partition of new Set(partitions)) {
    const range = { from: partition * partitionBlocks, to: (partition + 1) * partitionBlocks - 1 }
    await postgres.transaction(async (client) => {
      await client.query('SET LOCAL synchronous_commit = on')
      await assertFence(client, schema, fence)
      await forgetBatches(client, schema, [range], partitionBlocks)
    })
    for (const name of analyticsTableNames) await deleteRows(options, name, within(name, [range]))
    forgotten.push(range)
  }
  return forgotten
}

async function disagreeingPartitions(options: ReconcileOptions): Promise<number[]> {
  const sent = await readSent(options)
  const open = await readRanges(options, 'open')
  const wrong = new Set<number>()
  for (const name of analyticsTableNames) {
    const found = await readContent(options, name, open)
    const expected = sent.get(name) ?? new Map<number, Content>()
    for (const partition of new Set([...found.keys(), ...expected.keys()])) {
      const [a, b] = [found.get(partition), expected.get(partition)]
      if (a?.rows !== b?.rows || a?.digest !== b?.digest) wrong.add(partition)
    }
  }
  return [...wrong].sort((a, b) => a - b)
}

/** Content of the written batches, by table and partition. */
async function readSent({
  postgres,
  schema,
  partitionBlocks,
}: ReconcileOptions): Promise<Map<string, Map<number, Content>>> {
  const result = await postgres.pool.query<{ name: string; partition: number; rows: string; digest: string }>(
    `SELECT t.key AS name, from_block / $1::bigint AS partition, sum((t.value->>'rows')::numeric)::text AS rows,
            sum((t.value->>'digest')::numeric)::text AS digest
     FROM ${quoteIdentifier(schema)}.ch_batches, jsonb_each(tables) t WHERE state = 'written' GROUP BY 1, 2`,
    [partitionBlocks],
  )
  const byTable = new Map<string, Map<number, Content>>()
  for (const { name, partition, rows, digest } of result.rows) {
    const partitions = byTable.get(name) ?? new Map<number, Content>()
    byTable.set(name, partitions.set(partition, { rows: BigInt(rows), digest: BigInt(digest) }))
  }
  return byTable
}

/**
 * Content of a table by partition, without the blocks of batches that are still to be finished. A
 * few partitions at a time: a long chain's table takes longer than one request may.
 */
async function readContent(
  { clickhouse, database, partitionBlocks }: ReconcileOptions,
  name: TableName,
  open: RangeSet,
): Promise<Map<number, Content>> {
  const { blockColumn } = tables[name]
  const held = await selectRows<{ partition: string }>(
    clickhouse,
    `SELECT DISTINCT intDiv(${blockColumn}, ${partitionBlocks}) AS partition FROM ${database}.${name} ORDER BY partition`,
  )
  const found = new Map<number, Content>()
  for (const [first, last] of windowsOf(held.map(({ partition }) => Number(partition)))) {
    const rows = await selectRows<{ partition: string; rows: string; digest: string }>(
      clickhouse,
      `SELECT intDiv(${blockColumn}, ${partitionBlocks}) AS partition, count() AS rows,
              toString(sum(toUInt128(${clickhouseDigestSql(tables[name])}))) AS digest
       FROM ${database}.${name}
       WHERE ${blockColumn} >= ${first * partitionBlocks} AND ${blockColumn} < ${(last + 1) * partitionBlocks}
         AND NOT ${within(name, open)} GROUP BY partition`,
    )
    for (const row of rows)
      found.set(Number(row.partition), { rows: BigInt(row.rows), digest: BigInt(row.digest) })
  }
  return found
}

/** First and last of each few partitions; of ascending ones. */
export function windowsOf(partitions: readonly number[]): readonly (readonly [number, number])[] {
  const windows: [number, number][] = []
  for (let at = 0; at < partitions.length; at += PARTITIONS_AT_ONCE) {
    const window = partitions.slice(at, at + PARTITIONS_AT_ONCE)
    windows.push([window[0] ?? 0, window.at(-1) ?? 0])
  }
  return windows
}

async function deleteRows(
  { clickhouse, database, fence, assertMayWrite }: ReconcileOptions,
  name: TableName,
  condition: string,
): Promise<void> {
  assertMayWrite()
  await deleteFenced(clickhouse, database, name, condition, fence)
}

/** True for rows of the ranges; they are few, because written batches join. */
function within(name: TableName, ranges: RangeSet): string {
  const column = tables[name].blockColumn
  const parts = ranges.map(({ from, to }) => `${column} BETWEEN ${from} AND ${to}`)
  return `(${parts.length > 0 ? parts.join(' OR ') : '0'})`
}
