/**
 * Goal: what the encoders write is what both engines hold, and its digest is the same three times.
 * Method: random rows of every table go in through the wire formats, come back as text the engine
 * itself prints, and are digested in SQL.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import fc from 'fast-check'
import { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uint64Sql } from '#store/sql.ts'
import type { EncodedTable } from '#transform/batch.ts'
import { clickhouseDigestSql, postgresDigestSql } from '#transform/digest.ts'
import { copyStream } from '#transform/encode/copy.ts'
import { clickhouseType, nativeBlock } from '#transform/encode/native.ts'
import { Arena, TableEncoder } from '#transform/encode/TableEncoder.ts'
import {
  analyticsTableNames,
  type Column,
  type ColumnType,
  ledgerTableNames,
  type Row,
  type Table,
  type TableName,
  tables,
} from '#transform/tables.ts'
import { freshDatabase } from '../support/engines.ts'
import { isWide, numberEdges, numberMaxima } from './numberEdges.ts'
import { arbitraryRow } from './randomRows.ts'
import { type AnyRow, encodeSlowly } from './slowEncoder.ts'

const rowsPerTable = 500

let postgres: Client
let clickhouse: ClickHouseClient
let database: string

beforeAll(async () => {
  const fresh = await freshDatabase()
  postgres = new Client({ connectionString: fresh.databaseUrl })
  await postgres.connect()
  clickhouse = createClient({
    url: fresh.clickhouseUrl,
    username: fresh.clickhouseUsername,
    password: fresh.clickhousePassword,
  })
  database = `chain_${fresh.chainId}`
  await clickhouse.command({ query: `CREATE DATABASE ${database} ENGINE = Atomic` })
})

afterAll(async () => {
  await postgres?.end()
  await clickhouse?.close()
})

/**
 * Random rows, and one for each edge of numbers in every column that holds it; numbered in their
 * first column so that order and identity are plain.
 */
function sampleRows(table: Table): readonly AnyRow[] {
  const random = fc.sample(arbitraryRow(table), { numRuns: rowsPerTable, seed: 4217 })
  const edges = numberEdges.map((edge, index) => ({ ...random[index], ...edgeRow(table, edge) }))
  return [...random, ...edges].map((row, index) => ({ ...row, [table.blockColumn]: index }))
}

/** The numbers of a row that are `edge`. */
const edgeRow = (table: Table, edge: bigint): AnyRow =>
  Object.fromEntries(
    table.columns
      .filter(({ type }) => edge <= (numberMaxima[type] ?? -1n))
      .map(({ name, type }) => [name, isWide(type) ? edge : Number(edge)]),
  )

/** Two pieces, as several batches would be, so that concatenation is tested with them. */
function encodePieces(name: TableName, rows: readonly AnyRow[]): readonly EncodedTable[] {
  const encoder = new TableEncoder(name)
  return [rows.slice(0, 123), rows.slice(123)].map((part) => {
    encoder.clear()
    for (const row of part) encoder.append(row as never as Row<typeof name>)
    encoder.endBlock()
    return encoder.copyTo(new Arena(encoder.postgresBytes), new Arena(encoder.clickhouseBytes))
  })
}

const digestOf = (pieces: readonly EncodedTable[]): number =>
  pieces.reduce((sum, piece) => sum + (piece.blockDigests[0] ?? 0), 0)

