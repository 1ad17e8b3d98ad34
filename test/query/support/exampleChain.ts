/**
 * A small chain in both engines: physical tables as declared, the program's own views, the same
 * rows.
 */

import { type ClickHouseClient, createClient } from '@clickhouse/client'
import { prepareReaderRole } from '#query/postgres/setup/roles.ts'
import { replaceClickHouseViews, replacePostgresViews } from '#query/setup/replaceViews.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { type Column, type ColumnType, type TableName, tables } from '#transform/tables.ts'
import { type FreshDatabase, freshDatabase } from '../../support/engines.ts'
import { type ExampleRow, exampleRows } from './exampleRows.ts'

export interface ExampleChain {
  readonly database: FreshDatabase
  readonly chainId: number
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  /** Logs in as the restricted reader of Postgres. */
  readonly readerUrl: string
  close(): Promise<void>
}

const names: readonly TableName[] = [
  'blocks',
  'txs',
  'logs',
  'token_transfers',
  'native_transfers',
  'token_approvals',
  'holder_deltas',
  'address_txs',
  'contract_creations',
]

export type ExampleRows = Partial<Record<TableName, readonly ExampleRow[]>>

export async function createExampleChain(rows: ExampleRows = exampleRows): Promise<ExampleChain> {
  const database = await freshDatabase()
  const { chainId } = database
  const postgres = openPostgres({ url: database.databaseUrl, applicationName: 'test', log: silentLogger })
  const clickhouse = createClient({
    url: database.clickhouseUrl,
    username: database.clickhouseUsername,
    password: database.clickhousePassword,
  })
  await postgres.pool.query(`CREATE SCHEMA ${schemaOf(chainId)}`)
  await clickhouse.command({ query: `CREATE DATABASE ${schemaOf(chainId)} ENGINE = Atomic` })
  for (const name of names) await createTable(postgres, clickhouse, chainId, name, rows[name] ?? [])
  await replacePostgresViews(postgres, chainId)
  await replaceClickHouseViews(clickhouse, chainId, 'DEFINER = default SQL SECURITY DEFINER')
  return {
    database,
    chainId,
    postgres,
    clickhouse,
    readerUrl: await createReader(postgres, database),
    async close() {
      await postgres.close()
      await clickhouse.close()
      await database.drop()
    },
  }
}

/** Each database has a reader of its own, since roles belong to the whole cluster. */
async function createReader(postgres: Postgres, { databaseUrl, chainId }: FreshDatabase): Promise<string> {
  const role = {
    name: `reader_${chainId}`,
    password: "pa'ss",
    chainIds: [chainId],
    connectionsMax: 50,
    ownsCluster: true,
  }
  await prepareReaderRole(postgres.pool, role)
  await prepareReaderRole(postgres.pool, role)
  const url = new URL(databaseUrl)
  url.username = role.name
  url.password = encodeURIComponent(role.password)
  return url.href
}

async function createTable(
  postgres: Postgres,
  clickhouse: ClickHouseClient,
  chainId: number,
  name: TableName,
  rows: readonly ExampleRow[],
): Promise<void> {
  const { columns, key } = tables[name]
  const table = `${schemaOf(chainId)}.${name}`
  await postgres.pool.query(
    `CREATE TABLE ${table} (${columns.map((column) => `"${column.name}" ${types[column.type][0]}`).join(', ')})`,
  )
  await clickhouse.command({
    query: `CREATE TABLE ${table} (${columns.map((column) => `\`${column.name}\` ${clickhouseType(column)}`).join(', ')})
      ENGINE = MergeTree ORDER BY (${key.join(', ')})`,
  })
  for (let at = 0; at < rows.length; at += rowsPerInsert)
    await insertRows(postgres, clickhouse, table, columns, rows.slice(at, at + rowsPerInsert))
}

/** Rows of long logs take more than ClickHouse's default of 256 KiB. */
const STATEMENT_BYTES = `${8 * 1024 * 1024}`

/** ClickHouse bounds the parts of a statement. */
const rowsPerInsert = 40

async function insertRows(
  postgres: Postgres,
  clickhouse: ClickHouseClient,
  table: string,
  columns: readonly Column[],
  rows: readonly ExampleRow[],
): Promise<void> {
  const list = (quote: string) => columns.map((column) => `${quote}${column.name}${quote}`).join(', ')
  const literals = (literal: (column: Column, value: ExampleRow[string]) => string) =>
    rows.map((row) => columns.map((column) => literal(column, row[column.name] ?? null)).join(', '))
  const values = literals(postgresLiteral).map((row) => `(${row})`)
  await postgres.pool.query(`INSERT INTO ${table} (${list('"')}) VALUES ${values.join(', ')}`)
  // Not VALUES, whose rows the embedded engine takes through a file; expressions like unhex need
  // the SQL parser.
  const selects = literals(clickhouseLiteral).map((row) => `SELECT ${row}`)
  await clickhouse.command({
    query: `INSERT INTO ${table} (${list('`')}) ${selects.join(' UNION ALL ')}`,
    clickhouse_settings: { max_query_size: STATEMENT_BYTES },
  })
}

const types: Readonly<Record<ColumnType, readonly [postgres: string, clickhouse: string]>> = {
  uint8: ['smallint', 'UInt8'],
  int8: ['smallint', 'Int8'],
  uint32: ['integer', 'UInt32'],
  uint53: ['bigint', 'UInt64'],
  uint64: ['bigint', 'UInt64'],
  bool: ['boolean', 'Bool'],
  seconds: ['timestamptz', "DateTime('UTC')"],
  address: ['bytea', 'FixedString(20)'],
  hash: ['bytea', 'FixedString(32)'],
  bytes: ['bytea', 'String'],
  text: ['text', 'String'],
  uint256: ['numeric(78,0)', 'UInt256'],
}

function clickhouseType({ type, nullable }: Column): string {
  return nullable ? `Nullable(${types[type][1]})` : types[type][1]
}

function postgresLiteral({ type }: Column, value: ExampleRow[string]): string {
  if (value === null) return 'NULL'
  if (type === 'seconds') return `to_timestamp(${value})`
  if (type === 'uint64') return String(BigInt.asIntN(64, BigInt(value)))
  if (typeof value !== 'string') return String(value)
  return value.startsWith('0x') ? `'\\x${value.slice(2)}'` : `'${value}'`
}

function clickhouseLiteral({ type, nullable }: Column, value: ExampleRow[string]): string {
  const cast = (sql: string) =>
    `CAST(${sql} AS ${clickhouseType({ type, nullable, isAdded: false, name: '', doc: '' })})`
  if (value === null) return cast('NULL')
  if (typeof value !== 'string') return cast(type === 'uint256' ? `'${value}'` : String(value))
  return cast(value.startsWith('0x') ? `unhex('${value.slice(2)}')` : `'${value}'`)
}
