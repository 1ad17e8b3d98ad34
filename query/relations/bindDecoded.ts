/**
 * Adds tables decoded by signature to a catalog: they read the views it already has, within the
 * same blocks.
 */

import { blockColumnOf, columnsOf, type DecodedTable } from '../decoded/decodedTable.ts'
import { invalidSignature } from '../decoded/signature.ts'
import { type BoundRelation, buildCatalog, type Catalog } from './catalog.ts'

/**
 * @throws UserQueryError `signature_invalid` when a name is taken, by a table or by another
 * signature
 */
export function bindDecoded(catalog: Catalog, tables: readonly DecodedTable[]): Catalog {
  const bound = new Map(catalog)
  for (const table of withOneSpelling(catalog, tables)) {
    if (bound.has(table.name)) {
      const text = table.signature.canonical
      throw invalidSignature(
        text,
        `there is a table ${table.name} already`,
        'give it a name: … as other_name',
      )
    }
    bound.set(table.name, bind(catalog, table))
  }
  return buildCatalog(bound.values())
}

/**
 * Columns are found in any case, so that one name has one spelling in a query: that of who came
 * first.
 */
function withOneSpelling(catalog: Catalog, tables: readonly DecodedTable[]): DecodedTable[] {
  const names = [...catalog.values()].flatMap(({ columns }) => columns.map(({ name }) => name))
  const spellings = new Map(names.map((name) => [name.toLowerCase(), name]))
  const spelled = (name: string): string => {
    const spelling = spellings.get(name.toLowerCase()) ?? name
    spellings.set(name.toLowerCase(), spelling)
    return spelling
  }
  return tables.map((table) => ({
    ...table,
    parameters: table.parameters.map((parameter) => ({ ...parameter, name: spelled(parameter.name) })),
  }))
}

function bind(catalog: Catalog, table: DecodedTable): BoundRelation {
  const view = table.signature.kind === 'event' ? 'logs' : 'txs'
  const base = catalog.get(view)
  if (base?.source.kind !== 'view') throw new TypeError(`the catalog has no view ${view} to decode`)
  const relation = {
    name: table.name,
    blockColumn: blockColumnOf(table),
    columns: columnsOf(table),
    source: { kind: 'decoded', schema: base.source.schema, table },
  } as const
  return base.ranges ? { ...relation, ranges: base.ranges } : relation
}
