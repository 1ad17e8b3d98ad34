/**
 * What analysts see: one view per relation, the same names, columns and meaning on both engines.
 * Declared once, so that the two engines cannot drift apart; `replaceViews.ts` makes them.
 * Column names are those of the reference indexer.
 */
import { quoteIdentifier, schemaOf, uint64Sql, viewSchemaOf } from '#store/sql.ts'
import { type ColumnType, type TableName, tables } from '#transform/tables.ts'
import type { LogicalType } from '../logicalType.ts'
import { ownFunctionStatements } from '../postgres/ownFunctions.ts'
import type { Relation } from '../relations.ts'
import { balanceRelations } from './balances.ts'
import type { DescribedColumn } from './derivedRelation.ts'
import { exchangeRelations } from './exchange.ts'

export type Engine = 'postgres' | 'clickhouse'

/**
 * A column of a view: a physical column under the same or another name, or an expression where the
 * engines differ.
 */
interface ViewColumn {
  readonly name: string
  readonly source:
    | string
    | { readonly postgres: string; readonly clickhouse: string; readonly type: LogicalType }
  /** Where it says something else than the stored column's own text (`transform/columnDocs.ts`). */
  readonly comment?: string
}

export interface View {
  readonly name: string
  readonly table: TableName
  readonly comment: string
  readonly columns: readonly ViewColumn[]
}

const same = (...names: string[]): ViewColumn[] => names.map((name) => ({ name, source: name }))
const renamed = (name: string, source: string): ViewColumn => ({ name, source })

const place = [...same('block_num', 'block_timestamp')]
const inTx = [...same('tx_idx', 'tx_hash')]
const ofLog = [...place, ...same('log_idx'), ...inTx]

/** A two-valued code as the word analysts know. */
const word = (column: string, value: number, yes: string, no: string): ViewColumn['source'] => ({
  postgres: `CASE ${column} WHEN ${value} THEN '${yes}' ELSE '${no}' END`,
  clickhouse: `if(t.${column} = ${value}, '${yes}', '${no}')`,
  type: 'text',
})

const holderDelta = [...same('token', 'holder', 'leg'), renamed('balance_delta', 'amount')]

export const views: readonly View[] = [
  {
    name: 'blocks',
    table: 'blocks',
    comment: 'one block header',
    columns: [
      ...same(
        'num',
        'hash',
        'parent_hash',
        'timestamp',
        'timestamp_ms',
        'gas_limit',
        'gas_used',
        'miner',
        'extra_data',
        'consensus_proposer',
        'state_root',
        'transactions_root',
        'receipts_root',
        'tx_count',
        'log_count',
        'size',
        'base_fee_per_gas',
      ),
    ],
  },
  {
    name: 'txs',
    table: 'txs',
    comment: 'one transaction',
    columns: [
      ...place,
      ...same(
        'idx',
        'hash',
        'type',
        'from',
        'to',
        'value',
        'input',
        'gas_limit',
        'gas_used',
        'gas_price',
        'max_fee_per_gas',
        'max_priority_fee_per_gas',
        'nonce_key',
        'nonce',
      ),
      {
        name: 'fee_token',
        source: 'fee_token',
        comment: 'fee token the transaction asked for; what was paid is in `receipts`',
      },
      ...same('fee_payer', 'calls', 'call_count', 'valid_before', 'valid_after', 'signature_type'),
    ],
  },
  {
    name: 'receipts',
    table: 'txs',
    comment: 'one receipt',
    columns: [
      ...place,
      renamed('tx_idx', 'idx'),
      renamed('tx_hash', 'hash'),
      ...same(
        'type',
        'from',
        'to',
        'contract_address',
        'gas_used',
        'cumulative_gas_used',
        'effective_gas_price',
        'status',
        'fee_payer',
      ),
      renamed('fee_token', 'paid_fee_token'),
      ...same('fee_amount', 'log_count'),
    ],
  },
  {
    name: 'logs',
    table: 'logs',
    comment: 'one log as emitted',
    columns: [
      ...ofLog,
      ...same('address'),
      renamed('selector', 'topic0'),
      ...same('topic0', 'topic1', 'topic2', 'topic3', 'data', 'is_virtual_forward'),
    ],
  },
  {
    name: 'token_transfers',
    table: 'token_transfers',
    comment:
      'one ERC-20 Transfer of any contract: three topics and 32 bytes of data; logs of other forms under its topic (NFTs, other lengths of data, topics whose upper 12 bytes are not zero) are in logs alone',
    columns: [...ofLog, ...same('token', 'from', 'to', 'amount', 'is_virtual_forward', 'memo', 'is_fee')],
  },
  {
    name: 'token_approvals',
    table: 'token_approvals',
    comment:
      'one ERC-20 Approval of any contract: three topics and 32 bytes of data; other forms, and topics whose upper 12 bytes are not zero, are in logs alone',
    columns: [...ofLog, ...same('token', 'owner', 'spender', 'amount')],
  },
  {
    name: 'token_holder_deltas',
    table: 'holder_deltas',
    comment: 'one side of a row of token_transfers, by token',
    columns: [...ofLog, ...holderDelta],
  },
  {
    name: 'address_holder_deltas',
    table: 'holder_deltas',
    comment: 'one side of a row of token_transfers, by holder',
    columns: [...ofLog, ...holderDelta],
  },
  {
    name: 'address_transfers',
    table: 'holder_deltas',
    comment: 'one row of token_transfers as one account saw it',
    columns: [
      ...ofLog,
      renamed('address', 'holder'),
      { name: 'direction', source: word('leg', 1, 'in', 'out'), comment: '`in` or `out`' },
      ...same('counterparty', 'token'),
      { name: 'amount', source: 'amount', comment: 'in the smallest unit of the token' },
    ],
  },
  {
    name: 'address_txs',
    table: 'address_txs',
    comment: 'one account’s part in a transaction',
    columns: [
      ...place,
      ...inTx,
      ...same('address'),
      { name: 'direction', source: word('direction', 0, 'from', 'to'), comment: '`from` or `to`' },
      ...same('counterparty'),
    ],
  },
  {
    name: 'contract_creations',
    table: 'contract_creations',
    comment: 'one contract created by a transaction',
    columns: [...place, ...inTx, ...same('creator', 'contract')],
  },
]

