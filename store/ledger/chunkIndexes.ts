/** The indexes of a chunk's detached tables, built once its rows are there. */
import type pg from 'pg'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import { ledgerTableNames, type TableName, tables } from '#transform/tables.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, relationOf } from '../sql.ts'
import { keyColumns, partitionName } from './partitions.ts'

/**
 * Indexes built at the same time, each on a connection of its own, also of one table. Building is
 * nearly all CPU, and the server's own parallel workers are started again for every index, which
 * small ones do not repay. Two chunks may be at it, and the lanes need connections too.
 */
const BUILT_AT_ONCE = 2

/** Building indexes takes longer than any statement of a live lane may. */
const STATEMENT_TIMEOUT = '1h'
/** Sorts a few hundred thousand keys without the disk; held twice a chunk. */
const SORT_MEMORY = '128MB'
/**
 * Sets the rows ANALYZE looks at, 300 times as many. The server's default of 100 cost as much as a
 * fifth of all indexes, and its sample of 30,000 is most of a small chunk; selectivity of addresses
 * and hashes, of which nearly all are rare, is known from this.
 */
const STATISTICS_TARGET = 25

/**
 * Builds on a chunk's tables every index their parents have; ATTACH then adopts them instead of
 * building its own. Each index is a transaction, so that what was built before a failure is not
 * built again. `assertMayWrite` is asked before each: a writer that was replaced meanwhile may
 * finish the one it is at, for which its successor waits.
 */
export async function indexDetached(
  postgres: Postgres,
  schema: string,
  fromBlock: number,
  assertMayWrite: () => Promise<void>,
): Promise<void> {
  // A chunk may be gone when its writer is no longer the writer.
  await assertMayWrite()
  const children = await postgres.transaction((client) => largestFirst(client, schema, fromBlock))
  const missing = await postgres.transaction((client) => missingIndexes(client, schema, children))
  await buildAll(postgres, schema, missing, assertMayWrite)
  // Statistics of indexed expressions need the indexes, and ANALYZE would wait for those of its
  // table.
  await buildAll(postgres, schema, children.map(completion), assertMayWrite)
}

/**
 * Lets some blocks of a chunk be found without a look at all of its rows. Rows lie in the order of
 * their blocks, so this is one pass over them and takes next to no space.
 */
export function indexBlocks(
  postgres: Postgres,
  schema: string,
  fromBlock: number,
  assertMayWrite: () => Promise<void>,
): Promise<void> {
  const builds = ledgerTableNames.map((name) => {
    const partition = partitionName(name, fromBlock)
    const on = `${relationOf(schema, partition)} USING brin (${tables[name].blockColumn}) WITH (pages_per_range = 16)`
    return creation('INDEX', `${partition}_blocks`, on)
  })
  return buildAll(postgres, schema, builds, assertMayWrite)
}

/**
 * A piece of work. Two writers do not do one of a name at the same time, and the second finds it
 * done.
 */
interface Build {
  readonly name: string
  readonly run: (client: pg.PoolClient) => Promise<unknown>
}

/** A table of the chunk. */
interface Child {
  readonly name: TableName
  readonly relation: string
  readonly partition: string
  /** Index of the primary key. */
  readonly key: string
}

/**
 * The longest work begins first, or the last index would be built while the other connection has
 * nothing to do.
 */
async function largestFirst(client: pg.PoolClient, schema: string, fromBlock: number): Promise<Child[]> {
  const children = ledgerTableNames.map((name) => {
    const partition = partitionName(name, fromBlock)
    return { name, partition, key: `${partition}_pkey`, relation: relationOf(schema, partition) }
  })
  const { rows } = await client.query<{ place: number }>(
    `SELECT place::int - 1 AS place FROM unnest($1::text[]) WITH ORDINALITY AS t (relation, place)
     ORDER BY pg_table_size(relation::regclass) DESC`,
    [children.map(({ relation }) => relation)],
  )
  return rows.flatMap(({ place }) => children[place] ?? [])
}

