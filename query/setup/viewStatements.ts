/** The statements that make the views of `relations/views.ts`. */
import { quoteIdentifier, schemaOf, uint64Sql, viewSchemaOf } from '#store/sql.ts'
import { tables } from '#transform/tables.ts'
import { ownFunctionStatements } from '../postgres/setup/ownFunctions.ts'
import { commentOf, type View, type ViewColumn, viewsOf } from '../relations/views.ts'

/** Statements that make a chain's views in Postgres, and the functions beside them. */
export function postgresStatements(chainId: number): readonly string[] {
  const schema = quoteIdentifier(viewSchemaOf(chainId))
  const views = viewsOf('postgres').flatMap((view) => {
    const name = `${schema}.${quoteIdentifier(view.name)}`
    return [
      postgresViewSql(view, name, schemaOf(chainId)),
      `COMMENT ON VIEW ${name} IS '${literal(view.comment)}'`,
      ...view.columns.map(
        (column) =>
          `COMMENT ON COLUMN ${name}.${quoteIdentifier(column.name)} IS '${literal(commentOf(view, column))}'`,
      ),
    ]
  })
  return [...statisticsSql(schema, schemaOf(chainId)), ...ownFunctionStatements(schema), ...views]
}

/**
 * Functions that run as their owner, since readers may not look at statistics themselves. What the
 * transaction has read of the chain's tables so far: rows of sequential scans and entries of
 * indexes, and the pages of both; asked of what it has locked alone, since a long chain has
 * thousands of partitions. A session keeps its counts for a second or more and would add the next
 * transaction's to them: asked to, it gives them away when this one has ended. And how large the
 * tables are, for estimates.
 */
const statisticsSql = (views: string, schema: string): readonly string[] => [
  `CREATE FUNCTION ${views}.transaction_reads() RETURNS TABLE (rows numeric, bytes numeric)
   LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $reads$
     SELECT pg_catalog.pg_stat_force_next_flush();
     SELECT coalesce(sum(pg_catalog.pg_stat_get_xact_tuples_returned(oid)), 0),
       coalesce(sum(pg_catalog.pg_stat_get_xact_blocks_fetched(oid)), 0)
         * pg_catalog.current_setting('block_size')::numeric
     FROM pg_catalog.pg_locks JOIN pg_catalog.pg_class ON oid = relation
     WHERE pid = pg_catalog.pg_backend_pid()
       AND relnamespace = '${schema}'::pg_catalog.regnamespace AND relkind IN ('r', 'i')
   $reads$`,
  `CREATE FUNCTION ${views}.table_sizes() RETURNS TABLE (name text, rows double precision, bytes numeric)
   LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $sizes$
     SELECT relname::text, greatest(reltuples, 0)::double precision,
       relpages * pg_catalog.current_setting('block_size')::numeric
     FROM pg_catalog.pg_class
     WHERE relnamespace = '${schema}'::pg_catalog.regnamespace AND relkind = 'r'
   $sizes$`,
]

function postgresViewSql(view: View, name: string, schema: string): string {
  const columns = view.columns.map(({ name: column, source }) => {
    const sql = typeof source === 'string' ? quoteIdentifier(source) : source.postgres
    return `${isUint64(view, source) ? uint64Sql(sql) : sql} AS ${quoteIdentifier(column)}`
  })
  return `CREATE VIEW ${name} AS SELECT ${columns.join(', ')} FROM ${quoteIdentifier(schema)}.${quoteIdentifier(view.table)}`
}

export function clickhouseViewSql(view: View, database: string, source: string, security: string): string {
  const columns = view.columns.map(({ name, source: from }) => {
    const sql = typeof from === 'string' ? `t.\`${from}\`` : from.clickhouse
    return `${isUint64(view, from) ? `toUInt256(${sql})` : sql} AS \`${name}\``
  })
  return `CREATE OR REPLACE VIEW ${database}.${view.name} ${security} AS SELECT ${columns.join(', ')} FROM ${source}.${view.table} AS t`
}

/** Whether both engines show a column as a wider number than they store. */
const isUint64 = ({ table }: View, source: ViewColumn['source']): boolean =>
  tables[table].columns.some(({ name, type }) => name === source && type === 'uint64')

const literal = (text: string): string => text.replaceAll("'", "''")
