/**
 * ClickHouse, the analytics store. It follows what Postgres holds and what is final, so it never takes a row back. A batch
 * is: journal entry, probe, one insert per table with a token of its content, read-back, `written`.
 */
import { Readable } from 'node:stream'
import type { ClickHouseClient } from '@clickhouse/client'
import type { BlockRange } from '#ingest/range.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { nativeBlock } from '#transform/encode/native.ts'
import { analyticsTableNames, type TableName, tables } from '#transform/tables.ts'
import { MillraceError } from '../../errors.ts'
import type { Clock, Failpoint } from '../../runtime.ts'
import { ClickHouseFailure, selectRows } from '../clickhouse/client.ts'
import type { ClickHouseJournal, ExpectedTable, ExpectedTables, JournalEntry } from '../clickhouse/journal.ts'

/** Raised whenever the same block would be encoded to other bytes. */
export const ENCODER_VERSION = 1

/** After this many whole attempts the batch is not unlucky but wrong: a person has to look. */
const ATTEMPTS_MAX = 5

export interface ClickHouseSinkOptions {
  readonly client: ClickHouseClient
  readonly database: string
  /** Part of every token; another one after Postgres was restored from an older copy. */
  readonly ledgerId: () => string
  readonly journal: ClickHouseJournal
  /** Throws when this process may no longer write (lease lost). */
  readonly assertMayWrite: () => void
  readonly clock: Clock
  readonly failpoint: Failpoint
}

export class ClickHouseSink {
  readonly #options: ClickHouseSinkOptions

  constructor(options: ClickHouseSinkOptions) {
    this.#options = options
  }

  /** Writes contiguous batches as one. @throws ClickHouseFailure (retry), BatchUnwritableError */
  async append(batches: readonly EncodedBatch[]): Promise<void> {
    const entry = {
      range: rangeOf(batches),
      encoder: ENCODER_VERSION,
      attempt: 0,
      tables: expectedOf(batches),
    }
    await this.#options.journal.begin(entry)
    this.#options.failpoint('clickhouse.journal')
    await this.#write(entry, batches)
  }

  /** Finishes a batch that was begun before: same bounds, same rows, made anew from the raw archive. */
  async resume(entry: JournalEntry, batches: readonly EncodedBatch[]): Promise<void> {
    if (JSON.stringify(expectedOf(batches)) !== JSON.stringify(sorted(entry.tables)))
      throw new BatchUnwritableError(entry.range, 'the archive gives other rows than the journal recorded')
    await this.#write(entry, batches)
  }

  async #write(begun: JournalEntry, batches: readonly EncodedBatch[]): Promise<void> {
    const { journal, failpoint } = this.#options
    let entry = begun
    const sent = new Set<TableName>()
    for (;;) {
      // Probed on the first try too: an earlier process may have got further than its journal says.
      const missing = await this.#missingTables(entry)
      // Acknowledged and not there: the engine knew the token, of rows that were deleted since, and dropped ours.
      if (missing === 'wrong' || missing.some((name) => sent.has(name))) {
        entry = await this.#startOver(entry)
        sent.clear()
        continue
      }
      if (missing.length === 0) break
      for (const name of missing) {
        await this.#insert(entry, name, batches)
        sent.add(name)
      }
      failpoint('clickhouse.inserted')
    }
    failpoint('clickhouse.readback')
    await journal.written(entry)
    failpoint('clickhouse.written')
  }

  /** Deletes the range and begins another attempt, with tokens the engine has not seen. @throws BatchUnwritableError */
  async #startOver(entry: JournalEntry): Promise<JournalEntry> {
    if (entry.attempt + 1 >= ATTEMPTS_MAX)
      throw new BatchUnwritableError(entry.range, 'it never reads back as sent')
    await this.#deleteRange(entry)
    this.#options.failpoint('clickhouse.deleted')
    return this.#options.journal.retry(entry)
  }

  /** Tables that hold nothing of the range yet; 'wrong' when one holds something else than all of it. */
  async #missingTables(entry: JournalEntry): Promise<TableName[] | 'wrong'> {
    const { client, database } = this.#options
    // Tables that shall have no row are asked too: something else may have left one there.
    const sql = analyticsTableNames.map(
      (
        name,
      ) => `SELECT '${name}' AS name, toString(count()) AS rows, toString(sum(toUInt256(${tables[name].blockColumn}))) AS block_sum
        FROM ${database}.${name} WHERE ${tables[name].blockColumn} BETWEEN ${entry.range.from} AND ${entry.range.to}`,
    )
    const found = await selectRows<{ name: TableName; rows: string; block_sum: string }>(
      client,
      sql.join(' UNION ALL '),
    )
    const missing: TableName[] = []
    for (const { name, rows, block_sum } of found) {
      const expected = entry.tables[name]
      if (rows === '0' && expected) missing.push(name)
      else if (rows !== String(expected?.rows ?? 0) || block_sum !== (expected?.blockSum ?? '0'))
        return 'wrong'
    }
    return missing
  }

  async #insert(entry: JournalEntry, name: TableName, batches: readonly EncodedBatch[]): Promise<void> {
    const { client, database, assertMayWrite } = this.#options
    const token = tokenOf(entry, name, this.#options.ledgerId())
    const rowCount = entry.tables[name]?.rows ?? 0
    assertMayWrite()
    try {
      const { stream } = await client.exec({
        query: `INSERT INTO ${database}.${name} FORMAT Native`,
        values: Readable.from(
          nativeBlock(
            tables[name],
            batches.map((batch) => batch.tables[name]),
          ),
          { objectMode: false },
        ),
        query_id: `${token}#${crypto.randomUUID()}`,
        clickhouse_settings: {
          insert_deduplication_token: token,
          async_insert: 0,
          // One block per insert, in one partition: that is what makes the insert atomic.
          max_partitions_per_insert_block: '1',
          max_insert_block_size: String(Math.max(rowCount, 1)),
          min_insert_block_size_rows: String(Math.max(rowCount, 1)),
          min_insert_block_size_bytes: '0',
        },
      })
      stream.resume()
      await new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject))
    } catch (cause) {
      throw new ClickHouseFailure(cause)
    }
  }

  async #deleteRange(entry: JournalEntry): Promise<void> {
    const { client, database, assertMayWrite } = this.#options
    assertMayWrite()
    await this.#endRunningInserts(entry)
    for (const name of analyticsTableNames)
      await client.command({
        query: `ALTER TABLE ${database}.${name} DELETE WHERE ${tables[name].blockColumn} BETWEEN ${entry.range.from} AND ${entry.range.to}`,
        clickhouse_settings: { mutations_sync: '2' },
      })
  }

  /** An insert of ours that is still running could land after the delete. */
  async #endRunningInserts(entry: JournalEntry): Promise<void> {
    const { client, clock } = this.#options
    const prefixes = expectedNames(entry.tables).map((name) => tokenOf(entry, name, this.#options.ledgerId()))
    const running = `arrayExists(p -> startsWith(query_id, p), {prefixes: Array(String)})`
    for (let poll = 0; poll < KILL_POLLS_MAX; poll++) {
      const parameters = { prefixes }
      const [found] = await selectRows<{ n: string }>(
        client,
        `SELECT count() AS n FROM system.processes WHERE ${running}`,
        parameters,
      )
      if (found?.n === '0') return
      await client.command({ query: `KILL QUERY WHERE ${running} ASYNC`, query_params: parameters })
      await clock.sleep(KILL_POLL_MS)
    }
    throw new BatchUnwritableError(entry.range, 'an earlier insert of it does not end')
  }
}

