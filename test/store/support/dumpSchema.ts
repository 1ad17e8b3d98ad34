/**
 * A database's contents, as SQL in one order: what `pg_dump --schema-only` would say, without a tool that
 * must fit the server.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import { selectRows } from '#store/clickhouse/client.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import type { Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'

interface TableRow {
  readonly name: string
  readonly kind: 'r' | 'p' | 'v'
  readonly partitioned: string | null
  readonly view: string | null
  readonly options: string | null
  readonly columns: readonly string[]
  readonly constraints: readonly string[]
  readonly indexes: readonly string[]
  readonly comments: readonly { readonly column: string | null; readonly text: string }[]
}

/**
 * Everything a migration can make in a schema, but the partitions, which the program makes itself.
 */
const tablesSql = `
  SELECT c.relname AS name, c.relkind AS kind, pg_get_partkeydef(c.oid) AS partitioned, array_to_string(c.reloptions, ', ') AS options,
    CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid, true) END AS view,
    ARRAY(SELECT concat_ws(' ', quote_ident(attname), format_type(atttypid, atttypmod),
        CASE WHEN attidentity <> '' THEN 'GENERATED AS IDENTITY' WHEN attgenerated <> '' THEN 'GENERATED ALWAYS AS ' || pg_get_expr(adbin, adrelid) || ' STORED'
          WHEN adbin IS NOT NULL THEN 'DEFAULT ' || pg_get_expr(adbin, adrelid) END,
        CASE WHEN attnotnull THEN 'NOT NULL' END,
        CASE WHEN attstorage <> typstorage THEN 'STORAGE ' || attstorage::text END,
        CASE WHEN attcompression <> '' THEN 'COMPRESSION ' || attcompression::text END)
      FROM pg_attribute JOIN pg_type t ON t.oid = atttypid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum) AS columns,
    ARRAY(SELECT format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
      WHERE conrelid = c.oid AND contype <> 'n' ORDER BY conname) AS constraints,
    ARRAY(SELECT pg_get_indexdef(indexrelid) FROM pg_index i WHERE indrelid = c.oid
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid) ORDER BY indexrelid::regclass::text) AS indexes,
    coalesce((SELECT json_agg(json_build_object('column', attname, 'text', description) ORDER BY objsubid)
      FROM pg_description LEFT JOIN pg_attribute ON attrelid = objoid AND attnum = objsubid AND attnum > 0
      WHERE classoid = 'pg_class'::regclass AND objoid = c.oid), '[]') AS comments
  FROM pg_class c WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition
  ORDER BY relname COLLATE "C"`

const othersSql = `
  SELECT definition FROM (
    SELECT 1 AS kind, proname AS name, pg_get_functiondef(oid) AS definition FROM pg_proc WHERE pronamespace = $1::regnamespace AND prokind <> 'a'
    UNION ALL SELECT 2, tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
      WHERE relnamespace = $1::regnamespace AND NOT tgisinternal
    UNION ALL SELECT 0, typname, format('CREATE TYPE %s AS ENUM (%s)', t.oid::regtype,
        (SELECT string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid))
      FROM pg_type t WHERE typnamespace = $1::regnamespace AND typtype = 'e'
    UNION ALL SELECT 0, relname, format('CREATE SEQUENCE %s', oid::regclass) FROM pg_class
      WHERE relnamespace = $1::regnamespace AND relkind = 'S'
  ) made ORDER BY kind, name COLLATE "C"`

export async function dumpPostgres(postgres: Postgres, schema: string): Promise<string> {
  const others = await postgres.pool.query<{ definition: string }>(othersSql, [schema])
  const { rows } = await postgres.pool.query<TableRow>(tablesSql, [schema])
  const parts = [
    ...others.rows.map(({ definition }) => `${definition};`),
    ...rows.map((row) => written(row, schema)),
  ]
  return `${heading}${parts.join('\n\n')}\n`
}

/** A chain's schema under the name `chain`, so that every chain's is the same. */
export const dumpChain = async (postgres: Postgres, chainId: number): Promise<string> =>
  (await dumpPostgres(postgres, schemaOf(chainId))).replaceAll(schemaOf(chainId), 'chain')

export async function dumpClickHouse(clickhouse: ClickHouseClient, chainId: number): Promise<string> {
  const database = databaseOf(chainId)
  const rows = await selectRows<{ sql: string }>(
    clickhouse,
    'SELECT formatQuery(create_table_query) AS sql FROM system.tables WHERE database = {database: String} ORDER BY name',
    { database },
  )
  return `${heading}${rows.map(({ sql }) => `${sql.replaceAll(database, 'chain')};`).join('\n\n')}\n`
}

const heading =
  '-- Made by `npm run schema` from what the migrations make; a test compares it. Not run by anything.\n\n'

function written(row: TableRow, schema: string): string {
  const name = `${schema}.${row.name}`
  const lines = row.kind === 'v' ? viewOf(name, row) : tableOf(name, row)
  const comments = row.comments.map(({ column, text }) =>
    column === null
      ? `COMMENT ON ${row.kind === 'v' ? 'VIEW' : 'TABLE'} ${name} IS ${quoted(text)};`
      : `COMMENT ON COLUMN ${name}.${column} IS ${quoted(text)};`,
  )
  return [...lines, ...row.indexes.map((index) => `${index};`), ...comments].join('\n')
}

const viewOf = (name: string, { view }: TableRow): string[] => [`CREATE VIEW ${name} AS`, `${view}`]

function tableOf(name: string, { columns, constraints, partitioned, options }: TableRow): string[] {
  const members = [...columns, ...constraints].map((member) => `  ${member}`).join(',\n')
  const tail = [partitioned && `PARTITION BY ${partitioned}`, options && `WITH (${options})`].filter(Boolean)
  return [`CREATE TABLE ${name} (`, members, `${[')', ...tail].join(' ')};`]
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
