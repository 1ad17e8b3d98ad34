/** Catalogs of the views a chain has, for tests of the gates. */

import type { RangeSet } from '#ingest/range.ts'
import type { Engine } from '#primitives.ts'
import { bindViews, type Catalog } from '#query/relations/catalog.ts'
import { relationsOf } from '#query/relations/views.ts'

export function catalogOf(engine: Engine, schema: string, ranges?: RangeSet): Catalog {
  return bindViews(relationsOf(engine), schema, ranges ? () => ranges : undefined)
}
