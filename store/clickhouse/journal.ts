/**
 * The journal of batches sent to ClickHouse, in Postgres. A batch's bounds and digests are
 * committed here before a byte is sent; the next writer finishes an open one as it stands and never
 * cuts it again. A deduplication token alone is not exactly-once (measured: a retry cut differently
 * gave 17,000 of 10,000 rows).
 */

import { failure } from '#errors.ts'
import { type BlockRange, formatMultirange, normalize, type RangeSet } from '#ingest/range.ts'
import type { TableName } from '#transform/tables.ts'
import { assertFence, extendCoverage, type Queryable, reduceCoverage } from '../ledger/lane.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier } from '../sql.ts'
import { WITHDRAWN } from './encoderVersion.ts'

/**
 * The contents that one table should have of a batch. `digest` is a sum of CRC32 (digest.ts), exact as
 * text.
 */
export interface ExpectedTable {
  readonly rows: number
  /**
   * Sum of the block numbers of the rows: with `rows` it tells a missing or doubled block at the
   * price of a count.
   */
  readonly blockSum: string
  readonly digest: string
}

export type ExpectedTables = Readonly<Partial<Record<TableName, ExpectedTable>>>

export interface JournalEntry {
  readonly range: BlockRange
  /**
   * Version of the encoder that made the rows; another one would make other bytes for the same
   * token.
   */
  readonly encoder: number
  /** Grows only after the range was deleted. */
  readonly attempt: number
  readonly tables: ExpectedTables
}

interface BlockBounds {
  from_block: number
  to_block: number
}

interface JournalRow extends BlockBounds {
  encoder: number
  attempt: number
  tables: ExpectedTables
}

/** Batches begun and done, as the sink and the lane use them. */
export interface Journal {
  /** Batches begun and not known to be complete, ascending. */
  open(): Promise<JournalEntry[]>
  /** Records a batch before it is sent; refuses a range that overlaps another. */
  begin(entry: JournalEntry): Promise<void>
  /**
   * Starts another attempt, after the range was deleted: its token must differ, or the engine would
   * drop the rows.
   */
  retry(entry: JournalEntry): Promise<JournalEntry>
  /** The batch is in ClickHouse, read back: it counts as covered in the same transaction. */
  written(entry: JournalEntry): Promise<void>
  /** Gives up a batch whose rows were deleted: its blocks are cut again. */
  abandon(entry: JournalEntry): Promise<void>
  /** Whether a batch that holds a block of the range was begun. */
  holds(range: BlockRange): Promise<boolean>
  /**
   * Takes back what holds a block of the range, whole batches: no longer covered, and open for
   * `abandon` alone. None of them is being written.
   */
  withdraw(range: BlockRange, partitionBlocks: number): Promise<void>
}

export class ClickHouseJournal implements Journal {
  readonly #postgres: Postgres
  readonly #schema: string
  readonly #fence: bigint

  /** `fence` is the writing lease's: a process that lost it changes nothing here. */
  constructor(postgres: Postgres, schema: string, fence: bigint) {
    this.#postgres = postgres
    this.#schema = schema
    this.#fence = fence
  }

