/**
 * Relations that are computed from other relations when they are read: as exact and as fresh as
 * what they are made of.
 */
import type { LogicalType } from '../logicalType.ts'
import type { DerivedSql, Relation } from './catalog.ts'

export interface DerivedRelation extends Relation {
  readonly comment: string
  readonly columns: readonly DescribedColumn[]
  /** A SELECT in ClickHouse's words. */
  readonly derive: DerivedSql
}

export interface DescribedColumn {
  readonly name: string
  readonly type: LogicalType
  readonly comment: string
}

/** `name: [type, comment]`, in order. */
export const described = (
  columns: Readonly<Record<string, readonly [LogicalType, string]>>,
): readonly DescribedColumn[] =>
  Object.entries(columns).map(([name, [type, comment]]) => ({ name, type, comment }))
