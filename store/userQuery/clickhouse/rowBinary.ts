/**
 * Reads ClickHouse's RowBinaryWithNamesAndTypes into the value table of result.ts. Binary, because JSON would carry bytes
 * as broken text and needs a setting for every wide type.
 * Format: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */

import type { ResultRow, ResultType } from '../result.ts'
import { AnswerEndedError, ByteCursor } from './ByteCursor.ts'
import { type ColumnReader, columnReader } from './columnReader.ts'
import type { ValueType } from './valueType.ts'

/** Decodes an answer that comes in pieces, cut anywhere. */
export class RowBinaryDecoder {
  readonly #inferred: readonly ValueType[]
  #readers: readonly ColumnReader[] | undefined
  /** The beginning of a row whose end has not come. */
  #rest: Buffer = Buffer.alloc(0)

  constructor(inferred: readonly ValueType[]) {
    this.#inferred = inferred
  }

  /** Known as soon as the head of the answer has come. */
  get columnTypes(): readonly ResultType[] | undefined {
    return this.#readers?.map(({ type }) => type)
  }

  /**
   * The rows that are complete with this piece.
   * @throws UserQueryError when a type has no place in the value table or a value is too large
   */
  push(bytes: Buffer): ResultRow[] {
    const cursor = new ByteCursor(this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes)
    const rows: ResultRow[] = []
    try {
      this.#readers ??= this.#readHead(cursor)
      while (!cursor.isAtEnd) {
        rows.push(this.#readers.map((reader) => reader.read(cursor)))
        cursor.commit()
      }
    } catch (error) {
      if (!(error instanceof AnswerEndedError)) throw error
    }
    this.#rest = cursor.rest()
    return rows
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
