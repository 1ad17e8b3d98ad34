// Goal: the live schemas of both engines are what transform/tables.ts says, and the views what
// query/relations/views.ts says.
// Method: migrate empty databases, read the catalogs back, compare names, types and nullability.
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { relationsOf } from '#query/relations/views.ts'
import { replaceClickHouseViews, replacePostgresViews } from '#query/setup/replaceViews.ts'
import { postgresLeases } from '#rows/leases.ts'
import { openClickHouse, selectRows } from '#store/clickhouse/client.ts'
import { databaseOf, expandTemplate } from '#store/clickhouse/template.ts'
import { chainLease } from '#store/ledger/chainLease.ts'
import { postgresDoc } from '#store/maintain/comments.ts'
import {
  ChainWrittenError,
  MigrationNewerError,
  migrateApp,
  migrateChain,
  migrateClickHouse,
} from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf, viewSchemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { clickhouseType } from '#transform/encode/native.ts'
import { analyticsTableNames, type ColumnType, tableNames, tables } from '#transform/tables.ts'
import { type FreshDatabase, freshDatabase } from '../../support/engines.ts'
import { namedHolder } from '../../support/namedHolder.ts'

const postgresTypes: Readonly<Record<ColumnType, string>> = {
  uint8: 'smallint',
  int8: 'smallint',
  uint32: 'integer',
  uint53: 'bigint',
  uint64: 'bigint',
  bool: 'boolean',
  seconds: 'timestamp with time zone',
  address: 'bytea',
  hash: 'bytea',
  bytes: 'bytea',
  text: 'text',
  uint256: 'numeric',
}

let access: FreshDatabase
let postgres: Postgres
let clickhouse: ReturnType<typeof openClickHouse>

beforeAll(async () => {
  access = await freshDatabase()
  postgres = openPostgres({ url: access.databaseUrl, applicationName: 'test', log: silentLogger })
  clickhouse = openClickHouse({
    url: access.clickhouseUrl,
    username: access.clickhouseUsername,
    password: access.clickhousePassword,
  })
  await migrateApp(postgres)
  await migrateChain(postgres, access.chainId, { leases: postgresLeases(postgres) })
  await migrateClickHouse(clickhouse, access.chainId, { cluster: null })
})
afterAll(async () => {
  await clickhouse.close()
  await postgres.close()
  await access.drop()
})