/** On Postgres analysts have the four base tables; ClickHouse has all. */
const postgresNames = new Set(['blocks', 'txs', 'receipts', 'logs'])

export const viewsOf = (engine: Engine): readonly View[] =>
  engine === 'clickhouse' ? views : views.filter((view) => postgresNames.has(view.name))

/** A relation with what its rows and columns are, in words. */
export interface DescribedRelation extends Relation {
  readonly comment: string
  readonly columns: readonly DescribedColumn[]
}

/** What user SQL may name on an engine. */
export const relationsOf = (engine: Engine): DescribedRelation[] => [
  ...viewsOf(engine).map(relationOfView),
  ...(engine === 'clickhouse' ? [...balanceRelations, ...exchangeRelations] : []),
]

const relationOfView = (view: View): DescribedRelation => ({
  name: view.name,
  comment: view.comment,
  blockColumn: tables[view.table].blockColumn,
  columns: view.columns.map((column) => ({
    name: column.name,
    type: logicalType(view, column),
    ...formOf(view, column),
    comment: commentOf(view, column),
  })),
})

function commentOf({ table, name: view }: View, { name, source, comment }: ViewColumn): string {
  const text = comment ?? tables[table].columns.find((column) => column.name === source)?.doc
  if (text === undefined) throw new Error(`column ${name} of view ${view} has no text`)
  return text
}

const widths: Readonly<Partial<Record<ColumnType, number>>> = { address: 20, hash: 32 }

function formOf(
  { table }: View,
  { source }: ViewColumn,
): { readonly width?: number; readonly isSmall?: true } {
  const physical = tables[table].columns.find((column) => column.name === source)
  if (physical?.type === 'uint8' || physical?.type === 'int8') return { isSmall: true }
  const width = physical && widths[physical.type]
  return width === undefined ? {} : { width }
}

const logicalTypes: Readonly<Record<ColumnType, LogicalType>> = {
  uint8: 'int',
  int8: 'int',
  uint32: 'int',
  uint53: 'bigint',
  // Postgres has no unsigned integers: one width further, as of unsigned values in logs.
  uint64: 'numeric',
  bool: 'bool',
  seconds: 'timestamp',
  address: 'bytes',
  hash: 'bytes',
  bytes: 'bytes',
  text: 'text',
  uint256: 'numeric',
}

function logicalType(view: View, { name, source }: ViewColumn): LogicalType {
  if (typeof source !== 'string') return source.type
  const column = tables[view.table].columns.find((candidate) => candidate.name === source)
  if (!column)
    throw new Error(`view ${view.name} names ${source} as ${name}, which ${view.table} does not have`)
  return logicalTypes[column.type]
}

/** What makes a chain's views in Postgres, and the functions beside them. */
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
