/**
 * Tables and columns say in both engines what they hold: their comments are those of
 * `transform/tables.ts`. Written where they differ, so that a start that finds them as they are
 * takes no lock and changes nothing.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import { analyticsTableNames, type Column, type TableName, tableNames, tables } from '#transform/tables.ts'
import { selectRows } from '../clickhouse/client.ts'
import { type ClickHouseTopology, databaseOf, expandTemplate } from '../clickhouse/template.ts'
import { quoteIdentifier } from '../sql.ts'

/** A comment as it stands: of a column, or of the whole table where the column is empty. */
interface Comment {
  readonly table: string
  readonly column: string
  readonly text: string
}

/** For the one who migrates, within its transaction. */
export async function commentPostgres(client: pg.ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<Comment & { readonly kind: string }>(
    `SELECT relname AS table, relkind AS kind, coalesce(attname, '') AS column, coalesce(description, '') AS text
     FROM pg_class c
     JOIN LATERAL (SELECT 0 AS attnum, NULL::name AS attname
       UNION ALL SELECT attnum, attname FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) a ON true
     LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = a.attnum
     WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'v')`,
    [quoteIdentifier(schema)],
  )
  const kinds = new Map(rows.map(({ table, kind }) => [table, kind === 'v' ? 'VIEW' : 'TABLE']))
  const statements = missing(tableNames, rows, postgresDoc).map(({ table, column, text }) => {
    const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`
    const object = column === '' ? `${kinds.get(table)} ${name}` : `COLUMN ${name}.${quoteIdentifier(column)}`
    return `COMMENT ON ${object} IS ${literal(text)}`
  })
  if (statements.length > 0) await client.query(statements.join(';'))
}

/** A column's text, and how Postgres keeps what it has no type for. */
export const postgresDoc = ({ type, doc }: Pick<Column, 'type' | 'doc'>): string =>
  type === 'uint64' ? `${doc}; where it is below zero add 2^64` : doc

export async function commentClickHouse(
  clickhouse: ClickHouseClient,
  chainId: number,
  topology: ClickHouseTopology,
): Promise<void> {
  const database = databaseOf(chainId)
  const held = await selectRows<Comment>(
    clickhouse,
    `SELECT table, name AS column, comment AS text FROM system.columns WHERE database = {database: String}
     UNION ALL SELECT name, '', comment FROM system.tables WHERE database = {database: String}`,
    { database },
  )
  const wanted = missing(analyticsTableNames, held, ({ doc }) => doc)
  const comment = (table: string) => {
    const changes = wanted
      .filter((one) => one.table === table)
      .map(({ column, text }) =>
        column === ''
          ? `MODIFY COMMENT ${literal(text)}`
          : `COMMENT COLUMN ${quoteIdentifier(column)} ${literal(text)}`,
      )
    const query = `ALTER TABLE {database}.${quoteIdentifier(table)} {on_cluster} ${changes.join(', ')}`
    return clickhouse.command({ query: expandTemplate(query, database, topology) })
  }
  // As many at once as there are tables: each changes another one.
  await Promise.all([...new Set(wanted.map(({ table }) => table))].map(comment))
}

/** Comments that should say something else. */
function missing(
  names: readonly TableName[],
  held: readonly Comment[],
  docOf: (column: Column) => string,
): Comment[] {
  const known = new Set<string>(names)
  return held.flatMap(({ table, column, text }) => {
    if (!known.has(table)) return []
    const { doc, columns } = tables[table as TableName]
    const found = columns.find(({ name }) => name === column)
    const wanted = column === '' ? doc : found && docOf(found)
    return wanted === undefined || wanted === text ? [] : [{ table, column, text: wanted }]
  })
}

/** A literal of our own text, which has no quote or backslash. */
const literal = (text: string): string => `'${text}'`