/** Builds what is not there yet, table by table. */
async function missingIndexes(
  client: pg.PoolClient,
  schema: string,
  children: readonly Child[],
): Promise<Build[]> {
  const builds: Build[] = []
  for (const child of children) {
    const { name, partition, key, relation } = child
    if (!(await hasPrimaryKey(client, child)))
      builds.push(creation('UNIQUE INDEX', key, `${relation} (${keyColumns(name)})`))
    const missing = await client.query<{ of: string; shape: string; repeats: boolean }>(missingShapesSql, [
      relationOf(schema, name),
      relation,
    ])
    // Names of their own: two builds at a time would be given the same.
    for (const { of, shape, repeats } of missing.rows) {
      const on = `${relation} ${repeats ? shape : withoutRepeats(shape)}`
      builds.push(creation('INDEX', `${partition}_index_${of}`, on))
    }
  }
  return builds
}

const creation = (kind: string, name: string, on: string): Build => ({
  name,
  run: (client) => client.query(`CREATE ${kind} IF NOT EXISTS ${quoteIdentifier(name)} ON ${on}`),
})

async function hasPrimaryKey(client: pg.PoolClient, { relation }: Child): Promise<boolean> {
  const found = await client.query('SELECT FROM pg_index WHERE indrelid = $1::regclass AND indisprimary', [
    relation,
  ])
  return found.rowCount === 1
}

/**
 * An index's shape is its definition from USING on: what it indexes, without names and storage.
 * `of` is the parent's index. In one that holds the primary key too no two entries are equal, so it
 * does not repeat.
 */
const missingShapesSql = `
  WITH shapes AS (
    SELECT indrelid, indexrelid, indkey::int2[] AS columns,
      regexp_replace(substring(pg_get_indexdef(indexrelid) FROM 'USING .*$'), ' WITH \\([^)]*\\)', '') AS shape
    FROM pg_index WHERE indrelid IN ($1::regclass, $2::regclass) AND NOT indisunique),
  key AS (SELECT indkey::int2[] AS columns FROM pg_index WHERE indrelid = $1::regclass AND indisprimary)
  SELECT indexrelid::text AS of, shape, NOT shapes.columns @> key.columns AS repeats FROM shapes, key
  WHERE indrelid = $1::regclass AND shape NOT IN (SELECT shape FROM shapes WHERE indrelid = $2::regclass)
  ORDER BY indexrelid`

/** Spares the search for equal entries, 1 to 17 % of what such an index costs. */
const withoutRepeats = (shape: string): string =>
  shape.replace(/(?= WHERE |$)/, ' WITH (deduplicate_items = off)')

/**
 * Makes the key's index the primary key, which takes a moment, and tells the planner what the table
 * holds.
 */
const completion = (child: Child): Build => ({
  name: child.partition,
  run: async (client) => {
    if (!(await hasPrimaryKey(client, child)))
      await client.query(
        `ALTER TABLE ${child.relation} ADD PRIMARY KEY USING INDEX ${quoteIdentifier(child.key)}`,
      )
    await client.query(`ANALYZE ${child.relation}`)
  },
})

/**
 * Does all of it, some at a time. @throws the first failure, once nothing is under way; nothing
 * more is begun then
 */
async function buildAll(
  postgres: Postgres,
  schema: string,
  builds: readonly Build[],
  assertMayWrite: () => Promise<void>,
): Promise<void> {
  await mapAtMost(BUILT_AT_ONCE, builds, async (build) => {
    await assertMayWrite()
    await buildOne(postgres, schema, build)
  })
}

/**
 * Its commit is not waited for: a crash may undo it, and the index is built again. Attaching
 * flushes the log, and with it every commit before, so a chunk is never attached without its
 * indexes.
 */
function buildOne(postgres: Postgres, schema: string, { name, run }: Build): Promise<void> {
  return postgres.transaction(async (client) => {
    await client.query(`
      SET LOCAL statement_timeout = '${STATEMENT_TIMEOUT}';
      SET LOCAL maintenance_work_mem = '${SORT_MEMORY}';
      SET LOCAL max_parallel_maintenance_workers = 0;
      SET LOCAL default_statistics_target = ${STATISTICS_TARGET};
      SET LOCAL synchronous_commit = off`)
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${schema}.${name}`])
    await run(client)
  })
}
