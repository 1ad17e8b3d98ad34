/** The ordinary ClickHouse client on an embedded engine, closed after the test file. */

import { type ClickHouseClient, createClient } from '@clickhouse/client'
import { afterAll } from 'vitest'

import { type FreshDatabase, freshDatabase } from '#test/support/engines.ts'
import { until } from './programs.ts'

/** The run's engine, with the databases of one chain of our own made. */
export interface TestClickHouse {
  readonly admin: ClickHouseClient
  readonly reader: ClickHouseClient
  readonly engine: FreshDatabase
  /** `chain_<id>`, which the reader may not read. */
  readonly tables: string
  /** `chain_<id>_sql`, which it may. */
  readonly views: string
}

export async function openTestClickHouse(): Promise<TestClickHouse> {
  const engine = await freshDatabase()
  const tables = `chain_${engine.chainId}`
  const views = `${tables}_sql`
  const { clickhouseUsername: username, clickhousePassword: password } = engine
  const admin = clientOf(engine.clickhouseUrl, username, password)
  const reader = clientOf(engine.clickhouseUrl, engine.readerUsername, engine.readerPassword)
  await admin.command({ query: `CREATE DATABASE ${tables} ENGINE = Atomic` })
  await admin.command({ query: `CREATE DATABASE ${views} ENGINE = Atomic` })
  afterAll(async () => {
    await Promise.all([admin.close(), reader.close()])
  })
  return { admin, reader, engine, tables, views }
}

/** A client that logs nothing: the tests look at the errors themselves. */
export function clientOf(url: string, username: string, password: string): ClickHouseClient {
  return createClient({ url, username, password, log: { level: 127 } })
}

/** The rows of a SELECT. */
export async function rowsOf<T>(client: ClickHouseClient, query: string): Promise<T[]> {
  const answer = await client.query({ query, format: 'JSONEachRow' })
  return answer.json<T>()
}

/** The whole answer's bytes. */
export async function bytesOf(client: ClickHouseClient, query: string): Promise<Buffer> {
  const { stream } = await client.exec({ query })
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** A new empty table of the test's chain; returns its full name. */
export async function createTable(
  { admin, tables }: TestClickHouse,
  name: string,
  columns = 'n UInt64, bytes String',
  settings = '',
): Promise<string> {
  const table = `${tables}.${name}`
  await admin.command({
    query: `CREATE TABLE ${table} (${columns}) ENGINE = MergeTree ORDER BY n ${settings}`,
  })
  return table
}

/** Whether the engine still works on a query. */
export async function isQueryRunning({ admin }: TestClickHouse, queryId: string): Promise<boolean> {
  const answer = await admin.query({
    query: 'SELECT count() AS n FROM system.processes WHERE query_id = {id:String}',
    query_params: { id: queryId },
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ n: string }>()
  return Number(row?.n) > 0
}

/** A request without the client. */
export function request(
  { engine }: TestClickHouse,
  query: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('X-ClickHouse-User', engine.clickhouseUsername)
  headers.set('X-ClickHouse-Key', engine.clickhousePassword)
  return fetch(`${engine.clickhouseUrl}/?${query}`, { ...init, headers })
}

/** Answers that the engine holds back until they are whole, in blocks of 1,000 rows. */
export function wholeAnswers(clickhouse: TestClickHouse) {
  const ask = (sql: string, more = '') =>
    request(clickhouse, `wait_end_of_query=1&max_threads=1&max_block_size=1000${more}`, {
      method: 'POST',
      body: `${sql} FORMAT RowBinaryWithNamesAndTypes`,
    })
  const bytesFrom = async (sql: string, more?: string) =>
    Buffer.from(await (await ask(sql, more)).arrayBuffer())
  return { ask, bytesFrom }
}

/** A number above 0, once it is the same at two reads in a row. */
export async function stillAt(read: () => Promise<number>): Promise<number> {
  let before = 0
  await until(async () => {
    const now = await read()
    const isStill = now > 0 && now === before
    before = now
    return isStill
  })
  return before
}
