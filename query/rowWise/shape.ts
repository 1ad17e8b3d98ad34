/** The part of a query that decides whether new rows alone continue its answer; the same for both engines. */

/** In lower case; `source` is the name before the dot. */
export interface ColumnTerm {
  readonly kind: 'column'
  readonly source: string | null
  readonly name: string
}

/** An expression as far as it matters. `place` counts the items of the list from 1. */
export type Term =
  | ColumnTerm
  | { readonly kind: 'place'; readonly place: number }
  | { readonly kind: 'star' }
  | { readonly kind: 'other' }

export interface LevelItem {
  readonly alias: string | null
  readonly term: Term
}

/** One SELECT, at any depth. */
export interface SelectLevel {
  readonly isTop: boolean
  readonly items: readonly LevelItem[]
  /** An aggregate without OVER stands in it. */
  readonly hasAggregate: boolean
  /** Keys that every group has; null without GROUP BY. */
  readonly groupBy: readonly Term[] | null
  /** The terms that DISTINCT compares; null without it. */
  readonly distinct: readonly Term[] | null
  readonly orderBy: readonly Term[]
  /** By which its columns are named. */
  readonly sources: readonly string[]
  /** Columns that its WHERE wants to be equal, whatever else it wants. */
  readonly equal: readonly (readonly [ColumnTerm, ColumnTerm])[]
}

export interface Shape {
  /** LIMIT, OFFSET, WITH FILL, or a set without repeated rows stands anywhere. */
  readonly chooses: boolean
  /** UNION ALL: columns get their names from another SELECT. */
  readonly unites: boolean
  readonly levels: readonly SelectLevel[]
  /** The terms that each window is partitioned by. */
  readonly windows: readonly (readonly Term[])[]
  /** Tables in FROM that no CTE of the query is. */
  readonly relations: readonly string[]
  /** Names given to columns otherwise than in a list: `AS t(a, b)`. */
  readonly renamed: readonly string[]
}

export const other: Term = { kind: 'other' }
export const star: Term = { kind: 'star' }
