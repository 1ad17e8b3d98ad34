/**
 * Reads ClickHouse's RowBinaryWithNamesAndTypes into the value table of result.ts. Binary, because
 * JSON would carry bytes as broken text and needs a setting for every wide type. Format:
 * https://clickhouse.com/docs/interfaces/formats/RowBinary
 */

import { JsonRows } from '../../JsonRows.ts'
import type { ResultType, RowBatch } from '../../result.ts'
import type { ValueType } from '../compile/valueType.ts'
import { AnswerEndedError, ByteCursor } from './ByteCursor.ts'
import { type ColumnReader, columnReader } from './columnReader.ts'

/** Decodes an answer that comes in pieces, cut anywhere. */
export class RowBinaryDecoder {
  readonly #inferred: readonly ValueType[]
  readonly #limit: number
  readonly #rows = new JsonRows()
  #count = 0
  #readers: readonly ColumnReader[] | undefined
  /** The beginning of a row whose end has not come. */
  #rest: Buffer = Buffer.alloc(0)

  /** @param limit rows that are written; others are counted */
  constructor(inferred: readonly ValueType[], limit: number) {
    this.#inferred = inferred
    this.#limit = limit
  }

  /** Rows that came, those beyond the limit too. */
  get count(): number {
    return this.#count
  }

  /** Known as soon as the head of the answer has come. */
  get columnTypes(): readonly ResultType[] | undefined {
    return this.#readers?.map(({ type }) => type)
  }

  /**
   * The rows that are complete with this piece; null when none is.
   * @throws UserQueryError when a type has no place in the value table or a value is too large
   */
  push(bytes: Buffer): RowBatch | null {
    const cursor = new ByteCursor(this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes)
    try {
      this.#readers ??= this.#readHead(cursor)
      while (!cursor.isAtEnd) {
        this.#rows.beginRow()
        for (const reader of this.#readers) reader.write(this.#rows, cursor)
        if (this.#count < this.#limit) this.#rows.endRow()
        this.#count++
        cursor.commit()
      }
    } catch (error) {
      if (!(error instanceof AnswerEndedError)) throw error
    }
    this.#rest = cursor.rest()
    return this.#rows.take()
  }

  /** @throws UserQueryError when the answer ended within a row */
  assertEnd(): void {
    if (this.#rest.length > 0 || !this.#readers) throw new AnswerEndedError()
  }

  #readHead(cursor: ByteCursor): ColumnReader[] {
    const count = cursor.varint()
    const names = Array.from({ length: count }, () => cursor.text())
    const readers = names.map((name, index) => columnReader(name, cursor.text(), this.#inferred[index]))
    cursor.commit()
    return readers
  }
}
