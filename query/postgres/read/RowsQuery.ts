/**
 * One statement on the extended protocol whose rows are written as JSON while they come, and taken
 * in batches.
 */

import pg from 'pg'
import { JsonRows } from '../../JsonRows.ts'
import { VALUE_BYTES_MAX } from '../../limits.ts'
import type { RowBatch } from '../../result.ts'
import { UserQueryError } from '../../UserQueryError.ts'
import type { RowSink, RowTap } from './RowTap.ts'
import { type ColumnReader, columnReader } from './values.ts'

export interface ResultColumn extends ColumnReader {
  readonly name: string
}

/**
 * More is not read from the server until it was taken; it bounds what a slow reader of a long
 * answer holds.
 */
const HELD_BYTES_MAX = 1024 * 1024

/** The driver calls the methods named `handle…`, as it does its own statements'. */
export class RowsQuery extends pg.Query implements RowSink {
  readonly #tap: RowTap
  readonly #limit: number
  readonly #rows = new JsonRows()
  #columns: readonly ResultColumn[] | undefined
  #count = 0
  #isPaused = false
  #isEnded = false
  #failure: unknown
  #wake: () => void = () => {}

  /** @param limit rows that are shown; others are counted */
  constructor(tap: RowTap, { sql, values }: { sql: string; values: readonly number[] }, limit: number) {
    // The driver's types do not know the mode, in which one message holds one statement.
    const config: pg.QueryConfig & { readonly queryMode: 'extended' } = {
      ...{ text: sql, values: [...values] },
      queryMode: 'extended',
    }
    super(config)
    this.#tap = tap
    this.#limit = limit
  }

  /** Rows that came, those beyond the limit too. */
  get count(): number {
    return this.#count
  }

  /**
   * None of a statement that gives no rows.
   * @throws what the server said, or UserQueryError for a column whose type cannot be shown
   */
  async columns(): Promise<readonly ResultColumn[]> {
    while (!this.#columns && !this.#isEnded) await this.#next()
    return this.#columns ?? []
  }

  /** The rows that came since the last call; null at the end. @throws like `columns` */
  async take(): Promise<RowBatch | null> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      const batch = this.#rows.take()
      if (this.#isPaused) this.#tap.resume()
      this.#isPaused = false
      if (batch || this.#isEnded) return batch
      await this.#next()
    }
  }

  async #next(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    await promise
    if (this.#failure !== undefined) throw this.#failure
  }

  takeRow(source: Buffer, start: number): void {
    this.#count++
    if (this.#count > this.#limit || this.#failure !== undefined) return
    try {
      this.#write(source, start)
    } catch (error) {
      this.#failure = error
    }
    this.#wake()
    if (this.#rows.length <= HELD_BYTES_MAX) return
    this.#isPaused = true
    this.#tap.pause()
  }

  #write(source: Buffer, start: number): void {
    let at = start + 2
    this.#rows.beginRow()
    for (const column of this.#columns ?? []) {
      const length = source.readInt32BE(at)
      at += 4
      if (length < 0) this.#rows.null()
      else {
        if (length > VALUE_BYTES_MAX) throw tooLarge()
        column.write(this.#rows, source, at, at + length)
        at += length
      }
    }
    this.#rows.endRow()
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    try {
      this.#columns = fields.map(({ name, dataTypeID }) => ({ name, ...columnReader(name, dataTypeID) }))
    } catch (error) {
      this.#failure = error
    }
    this.#tap.sink = this
    this.#wake()
  }

  handleCommandComplete(): void {
    this.#tap.sink = undefined
  }

  handleReadyForQuery(): void {
    this.#isEnded = true
    this.#wake()
  }

  handleError(error: unknown): void {
    this.#tap.sink = undefined
    this.#failure ??= error
    this.#wake()
  }
}

const tooLarge = (): UserQueryError =>
  new UserQueryError('sql_failed', `a value is larger than ${VALUE_BYTES_MAX} bytes`)
