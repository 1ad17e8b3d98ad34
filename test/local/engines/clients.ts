/** The ordinary ClickHouse client on an embedded engine, closed after the test file. */

import { type ClickHouseClient, createClient } from '@clickhouse/client'
import { afterAll } from 'vitest'

import { type FreshDatabase, freshDatabase } from '#test/support/engines.ts'

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
