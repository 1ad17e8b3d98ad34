/**
 * The names that a user query may use. Table references in users' SQL are resolved against a catalog of
 * relations and compiled to sub-selects of exactly the columns listed here; nothing outside the catalog can
 * be reached. Tables decoded by signature join the same catalog.
 */

import { intersection, type RangeSet } from '#ingest/range.ts'
import type { DecodedTable } from '../decoded/decodedTable.ts'
import type { RelationColumn } from '../logicalType.ts'

export interface Relation {
  /** Lowercase; what the user writes in FROM, in any case. */
  readonly name: string
  /**
   * Height of a row's block; coverage bounds apply to it. Null where a row is made of many blocks.
   */
  readonly blockColumn: string | null
  readonly columns: readonly RelationColumn[]
  /** Computed from other relations instead of read from a view. */
  readonly derive?: DerivedSql
}

/**
 * A SELECT over other relations, trusted; `rowsOf` gives a relation's visible rows as a sub-select.
 */
export type DerivedSql = (rowsOf: (relation: string) => string) => string

/** The source of rows: a view, the view that a decoded table reads, or a SELECT of the program's own. */
export type RelationSource =
  | { readonly kind: 'view'; readonly schema: string; readonly name: string }
  | { readonly kind: 'decoded'; readonly schema: string; readonly table: DecodedTable }
  /** The bounds apply to the relations it is made of. ClickHouse only. */
  | { readonly kind: 'derived'; readonly sql: DerivedSql }

export interface BoundRelation extends Relation {
  readonly source: RelationSource
  /** Only rows of these blocks exist for the query; absent means all. An empty set means none. */
  readonly ranges?: RangeSet
}

/** Relations by lowercase name. */
export type Catalog = ReadonlyMap<string, BoundRelation>

/** The catalog of a chain, with the tables of a query's signatures. */
export type CatalogOf = (chainId: number, signatures: readonly string[]) => Catalog | Promise<Catalog>

/** Builds a catalog. @throws TypeError on a repeated name or one that is not lowercase. */
export function buildCatalog(relations: Iterable<BoundRelation>): Catalog {
  const catalog = new Map<string, BoundRelation>()
  for (const relation of relations) {
    if (relation.name !== relation.name.toLowerCase())
      throw new TypeError(`relation ${relation.name} is not lowercase`)
    if (catalog.has(relation.name)) throw new TypeError(`relation ${relation.name} is declared twice`)
    catalog.set(relation.name, relation)
  }
  return catalog
}

/**
 * Binds each relation to the view of the same name in `schema`, within the covered `ranges` where
 * given.
 */
export function bindViews(
  relations: Iterable<Relation>,
  schema: string,
  ranges?: (relation: Relation) => RangeSet | undefined,
): Catalog {
  const bound: BoundRelation[] = []
  for (const relation of relations) {
    const covered = ranges?.(relation)
    const source: RelationSource = relation.derive
      ? { kind: 'derived', sql: relation.derive }
      : { kind: 'view', schema, name: relation.name }
    bound.push(covered ? { ...relation, source, ranges: covered } : { ...relation, source })
  }
  return buildCatalog(bound)
}

/**
 * The same relations with rows of these blocks only; a live query reads one block at a time this
 * way.
 */
export function restrictCatalog(catalog: Catalog, blocks: RangeSet | undefined): Catalog {
  if (!blocks) return catalog
  const restricted = [...catalog.values()].map((relation) => ({
    ...relation,
    ranges: relation.ranges ? intersection(relation.ranges, blocks) : blocks,
  }))
  return buildCatalog(restricted)
}