  async open(): Promise<JournalEntry[]> {
    const result = await this.#postgres.pool.query<JournalRow>(
      `SELECT from_block, to_block, encoder, attempt, tables FROM ${this.#table} WHERE state = 'open' ORDER BY from_block`,
    )
    return result.rows.map(entryOf)
  }

  /** The table's exclusion constraint refuses an overlap. */
  async begin(entry: JournalEntry): Promise<void> {
    await this.#change(async (client) => {
      await client.query(
        `INSERT INTO ${this.#table} (from_block, to_block, encoder, attempt, state, tables) VALUES ($1, $2, $3, $4, 'open', $5)`,
        [entry.range.from, entry.range.to, entry.encoder, entry.attempt, JSON.stringify(entry.tables)],
      )
    })
  }

  async retry(entry: JournalEntry): Promise<JournalEntry> {
    const next = { ...entry, attempt: entry.attempt + 1 }
    await this.#change(async (client) => {
      const updated = await client.query(
        `UPDATE ${this.#table} SET attempt = $1 WHERE from_block = $2 AND to_block = $3 AND state = 'open'`,
        [next.attempt, entry.range.from, entry.range.to],
      )
      if (updated.rowCount !== 1) throw new JournalEntryGoneError(entry.range)
    })
    return next
  }

  async written(entry: JournalEntry): Promise<void> {
    await this.#change(async (client) => {
      const updated = await client.query(
        `UPDATE ${this.#table} SET state = 'written' WHERE from_block = $1 AND to_block = $2 AND state = 'open'`,
        [entry.range.from, entry.range.to],
      )
      if (updated.rowCount !== 1) throw new JournalEntryGoneError(entry.range)
      await extendCoverage(client, this.#schema, 'clickhouse', entry.range)
    })
  }

  async abandon({ range }: JournalEntry): Promise<void> {
    await this.#change(async (client) => {
      await client.query(
        `DELETE FROM ${this.#table} WHERE from_block = $1 AND to_block = $2 AND state = 'open'`,
        [range.from, range.to],
      )
    })
  }

  async holds({ from, to }: BlockRange): Promise<boolean> {
    const found = await this.#postgres.pool.query(
      `SELECT 1 FROM ${this.#table} WHERE from_block <= $2 AND to_block >= $1 LIMIT 1`,
      [from, to],
    )
    return found.rowCount === 1
  }

  async withdraw({ from, to }: BlockRange, partitionBlocks: number): Promise<void> {
    await this.#change(async (client) => {
      const withdrawn = await client.query<BlockBounds>(
        `UPDATE ${this.#table} SET state = 'open', encoder = $3 WHERE from_block <= $2 AND to_block >= $1
         RETURNING from_block, to_block`,
        [from, to, WITHDRAWN],
      )
      await uncover(client, this.#schema, normalize(withdrawn.rows.map(rangeOf)), partitionBlocks)
      await client.query(`UPDATE ${quoteIdentifier(this.#schema)}.lanes SET withdrawals = withdrawals + 1`)
    })
  }

  /**
   * Makes one entry of all batches of a sealed partition, with their sums, so that the journal is
   * as long as the chain has partitions and not as it had batches. Does nothing while one of them
   * is open.
   */
  async merge(range: BlockRange): Promise<void> {
    await this.#change((client) => mergeEntries(client, this.#table, range))
  }

  /** Sum of the batches of a range, per table: what a sealed partition must hold. */
  async expected(range: BlockRange): Promise<ReadonlyMap<string, { rows: bigint; digest: bigint }>> {
    const result = await this.#postgres.pool.query<{ name: string; rows: string; digest: string }>(
      `SELECT t.key AS name, sum((t.value->>'rows')::numeric)::text AS rows, sum((t.value->>'digest')::numeric)::text AS digest
       FROM ${this.#table}, jsonb_each(tables) t
       WHERE from_block >= $1 AND to_block <= $2 AND state = 'written' GROUP BY t.key`,
      [range.from, range.to],
    )
    return new Map(
      result.rows.map((row) => [row.name, { rows: BigInt(row.rows), digest: BigInt(row.digest) }]),
    )
  }

  #change(work: (client: Queryable) => Promise<void>): Promise<void> {
    return this.#postgres.transaction(async (client) => {
      // The next send must find its entry after a crash of Postgres itself, whatever the session's default
      // is.
      await client.query('SET LOCAL synchronous_commit = on')
      await assertFence(client, this.#schema, this.#fence)
      await work(client)
    })
  }

  get #table(): string {
    return `${quoteIdentifier(this.#schema)}.ch_batches`
  }
}