describe('the schema', () => {
  test('Postgres has the columns of tables.ts, in order', async () => {
    for (const name of tableNames) {
      const { rows } = await postgres.pool.query(
        `SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable,
           col_description(format('%I.%I', table_schema, table_name)::regclass, ordinal_position::int) AS doc
         FROM information_schema.columns
         WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position`,
        [schemaOf(access.chainId), name],
      )
      const declared = tables[name].columns.map(({ isAdded: _, ...column }) => ({
        ...column,
        doc: postgresDoc(column),
        type: postgresTypes[column.type],
        // A view's columns are not declared to be there.
        nullable: column.nullable || tables[name].stores === 'clickhouse',
      }))
      expect(rows, name).toEqual(declared)
    }
  })

  test('ClickHouse has the columns of tables.ts, in order', async () => {
    for (const name of analyticsTableNames) {
      const rows = await selectRows<{ name: string; type: string; comment: string }>(
        clickhouse,
        'SELECT name, type, comment FROM system.columns WHERE database = {database: String} AND table = {name: String} ORDER BY position',
        { database: databaseOf(access.chainId), name },
      )
      const declared = tables[name].columns.map((column) => ({
        name: column.name,
        type: clickhouseType(column),
        comment: column.doc,
      }))
      expect(rows, name).toEqual(declared)
    }
  })

  test('migrating again changes nothing', async () => {
    const applied = () =>
      postgres.pool.query('SELECT * FROM app.migrations ORDER BY scope, number').then((r) => r.rows)
    const before = await applied()
    await migrateApp(postgres)
    await migrateChain(postgres, access.chainId, { leases: postgresLeases(postgres) })
    await migrateClickHouse(clickhouse, access.chainId, { cluster: null })
    expect(await applied()).toEqual(before)
  })

  test('a database of before gives up the rows that views tell now, those of unattached history too', async () => {
    const earlier = 'earlier'
    const folder = new URL('../../../sql/postgres/chain/', import.meta.url)
    const files = readdirSync(folder).sort()
    const step = files.findIndex((name) => name.startsWith('0025_'))
    const run = (name: string | undefined) =>
      postgres.pool.query(readFileSync(new URL(`${name}`, folder), 'utf8').replaceAll('{schema}', earlier))
    await postgres.pool.query(`CREATE SCHEMA ${earlier}`)
    for (const name of files.slice(0, step)) await run(name)
    await postgres.pool.query(`
      CREATE TABLE ${earlier}.holder_deltas_from_0 PARTITION OF ${earlier}.holder_deltas FOR VALUES FROM (0) TO (16384);
      CREATE TABLE ${earlier}.holder_deltas_from_16384 (LIKE ${earlier}.holder_deltas);
      CREATE TABLE ${earlier}.address_txs_from_16384 (LIKE ${earlier}.address_txs)`)
    await run(files[step])
    const { rows } = await postgres.pool.query(
      `SELECT relname AS name, relkind AS kind FROM pg_class
       WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'v') AND relname ~ 'holder_deltas|address_txs' ORDER BY 1`,
      [earlier],
    )
    expect(rows).toEqual([
      { name: 'address_txs', kind: 'v' },
      { name: 'holder_deltas', kind: 'v' },
    ])
  })

  test('a schema is not changed beside a program that writes it as it was', async () => {
    const last = await postgres.pool.query(
      `DELETE FROM app.migrations WHERE (scope, number) = (SELECT scope, max(number) FROM app.migrations WHERE scope = $1 GROUP BY scope)
       RETURNING *`,
      [schemaOf(access.chainId)],
    )
    const leases = postgresLeases(postgres)
    const lease = await leases.acquire(chainLease(access.chainId), 'older', 600_000)
    if (!lease.granted) throw new Error('the lease was not free')
    await expect(
      migrateChain(postgres, access.chainId, {
        leases: postgresLeases(postgres),
        holder: namedHolder('newer'),
      }),
    ).rejects.toThrow(ChainWrittenError)
    await leases.release(chainLease(access.chainId), lease.fence)
    const { scope, number, name, checksum } = last.rows[0]
    await postgres.pool.query(
      'INSERT INTO app.migrations (scope, number, name, checksum) VALUES ($1, $2, $3, $4)',
      [scope, number, name, checksum],
    )
    await migrateChain(postgres, access.chainId, {
      leases: postgresLeases(postgres),
      holder: namedHolder('newer'),
    })
  })
})

