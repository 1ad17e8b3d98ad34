/**
 * Many values as few parameters: an array for each column, so that a statement's text is the same
 * however many rows it is given.
 */
import { type AliasedRawBuilder, type RawBuilder, sql } from 'kysely'
import type { PostgresType } from './table.ts'

/** By name: the type of the column, and its value in each row. */
type Arrays = Readonly<Record<string, readonly [type: PostgresType, values: readonly unknown[]]>>

type RowOf<Of extends Arrays, Place extends string> = {
  readonly [Name in keyof Of]: Of[Name][1][number]
} & Readonly<Record<Place, number>>

/** The rows as a table of that name; `place`, where it is named, is a column that counts them from 1. */
export function unnested<Name extends string, const Of extends Arrays, Place extends string = never>(
  name: Name,
  columns: Of,
  place?: Place,
): AliasedRawBuilder<RowOf<Of, Place>, Name> {
  const arrays = Object.values(columns).map(([type, values]) => sql`${values}::${sql.raw(type)}[]`)
  const names = [...Object.keys(columns), ...(place === undefined ? [] : [place])].map((column) =>
    sql.ref(column),
  )
  const ordinality = sql.raw(place === undefined ? '' : ' WITH ORDINALITY')
  return sql<RowOf<Of, Place>>`unnest(${sql.join(arrays)})${ordinality}`.as<Name>(
    sql`${sql.ref(name)}(${sql.join(names)})`,
  )
}

/** Any of the values, as the right side of an equation. */
export const anyOf = <Value extends string | number>(
  type: PostgresType,
  values: readonly Value[],
): RawBuilder<Value> => sql<Value>`any(${values}::${sql.raw(type)}[])`