async function mergeEntries(client: Queryable, table: string, { from, to }: BlockRange): Promise<void> {
  const inside = 'from_block >= $1 AND to_block <= $2'
  const merged = await client.query(
    `WITH sums AS (
       SELECT t.key, sum((t.value->>'rows')::bigint) AS rows, sum((t.value->>'blockSum')::numeric) AS block_sum,
              sum((t.value->>'digest')::numeric) AS digest
       FROM ${table}, jsonb_each(tables) t WHERE ${inside} GROUP BY t.key),
     gone AS (
       DELETE FROM ${table} WHERE ${inside}
         AND NOT EXISTS (SELECT 1 FROM ${table} WHERE ${inside} AND state = 'open')
       RETURNING from_block, to_block, encoder, attempt)
     SELECT min(from_block) AS from_block, max(to_block) AS to_block, min(encoder) AS encoder, max(attempt) AS attempt,
            (SELECT jsonb_object_agg(key, jsonb_build_object('rows', rows, 'blockSum', block_sum::text, 'digest', digest::text)) FROM sums) AS tables
     FROM gone HAVING count(*) > 0`,
    [from, to],
  )
  const row = merged.rows[0]
  if (!row) return
  await client.query(
    `INSERT INTO ${table} (from_block, to_block, encoder, attempt, state, tables) VALUES ($1, $2, $3, $4, 'written', $5)`,
    [row.from_block, row.to_block, row.encoder, row.attempt, JSON.stringify(row.tables ?? {})],
  )
}

/**
 * Forgets the batches that hold a block of `ranges`, whole, with the seals of their partitions:
 * their rows are deleted when the engine is next compared with the journal, and made again from the
 * archive.
 */
export async function forgetBatches(
  client: Queryable,
  schema: string,
  ranges: RangeSet,
  partitionBlocks: number,
): Promise<void> {
  const quoted = quoteIdentifier(schema)
  const forgotten = await client.query<BlockBounds>(
    `DELETE FROM ${quoted}.ch_batches WHERE int8range(from_block, to_block, '[]') && $1::int8multirange
     RETURNING from_block, to_block`,
    [formatMultirange(ranges)],
  )
  await uncover(client, schema, normalize([...ranges, ...forgotten.rows.map(rangeOf)]), partitionBlocks)
}

/**
 * ClickHouse holds these blocks no more: neither they nor the partitions they are in count as
 * complete.
 */
async function uncover(
  client: Queryable,
  schema: string,
  blocks: RangeSet,
  partitionBlocks: number,
): Promise<void> {
  await client.query(
    `DELETE FROM ${quoteIdentifier(schema)}.seals
     WHERE int8range(partition * $2::bigint, (partition + 1) * $2::bigint) && $1::int8multirange`,
    [formatMultirange(blocks), partitionBlocks],
  )
  for (const range of blocks) await reduceCoverage(client, schema, 'clickhouse', range)
}

/** Forgets all that ClickHouse held: it was wiped, and is rebuilt from the raw archive. */
export async function forgetClickHouse(client: Queryable, schema: string): Promise<void> {
  const quoted = quoteIdentifier(schema)
  await client.query(`DELETE FROM ${quoted}.ch_batches`)
  await client.query(`DELETE FROM ${quoted}.seals`)
  await client.query(`UPDATE ${quoted}.coverage SET blocks = '{}' WHERE store = 'clickhouse'`)
}

const rangeOf = ({ from_block, to_block }: BlockBounds): BlockRange => ({ from: from_block, to: to_block })

const entryOf = (row: JournalRow): JournalEntry => ({
  range: rangeOf(row),
  encoder: row.encoder,
  attempt: row.attempt,
  tables: row.tables,
})

/**
 * The journal was changed under the writer's hands: ClickHouse was taken for wiped meanwhile. Begin
 * again from the journal.
 */
export class JournalEntryGoneError extends failure('JournalEntryGoneError', 'journal_entry_gone', 'retry') {
  constructor(range: BlockRange) {
    super(`the journal no longer holds the batch ${range.from}..${range.to} as open`)
  }
}
