import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import type { EncodedTable } from '../batch.ts'
import type { RowSink } from '../projection.ts'
import { type StoredRow, type Table, type TableName, tables } from '../tables.ts'
import { type Append, compileAppend } from './compileAppend.ts'
import { nativeStreams } from './native.ts'

/** Rows the streams have room for at first; doubled as needed. */
const ROWS_INITIALLY = 256

/**
 * The size that a buffer may keep between batches. 25 blocks of 40 transactions (5 MB of JSON) need 3.5 MB
 * for the largest tables' tuples and a tenth of that for most streams, so batches of the usual size never
 * allocate.
 */
const KEPT_BYTES_MAX = 16 << 20

/** Collects the rows of one table over the blocks of a batch, in both stores' wire formats. */
export class TableEncoder<Name extends TableName> implements RowSink<Name> {
  readonly table: Table
  readonly #append: Append<StoredRow<Name>>
  readonly #source: ByteBuffer
  readonly #postgres = new ByteBuffer(64 << 10)
  readonly #streams: readonly ByteBuffer[]
  readonly #widths: readonly (number | null)[]
  #rowCapacity = ROWS_INITIALLY
  #rowCount = 0
  #blockRows = 0
  #blockDigest = 0
  readonly #rowCounts: number[] = []
  readonly #digests: number[] = []

  /** `source` holds the values that rows give by their place. */
  constructor(name: Name, source: ByteBuffer = new ByteBuffer(0)) {
    this.#source = source
    this.table = tables[name]
    this.#append = compileAppend<StoredRow<Name>>(this.table)
    this.#widths = nativeStreams(this.table).map(({ width }) => width)
    this.#streams = this.#widths.map((width) => new ByteBuffer(ROWS_INITIALLY * (width ?? 64)))
  }

  /**
   * @throws EncodeError when a value does not fit; the batch cannot be used then, `clear` makes the
   * encoder usable.
   */
  append(row: StoredRow<Name>): void {
    if (this.#rowCount === this.#rowCapacity) this.#growRows()
    this.#blockDigest += this.#append(this.#postgres, this.#streams, this.#rowCount, row, this.#source)
    this.#rowCount++
    this.#blockRows++
  }

  endBlock(): void {
    this.#rowCounts.push(this.#blockRows)
    this.#digests.push(this.#blockDigest)
    this.#blockRows = 0
    this.#blockDigest = 0
  }

  get postgresBytes(): number {
    return this.#postgres.length
  }

  get clickhouseBytes(): number {
    this.#settleLengths()
    return this.#streams.reduce((sum, stream) => sum + stream.length, 0)
  }

  /**
   * Copies what was collected into the arenas, which are transferred; the encoder keeps its own
   * buffers.
   */
  copyTo(postgres: Arena, clickhouse: Arena): EncodedTable {
    this.#settleLengths()
    return {
      rowCount: this.#rowCount,
      postgres: postgres.take(this.#postgres),
      clickhouse: this.#streams.map((stream) => clickhouse.take(stream)),
      blockRowCounts: Uint32Array.from(this.#rowCounts),
      blockDigests: Float64Array.from(this.#digests),
    }
  }

  clear(): void {
    this.#postgres.clear(KEPT_BYTES_MAX)
    for (const stream of this.#streams) stream.clear(KEPT_BYTES_MAX)
    // Streams that gave memory back hold fewer rows; the smallest decides.
    this.#rowCapacity = Math.min(
      this.#rowCapacity,
      ...this.#widths.map((width, i) =>
        width === null ? this.#rowCapacity : Math.floor((this.#streams[i]?.bytes.byteLength ?? 0) / width),
      ),
    )
    this.#rowCount = 0
    this.#blockRows = 0
    this.#blockDigest = 0
    this.#rowCounts.length = 0
    this.#digests.length = 0
  }

  /**
   * The generated code writes fixed-width values by row number, so their lengths follow from the
   * row count.
   */
  #settleLengths(): void {
    this.#streams.forEach((stream, i) => {
      const width = this.#widths[i]
      if (typeof width === 'number') stream.length = this.#rowCount * width
    })
  }

  #growRows(): void {
    this.#settleLengths()
    this.#rowCapacity *= 2
    this.#streams.forEach((stream, i) => {
      const width = this.#widths[i]
      if (typeof width === 'number') stream.reserve((this.#rowCapacity - this.#rowCount) * width)
    })
  }
}

/**
 * One allocation that takes many pieces: a batch crosses threads as a few buffers instead of some
 * hundred.
 */
export class Arena {
  readonly buffer: ArrayBuffer
  #at = 0

  constructor(byteLength: number) {
    this.buffer = new ArrayBuffer(byteLength)
  }

  take(source: ByteBuffer): Uint8Array<ArrayBuffer> {
    const piece = new Uint8Array(this.buffer, this.#at, source.length)
    piece.set(source.bytes.subarray(0, source.length))
    this.#at += source.length
    return piece
  }
}
