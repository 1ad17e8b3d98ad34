// Goal: a reader sees what the migrations make without running them, with a text on every table and
// column of a chain's rows; and texts that changed come to databases that are there already.
// Method: migrate empty databases, dump both engines' catalogs, compare with the files of
// `sql/schema`.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commentOf, type View, type ViewColumn, views } from '#query/relations/views.ts'
import { postgresLeases } from '#rows/leases.ts'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { migrateApp, migrateChain, migrateClickHouse } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { tableNames, tables } from '#transform/tables.ts'
import { type FreshDatabase, freshDatabase } from '../../support/engines.ts'
import { dumpChain, dumpClickHouse, dumpPostgres } from '../support/dumpSchema.ts'

let access: FreshDatabase
let postgres: Postgres
let clickhouse: ReturnType<typeof openClickHouse>
const file = (name: string) => `../../../sql/schema/${name}.sql`
const migrate = async () => {
  await migrateApp(postgres)
  await migrateChain(postgres, access.chainId, { leases: postgresLeases(postgres) })
  await migrateClickHouse(clickhouse, access.chainId, { cluster: null })
}

beforeAll(async () => {
  access = await freshDatabase()
  const {
    databaseUrl: url,
    clickhouseUrl,
    clickhouseUsername: username,
    clickhousePassword: password,
  } = access
  postgres = openPostgres({ url, applicationName: 'test', log: silentLogger })
  clickhouse = openClickHouse({ url: clickhouseUrl, username, password })
  await migrate()
})
afterAll(async () => {
  await clickhouse.close()
  await postgres.close()
  await access.drop()
})

test('sql/schema is what the migrations make; `npm run schema` writes it', async () => {
  await expect(await dumpPostgres(postgres, 'app')).toMatchFileSnapshot(file('postgres-app'))
  await expect(await dumpChain(postgres, access.chainId)).toMatchFileSnapshot(file('postgres-chain'))
  await expect(await dumpClickHouse(clickhouse, access.chainId)).toMatchFileSnapshot(file('clickhouse-chain'))
})

test('every table and column says what it holds, without a character that SQL would need escaped', () => {
  for (const name of tableNames)
    for (const text of [tables[name].doc, ...tables[name].columns.map(({ doc }) => doc)])
      expect(text, name).toMatch(/^[^'\\]+$/)
})

test('every column that may be null says when it is, in the tables and in the views of analysts', () => {
  const silent = tableNames.flatMap((name) =>
    tables[name].columns.filter(({ nullable, doc }) => nullable && !/\bnull\b/.test(doc)),
  )
  expect(silent).toEqual([])
  const mayBeNull = ({ table }: View, { source }: ViewColumn) =>
    typeof source !== 'string' || tables[table].columns.find(({ name }) => name === source)?.nullable
  const viewed = views.flatMap((view) =>
    view.columns.flatMap((column) => (mayBeNull(view, column) ? [commentOf(view, column)] : [])),
  )
  const words = ['`in` or `out`', '`from` or `to`']
  expect(viewed.filter((text) => !/\bnull\b/.test(text) && !words.includes(text))).toEqual([])
})

test('a start writes the texts that differ, and only those', async () => {
  const before = [await dumpChain(postgres, access.chainId), await dumpClickHouse(clickhouse, access.chainId)]
  await postgres.pool.query(
    `COMMENT ON COLUMN ${schemaOf(access.chainId)}.logs.data IS 'of an older program'`,
  )
  const table = `${databaseOf(access.chainId)}.logs`
  await clickhouse.command({ query: `ALTER TABLE ${table} COMMENT COLUMN data 'of an older program'` })
  await migrate()
  const written = () =>
    postgres.pool
      .query('SELECT max(xmin::text::bigint) AS last FROM pg_description WHERE objoid = $1::regclass', [
        `${schemaOf(access.chainId)}.logs`,
      ])
      .then(({ rows }) => rows[0].last)
  const last = await written()
  await migrate()
  expect(await written()).toBe(last)
  expect([
    await dumpChain(postgres, access.chainId),
    await dumpClickHouse(clickhouse, access.chainId),
  ]).toEqual(before)
})
