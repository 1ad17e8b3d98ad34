/** How a column's values leave the API, on both engines (see result.ts). */
export type LogicalType =
  | 'int'
  | 'bigint'
  | 'numeric'
  | 'bytes'
  | 'text'
  | 'bool'
  | 'timestamp'
  | 'json'
  | 'float'
  | 'date'

export interface RelationColumn {
  readonly name: string
  readonly type: LogicalType
  /** Bytes of every value, where all have as many. */
  readonly width?: number
  /** An `int` alone: stored in 16 bits, whose sums and products PostgreSQL keeps within 16. */
  readonly isSmall?: true
}
