/**
 * One chain's tables in ClickHouse, as much of the engine as the sink needs. A port of its own, so
 * that what may go wrong around an insert (lost answers, half-done deletes, dropped repeats) can be
 * simulated without an engine.
 */
import { Readable } from 'node:stream'
import type { BaseQueryParams, ClickHouseClient } from '@clickhouse/client'
import type { BlockRange } from '#ingest/range.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { nativeBlock } from '#transform/encode/native.ts'
import { analyticsTableNames, type TableName, tables } from '#transform/tables.ts'
import { ClickHouseFailure, selectRows } from './client.ts'
import { deleteFenced } from './fence.ts'
import { withRowsFile } from './rowsFile.ts'

/** A table's contents in a range: rows, and the sum of their block numbers, exact as text. */
export interface TableCount {
  readonly rows: string
  readonly blockSum: string
}

export interface AnalyticsTables {
  /**
   * Counts of every table, also of those that hold nothing of the range, in the order of
   * `analyticsTableNames`.
   */
  count(range: BlockRange): Promise<ReadonlyMap<TableName, TableCount>>
  /**
   * All rows of the batches or none. A token the engine has seen before is dropped and
   * acknowledged.
   */
  insert(name: TableName, batches: readonly EncodedBatch[], token: string): Promise<void>
  /** Ends inserts that are still running under such a token. False when they do not end. */
  endInserts(tokens: readonly string[]): Promise<boolean>
  /**
   * Deletes the range from a table, unless a writer with a higher fence has claimed the engine;
   * done when it returns.
   */
  delete(name: TableName, range: BlockRange, fence: bigint): Promise<void>
}

export interface ClickHouseTablesOptions {
  readonly client: ClickHouseClient
  readonly database: string
  readonly clock: Clock
  /**
   * The folder from which the engine reads files of ours, if it is on this machine; else rows go through
   * HTTP.
   */
  readonly rowsFolder: string | null
}

/** KILL … SYNC is never used: it deadlocks its session in the embedded engine (measured, twice). */
const KILL_POLL_MS = 100
const KILL_POLLS_MAX = 100

/** @throws ClickHouseFailure from each of its calls, RowsFileError from `insert` */
export class ClickHouseTables implements AnalyticsTables {
  readonly #client: ClickHouseClient
  readonly #database: string
  readonly #clock: Clock
  readonly #rowsFolder: string | null

  constructor({ client, database, clock, rowsFolder }: ClickHouseTablesOptions) {
    this.#client = client
    this.#database = database
    this.#clock = clock
    this.#rowsFolder = rowsFolder
  }

  async count({ from, to }: BlockRange): Promise<ReadonlyMap<TableName, TableCount>> {
    const sql = analyticsTableNames.map((name) => {
      const column = tables[name].blockColumn
      return `SELECT '${name}' AS name, toString(count()) AS rows, toString(sum(toUInt256(${column}))) AS block_sum
        FROM ${this.#database}.${name} WHERE ${column} BETWEEN ${from} AND ${to}`
    })
    const found = await selectRows<{ name: TableName; rows: string; block_sum: string }>(
      this.#client,
      sql.join(' UNION ALL '),
    )
    // The engine asks them side by side and answers in any order; what is missing is inserted in
    // that of the tables.
    found.sort((a, b) => analyticsTableNames.indexOf(a.name) - analyticsTableNames.indexOf(b.name))
    return new Map(found.map(({ name, rows, block_sum }) => [name, { rows, blockSum: block_sum }]))
  }

  async insert(name: TableName, batches: readonly EncodedBatch[], token: string): Promise<void> {
    const pieces = batches.map((batch) => batch.tables[name])
    const rowCount = pieces.reduce((sum, piece) => sum + piece.rowCount, 0)
    const buffers = nativeBlock(tables[name], pieces)
    const into = `INSERT INTO ${this.#database}.${name}`
    const options = insertOptions(token, rowCount)
    if (this.#rowsFolder === null)
      return this.#execute(`${into} FORMAT Native`, options, Readable.from(buffers, { objectMode: false }))
    await withRowsFile(this.#rowsFolder, buffers, (path) => {
      // Blocks stay in the file's order, so that a retry with the same token cuts the same parts.
      const query = `${into} SELECT * FROM file({path: String}, 'Native') SETTINGS parallelize_output_from_storages = 0`
      return this.#execute(query, { ...options, query_params: { path } })
    })
  }

  /** @throws ClickHouseFailure */
  async #execute(query: string, options: BaseQueryParams, values?: Readable): Promise<void> {
    try {
      const { stream } = await this.#client.exec({ ...options, query, ...(values && { values }) })
      stream.resume()
      await new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject))
    } catch (cause) {
      throw new ClickHouseFailure(cause)
    }
  }

  async endInserts(tokens: readonly string[]): Promise<boolean> {
    const running = `arrayExists(p -> startsWith(query_id, p), {prefixes: Array(String)})`
    const parameters = { prefixes: tokens }
    for (let poll = 0; poll < KILL_POLLS_MAX; poll++) {
      const [found] = await selectRows<{ n: string }>(
        this.#client,
        `SELECT count() AS n FROM system.processes WHERE ${running}`,
        parameters,
      )
      if (found?.n === '0') return true
      await this.#client.command({ query: `KILL QUERY WHERE ${running} ASYNC`, query_params: parameters })
      await this.#clock.sleep(KILL_POLL_MS)
    }
    return false
  }

  async delete(name: TableName, { from, to }: BlockRange, fence: bigint): Promise<void> {
    const condition = `${tables[name].blockColumn} BETWEEN ${from} AND ${to}`
    await deleteFenced(this.#client, this.#database, name, condition, fence)
  }
}

/** One block per insert, in one partition: that is what makes the insert atomic. */
function insertOptions(token: string, rowCount: number): BaseQueryParams {
  const rows = String(Math.max(rowCount, 1))
  return {
    query_id: `${token}#${crypto.randomUUID()}`,
    clickhouse_settings: {
      insert_deduplication_token: token,
      async_insert: 0,
      max_partitions_per_insert_block: '1',
      max_insert_block_size: rows,
      min_insert_block_size_rows: rows,
      min_insert_block_size_bytes: '0',
    },
  }
}