describe('views of the schema', () => {
  test('a start leaves views alone that another process reads, and makes those that are missing', async () => {
    const schema = viewSchemaOf(access.chainId)
    const oids = async () => {
      const { rows } = await postgres.pool.query(
        'SELECT oid FROM pg_class WHERE relnamespace = $1::regnamespace ORDER BY oid',
        [schema],
      )
      return rows
    }
    await replacePostgresViews(postgres, access.chainId)
    const before = await oids()
    await postgres.transaction(async (reader) => {
      await reader.query(`SELECT * FROM ${schema}.blocks`)
      await replacePostgresViews(postgres, access.chainId)
    })
    expect(await oids()).toEqual(before)
    await postgres.pool.query(`DROP VIEW ${schema}.blocks CASCADE`)
    await replacePostgresViews(postgres, access.chainId)
    await postgres.pool.query(`SELECT * FROM ${schema}.blocks`)
    await postgres.pool.query(`COMMENT ON SCHEMA ${schema} IS 'of another version'`)
    const dropped = await oids()
    await replacePostgresViews(postgres, access.chainId)
    expect(await oids()).not.toEqual(dropped)
  })

  test('views of another version are replaced beside a query that reads them, which reads on', async () => {
    const schema = viewSchemaOf(access.chainId)
    await replacePostgresViews(postgres, access.chainId)
    await postgres.pool.query(`COMMENT ON SCHEMA ${schema} IS 'of another version'`)
    await postgres.pool.query(`CREATE VIEW ${schema}.dropped_since AS SELECT 1 AS one`)
    const schemas = async () => {
      const { rows } = await postgres.pool.query<{ name: string }>(
        'SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, $1) ORDER BY 1',
        [schema],
      )
      return rows.map(({ name }) => name)
    }
    await postgres.transaction(async (reader) => {
      await reader.query(
        `DECLARE going CURSOR FOR SELECT one FROM ${schema}.dropped_since, generate_series(1, 3)`,
      )
      await reader.query('FETCH 1 FROM going')
      await replacePostgresViews(postgres, access.chainId)
      expect((await reader.query('FETCH 2 FROM going')).rowCount).toBe(2)
      await expect(postgres.pool.query(`SELECT * FROM ${schema}.dropped_since`)).rejects.toThrow(
        /does not exist/,
      )
      await postgres.pool.query(`SELECT * FROM ${schema}.blocks`)
      expect(await schemas()).toEqual([schema, expect.stringContaining(`${schema}_replaced_`)])
    })
    await replacePostgresViews(postgres, access.chainId)
    expect(await schemas()).toEqual([schema])
  })

  test('a start makes those views of ClickHouse that are not what they should be, and no others', async () => {
    const security = 'DEFINER = default SQL SECURITY DEFINER'
    const made = () =>
      selectRows<{ name: string; uuid: string }>(
        clickhouse,
        'SELECT name, toString(uuid) AS uuid FROM system.tables WHERE database = {database: String} ORDER BY name',
        { database: `chain_${access.chainId}_sql` },
      )
    await replaceClickHouseViews(clickhouse, access.chainId, security)
    const before = await made()
    await replaceClickHouseViews(clickhouse, access.chainId, security)
    expect(await made()).toEqual(before)
    await clickhouse.command({
      query: `CREATE OR REPLACE VIEW chain_${access.chainId}_sql.blocks AS SELECT 1 AS of_another_version`,
    })
    await replaceClickHouseViews(clickhouse, access.chainId, security)
    const after = await made()
    expect(after.filter(({ uuid }) => !before.some((view) => view.uuid === uuid))).toMatchObject([
      { name: 'blocks' },
    ])
  })

  test('every view answers on both engines, and the reader sees its columns', async () => {
    await replacePostgresViews(postgres, access.chainId)
    await replacePostgresViews(postgres, access.chainId)
    await replaceClickHouseViews(clickhouse, access.chainId, 'DEFINER = default SQL SECURITY DEFINER')
    const reader = openClickHouse({
      url: access.clickhouseUrl,
      username: access.readerUsername,
      password: access.readerPassword,
    })
    for (const relation of relationsOf('postgres')) {
      const { fields } = await postgres.pool.query(
        `SELECT * FROM ${viewSchemaOf(access.chainId)}.${relation.name}`,
      )
      expect(
        fields.map((field) => field.name),
        relation.name,
      ).toEqual(relation.columns.map((column) => column.name))
    }
    for (const relation of relationsOf('clickhouse')) {
      // Computed by the gate from the views, and not there to be read directly.
      if (relation.derive) continue
      const result = await reader.query({
        query: `SELECT * FROM chain_${access.chainId}_sql.${relation.name}`,
        format: 'JSONCompactEachRowWithNames',
      })
      const [names] = await result.json()
      expect(names, relation.name).toEqual(relation.columns.map((column) => column.name))
    }
    await reader.close()
  })
})

describe('the schema of a newer program', () => {
  test('a database migrated by a newer program is refused before anything is changed', async () => {
    await postgres.pool.query(
      "INSERT INTO app.migrations (scope, number, name, checksum) VALUES ('app', 900, 'future', 'x')",
    )
    await expect(migrateApp(postgres)).rejects.toThrow(MigrationNewerError)
    await postgres.pool.query('DELETE FROM app.migrations WHERE number = 900')
  })
})

test('a cluster gets replicated engines with a path of its own and the long deduplication window', () => {
  const sql = expandTemplate(
    'CREATE TABLE {database}.t {on_cluster} ENGINE = {engine:ReplacingMergeTree(v)} SETTINGS {dedup_window}',
    'chain_1',
    {
      cluster: 'main',
    },
  )
  expect(sql).toBe(
    "CREATE TABLE `chain_1`.t ON CLUSTER `main` ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{uuid}', '{replica}', v) SETTINGS replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800",
  )
})

test('one server keeps parts without rows, for their tokens go with them', () => {
  const sql = expandTemplate('SETTINGS {dedup_window}', 'chain_1', { cluster: null })
  expect(sql).toBe('SETTINGS non_replicated_deduplication_window = 10000, remove_empty_parts = 0')
})
