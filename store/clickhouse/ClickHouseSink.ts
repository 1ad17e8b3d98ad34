/**
 * ClickHouse, the analytics store. It follows what Postgres holds and what is final, so it takes no
 * row back, but of history that nothing proved yet. A batch is: journal entry, probe, one insert
 * per table with a token of its content, read-back, `written`.
 */

import { failure } from '#errors.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { Failpoint } from '#runtime/runtime.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { analyticsTableNames, type TableName } from '#transform/tables.ts'
import type { AnalyticsTables } from './ClickHouseTables.ts'
import { ENCODER_VERSION } from './encoderVersion.ts'
import type { ExpectedTable, ExpectedTables, Journal, JournalEntry } from './journal.ts'

/**
 * After this many whole attempts of one process the batch is not unlucky but wrong: a person has to
 * look, and starts the process again once the engine is in order.
 */
const ATTEMPTS_MAX = 5

export interface ClickHouseSinkOptions {
  readonly tables: AnalyticsTables
  /**
   * Part of every token; another one after Postgres was restored from an older copy, or batches
   * were withdrawn.
   */
  readonly ledgerId: () => string
  readonly journal: Journal
  /** Fencing number of the lease, which deletes carry. */
  readonly fence: bigint
  /** Throws when this process may no longer write (lease lost). */
  readonly assertMayWrite: () => void
  readonly failpoint: Failpoint
}

export class ClickHouseSink {
  readonly #options: ClickHouseSinkOptions

  constructor(options: ClickHouseSinkOptions) {
    this.#options = options
  }

  /**
   * Writes contiguous batches as one. @throws ClickHouseFailure (retry), RowsFileError,
   * BatchUnwritableError
   */
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

  /**
   * Finishes a batch that was begun before: same bounds, same rows, made again from the raw
   * archive.
   */
  async resume(entry: JournalEntry, batches: readonly EncodedBatch[]): Promise<void> {
    if (JSON.stringify(expectedOf(batches)) !== JSON.stringify(sorted(entry.tables)))
      throw new BatchUnwritableError(entry.range, 'the archive gives other rows than the journal recorded')
    await this.#write(entry, batches)
  }

  /**
   * Takes back the batches that hold a block of the range; `abandon` deletes them. None of them is
   * being written.
   */
  async withdraw(range: BlockRange, partitionBlocks: number): Promise<void> {
    await this.#options.journal.withdraw(range, partitionBlocks)
    this.#options.failpoint('clickhouse.withdrawn')
  }

  /**
   * Gives up a batch that was withdrawn or begun by another encoder: what it left is deleted, its
   * blocks are cut again.
   */
  async abandon(entry: JournalEntry): Promise<void> {
    await this.#endInserts(entry)
    await this.#deleteRange(entry)
    this.#options.failpoint('clickhouse.deleted')
    await this.#options.journal.abandon(entry)
  }

  async #write(begun: JournalEntry, batches: readonly EncodedBatch[]): Promise<void> {
    const { journal, failpoint } = this.#options
    let entry = begun
    const sent = new Set<TableName>()
    for (;;) {
      // Probed on the first try too: an earlier process may have got further than its journal says.
      const missing = await this.#missingTables(entry)
      // Acknowledged and not there: the engine knew the token, of rows that were deleted since, and
      // dropped ours.
      if (missing === 'wrong' || missing.some((name) => sent.has(name))) {
        if (entry.attempt + 1 - begun.attempt >= ATTEMPTS_MAX)
          throw new BatchUnwritableError(entry.range, 'it never reads back as sent')
        entry = await this.#startOver(entry, batches)
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

  /** Deletes the range and begins another attempt, with tokens the engine has not seen. */
  async #startOver(entry: JournalEntry, batches: readonly EncodedBatch[]): Promise<JournalEntry> {
    await this.#endInserts(entry)
    // A batch that a writer before us sent may still be on its way and would land beside the next attempt.
    // Under a token the engine has seen it is dropped, so that all of them are used up before the rows are
    // deleted.
    for (const name of expectedNames(entry.tables)) await this.#insert(entry, name, batches)
    await this.#deleteRange(entry)
    this.#options.failpoint('clickhouse.deleted')
    return this.#options.journal.retry(entry)
  }

  /**
   * Tables that hold nothing of the range yet; 'wrong' when one holds something else than all of
   * it.
   */
  async #missingTables(entry: JournalEntry): Promise<TableName[] | 'wrong'> {
    const missing: TableName[] = []
    // Tables that shall have no row are asked too: something else may have left one there.
    for (const [name, { rows, blockSum }] of await this.#options.tables.count(entry.range)) {
      const expected = entry.tables[name]
      if (rows === '0' && expected) missing.push(name)
      else if (rows !== String(expected?.rows ?? 0) || blockSum !== (expected?.blockSum ?? '0'))
        return 'wrong'
    }
    return missing
  }

  async #insert(entry: JournalEntry, name: TableName, batches: readonly EncodedBatch[]): Promise<void> {
    const { tables, assertMayWrite, ledgerId } = this.#options
    assertMayWrite()
    await tables.insert(name, batches, tokenOf(entry, name, ledgerId()))
  }

  /** An insert of ours that is still running could land after a delete. */
  async #endInserts(entry: JournalEntry): Promise<void> {
    const { tables, assertMayWrite, ledgerId } = this.#options
    assertMayWrite()
    const tokens = expectedNames(entry.tables).map((name) => tokenOf(entry, name, ledgerId()))
    if (!(await tables.endInserts(tokens)))
      throw new BatchUnwritableError(entry.range, 'an earlier insert of it does not end')
  }

  async #deleteRange(entry: JournalEntry): Promise<void> {
    const { tables, assertMayWrite, fence } = this.#options
    for (const name of analyticsTableNames) {
      // Each may wait for merges; the lease can run out between two.
      assertMayWrite()
      await tables.delete(name, entry.range, fence)
    }
  }
}

/** No lane and no writer in it: whoever sends the same rows sends the same token. */
function tokenOf(entry: JournalEntry, name: TableName, ledgerId: string): string {
  const { range, encoder, attempt, tables: expected } = entry
  return [name, range.from, range.to, expected[name]?.digest, encoder, attempt, ledgerId].join('|')
}

/** The contents that ClickHouse must have of these batches. Tables without rows are left out. */
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

/**
 * A batch cannot be brought to hold what it must. Ingest into ClickHouse stops; Postgres and all
 * reads go on.
 */
export class BatchUnwritableError extends failure('BatchUnwritableError', 'batch_unwritable', 'stop') {
  readonly range: BlockRange

  constructor(range: BlockRange, reason: string) {
    super(`the batch ${range.from}..${range.to} cannot be written to ClickHouse: ${reason}`)
    this.range = range
  }
}
