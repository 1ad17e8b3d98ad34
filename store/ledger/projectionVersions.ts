/**
 * Which projections of a chain were made by other rules than this program's, or are not made for
 * all blocks held.
 */

import { failure } from '#errors.ts'
import { difference, type RangeSet, union } from '#ingest/range.ts'
import { projectionVersions } from '#transform/projectionVersions.ts'
import { type ProjectionName, projectionNames } from '#transform/tables.ts'
import { quoteIdentifier } from '../sql.ts'
import { type Queryable, readCoverages, type StoreName } from './lane.ts'

/** A projection whose rows have to be made again. */
export interface OutdatedProjection {
  readonly name: ProjectionName
  /** Blocks held whose rows are not of this program's version. */
  readonly missing: RangeSet
}

/**
 * Reads what is outdated in Postgres, of whose rows ClickHouse's are made. Empty for a chain that
 * holds nothing yet.
 */
export async function readOutdated(client: Queryable, schema: string): Promise<OutdatedProjection[]> {
  const coverages = await readCoverages(client, schema, 'postgres')
  const held = coverages
    .filter(({ projection }) => projection === 'base')
    .reduce<RangeSet>((all, { blocks }) => union(all, blocks), [])
  if (coverages.length === 0) return []
  return projectionNames.flatMap((name) => {
    const version = projectionVersions[name]
    const ofName = coverages.filter(({ projection }) => projection === name)
    const current = ofName.find((coverage) => coverage.version === version)
    const missing = difference(held, current?.blocks ?? [])
    return missing.length > 0 || ofName.some((coverage) => coverage.version !== version)
      ? [{ name, missing }]
      : []
  })
}

/** @throws ProjectionOutdatedError */
export async function assertProjectionsCurrent(client: Queryable, schema: string): Promise<void> {
  const outdated = await readOutdated(client, schema)
  if (outdated.length > 0) throw new ProjectionOutdatedError(schema, outdated)
}

/** Lets every projection have a coverage of this program's version, empty where it has none. */
export async function insertCoverages(client: Queryable, schema: string): Promise<void> {
  const stores: readonly StoreName[] = ['postgres', 'clickhouse']
  for (const store of stores)
    for (const projection of projectionNames)
      await client.query(
        `INSERT INTO ${quoteIdentifier(schema)}.coverage (store, projection, version) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
        [store, projection, projectionVersions[projection]],
      )
}

/**
 * Rows held were made by other rules than this program's; adding to them would mix the two. Nothing
 * was changed.
 */
export class ProjectionOutdatedError extends failure(
  'ProjectionOutdatedError',
  'projection_outdated',
  'stop',
) {
  readonly projections: readonly ProjectionName[]

  constructor(schema: string, outdated: readonly OutdatedProjection[]) {
    const names = outdated.map(({ name }) => name)
    super(
      `DATABASE_URL: the rows of ${names.join(', ')} in ${schema} were made by another version of this program; run \`millrace rederive\` to have them made anew from the raw archive`,
    )
    this.projections = names
  }
}
