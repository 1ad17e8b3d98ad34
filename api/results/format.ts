/** The forms of a result: one encoder per result, fed with the head, the rows as they come, and the end. */
import type { ResultEnd, ResultHead, RowBatch } from '#query/result.ts'

/** The encoder's data beside the rows. */
export interface WrittenHead extends ResultHead {
  /** Newest run of blocks the query saw whole. */
  readonly horizon: { readonly from: number; readonly to: number }
}

export interface WrittenEnd extends ResultEnd {
  /**
   * `sha256:` and 64 hex digits over names, types and rows: equal results have equal digests, on
   * both engines.
   */
  readonly digest: string
}

export interface ResultEncoder {
  head(): Uint8Array
  rows(batch: RowBatch): Uint8Array
  end(end: WrittenEnd): Uint8Array
}

export interface ResultFormat {
  readonly name: FormatName
  readonly contentType: string
  /** Media types of an Accept header that mean it. */
  readonly mediaTypes: readonly string[]
  /** The writers of columnar files are heavy, so a format is loaded when it is first asked for. */
  readonly load: () => Promise<(head: WrittenHead) => ResultEncoder>
}

export const formatNames = ['json', 'ndjson', 'csv', 'arrow', 'parquet'] as const
export type FormatName = (typeof formatNames)[number]