/** KILL … SYNC is never used: it deadlocks its session in the embedded engine (measured, twice). */
const KILL_POLL_MS = 100
const KILL_POLLS_MAX = 100

/** No lane and no writer in it: whoever sends the same rows sends the same token. */
function tokenOf(entry: JournalEntry, name: TableName, ledgerId: string): string {
  const { range, encoder, attempt, tables: expected } = entry
  return [name, range.from, range.to, expected[name]?.digest, encoder, attempt, ledgerId].join('|')
}

/** What ClickHouse must hold of these batches. Tables without rows are left out. */
export function expectedOf(batches: readonly EncodedBatch[]): ExpectedTables {
  const expected: Partial<Record<TableName, ExpectedTable>> = {}
  for (const name of analyticsTableNames) {
    const sum = { rows: 0, blockSum: 0n, digest: 0n }
    for (const batch of batches) addTable(sum, batch, name)
    if (sum.rows > 0)
      expected[name] = { rows: sum.rows, blockSum: String(sum.blockSum), digest: String(sum.digest) }
  }
  return sorted(expected)
}

function addTable(
  sum: { rows: number; blockSum: bigint; digest: bigint },
  batch: EncodedBatch,
  name: TableName,
): void {
  const { blockRowCounts, blockDigests } = batch.tables[name]
  for (let index = 0; index < blockRowCounts.length; index++) {
    const rows = blockRowCounts[index] ?? 0
    sum.rows += rows
    sum.blockSum += BigInt(batch.range.from + index) * BigInt(rows)
    sum.digest += BigInt(blockDigests[index] ?? 0)
  }
}

/** Postgres gives jsonb keys back in its own order. */
function sorted(expected: ExpectedTables): ExpectedTables {
  return Object.fromEntries(
    expectedNames(expected).map((name) => {
      const { rows, blockSum, digest } = expected[name] ?? { rows: 0, blockSum: '0', digest: '0' }
      return [name, { rows, blockSum, digest }]
    }),
  )
}

const expectedNames = (expected: ExpectedTables): TableName[] =>
  analyticsTableNames.filter((name) => expected[name])

function rangeOf(batches: readonly EncodedBatch[]): BlockRange {
  const [first, last] = [batches[0], batches.at(-1)]
  if (!first || !last) throw new Error('nothing to append')
  return { from: first.range.from, to: last.range.to }
}

/** A batch cannot be brought to hold what it must. Ingest into ClickHouse stops; Postgres and all reads go on. */
export class BatchUnwritableError extends MillraceError {
  override readonly name = 'BatchUnwritableError'
  readonly code = 'batch_unwritable'
  readonly remedy = 'stop'
  readonly range: BlockRange

  constructor(range: BlockRange, reason: string) {
    super(`the batch ${range.from}..${range.to} cannot be written to ClickHouse: ${reason}`)
    this.range = range
  }
}