describe('Postgres holds what was encoded', () => {
  test.each(ledgerTableNames)('%s', async (name) => {
    const table = tables[name]
    const rows = sampleRows(table)
    const pieces = encodePieces(name, rows)
    const columns = table.columns.map(
      (column) => `"${column.name}" ${postgresTypes[column.type]}${column.nullable ? '' : ' NOT NULL'}`,
    )
    await postgres.query(`CREATE TABLE "${name}" (${columns.join(', ')})`)
    const copy = postgres.query(copyFrom(`COPY "${name}" FROM STDIN (FORMAT binary)`))
    await pipeline(Readable.from(copyStream(pieces)), copy)

    const printed = table.columns.map((column) => `${postgresText(column)} AS "${column.name}"`)
    const read = await postgres.query(
      `SELECT ${printed.join(', ')} FROM "${name}" ORDER BY "${name}"."${table.blockColumn}"`,
    )
    expect(read.rows).toEqual(rows.map((row) => textRow(table, row)))

    const digest = await postgres.query(
      `SELECT sum(${postgresDigestSql(table)})::text AS digest FROM "${name}"`,
    )
    expect(Number(digest.rows[0].digest)).toBe(digestOf(pieces))
    expect(digestOf(pieces)).toBe(encodeSlowly(table, rows).digest)
  })
})

describe('ClickHouse holds what was encoded', () => {
  test.each(analyticsTableNames)('%s', async (name) => {
    const table = tables[name]
    const rows = sampleRows(table)
    const pieces = encodePieces(name, rows)
    const columns = table.columns.map((column) => `"${column.name}" ${clickhouseType(column)}`)
    await clickhouse.command({
      query: `CREATE TABLE ${database}."${name}" (${columns.join(', ')})
        ENGINE = MergeTree ORDER BY "${table.blockColumn}"`,
    })
    const inserted = await clickhouse.exec({
      query: `INSERT INTO ${database}."${name}" FORMAT Native`,
      values: Readable.from(nativeBlock(table, pieces), { objectMode: false }),
    })
    inserted.stream.resume()

    const printed = table.columns.map((column) => `${clickhouseText(column)} AS "${column.name}"`)
    const read = await clickhouse.query({
      query: `SELECT ${printed.join(', ')} FROM ${database}."${name}" AS t ORDER BY t."${table.blockColumn}"`,
      format: 'JSONEachRow',
    })
    expect(await read.json()).toEqual(rows.map((row) => textRow(table, row)))

    const digest = await clickhouse.query({
      query: `SELECT toString(sum(${clickhouseDigestSql(table)})) AS digest FROM ${database}."${name}"`,
      format: 'JSONEachRow',
    })
    const [only] = await digest.json<{ digest: string }>()
    expect(Number(only?.digest)).toBe(digestOf(pieces))
  })
})

const postgresTypes: Readonly<Record<ColumnType, string>> = {
  uint8: 'smallint',
  int8: 'smallint',
  uint32: 'integer',
  uint53: 'bigint',
  uint64: 'bigint',
  bool: 'boolean',
  seconds: 'timestamptz',
  address: 'bytea',
  hash: 'bytea',
  bytes: 'bytea',
  text: 'text',
  uint256: 'numeric(78, 0)',
}

const isBytes = ({ type }: Column): boolean => type === 'address' || type === 'hash' || type === 'bytes'

function postgresText(column: Column): string {
  const name = `"${column.name}"`
  if (isBytes(column)) return `encode(${name}, 'hex')`
  if (column.type === 'uint64') return `(${uint64Sql(name)})::text`
  return column.type === 'seconds' ? `extract(epoch FROM ${name})::bigint::text` : `${name}::text`
}

function clickhouseText(column: Column): string {
  const name = `t."${column.name}"`
  if (isBytes(column)) return `lower(hex(${name}))`
  return column.type === 'seconds' ? `toString(toUnixTimestamp(${name}))` : `toString(${name})`
}

/** A row as both engines print it: bytes as hex, the rest as plain text. */
function textRow(table: Table, row: AnyRow): Record<string, string | null> {
  return Object.fromEntries(
    table.columns.map((column) => {
      const value = row[column.name]
      if (value === null) return [column.name, null]
      if (value instanceof Uint8Array) return [column.name, Buffer.from(value).toString('hex')]
      return [column.name, isBytes(column) ? String(value).slice(2) : String(value)]
    }),
  )
}
