/**
 * Names in any case. Postgres lowers a name that is not quoted, so a column `orderId` could only be
 * named in quotes. The gate gives such a name, wherever the query uses or makes it, the one
 * spelling it has in the catalog.
 */

import type { Catalog } from '../relations.ts'
import type { Walk } from './walk.ts'

/** Columns whose names have capitals, by their lowercase names. */
export function spellingsOf(catalog: Catalog): Map<string, string> {
  const names = [...catalog.values()].flatMap(({ columns }) => columns.map(({ name }) => name))
  return new Map(
    names.filter((name) => name !== name.toLowerCase()).map((name) => [name.toLowerCase(), name]),
  )
}

export const spelledColumn = (name: string, { spellings }: Walk): string =>
  spellings.get(name.toLowerCase()) ?? name

/**
 * A table of the catalog is called by its lowercase name: `"Transfer"."from"` and `transfer."from"`
 * are one.
 */
export const spelledSource = (name: string, { catalog }: Walk): string =>
  catalog.has(name.toLowerCase()) ? name.toLowerCase() : name
