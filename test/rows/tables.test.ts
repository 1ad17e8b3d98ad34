// Goal: the types of the service's own rows are those of the live schema `app`.
// Method: migrate an empty database, read the catalog back.
import { expect, test } from 'vitest'
import { appTables } from '#rows/tables.ts'
import { openAppStore } from '../support/appStore.ts'

const { postgres } = await openAppStore()

test('tables.ts names every table of the schema and every column, with its type', async () => {
  const { rows } = await postgres.pool.query<
    Record<'name' | 'column' | 'type', string> & { nullable: boolean; filled: boolean }
  >(`
    SELECT 'app.' || c.relname AS name, attname AS column, format_type(atttypid, NULL) AS type,
           NOT attnotnull AS nullable, atthasdef OR attidentity <> '' OR NOT attnotnull AS filled
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
    WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
      AND c.relname <> 'migrations' AND NOT relispartition
    ORDER BY 1, attnum`)
  const live: Record<string, Record<string, object>> = {}
  for (const { name, column, type, nullable, filled } of rows)
    live[name] = { ...live[name], [column]: { type: shortNames[type] ?? type, nullable, filled } }
  expect(live).toEqual(appTables)
})

const shortNames: Readonly<Record<string, string>> = { 'timestamp with time zone': 'timestamptz' }
