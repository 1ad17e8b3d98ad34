// Goal: the embedded ClickHouse loses no acknowledged batch, whatever process is killed.
/** Life and death of the engine's child process. */

import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { expect, onTestFinished, test } from 'vitest'

import { type EmbeddedClickHouse, startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { EngineStartError } from '#local/engines/errors.ts'
import { identityOf, isAlive } from '#local/engines/processIdentity.ts'
import { silentLogger } from '#telemetry.ts'
import { rowsOf } from './clients.ts'
import {
  freshFolder,
  shortOfPatience,
  startProgram,
  until,
  untilTestEnds,
  withoutPauses,
} from './programs.ts'

/** An engine that is stopped after the test. */
async function start(dataDir: string, readerGrants: readonly string[] = []): Promise<EmbeddedClickHouse> {
  return untilTestEnds(await startClickHouse({ dataDir, log: silentLogger, readerGrants }))
}

/** A client of the engine, closed after the test. */
function clientOf(engine: EmbeddedClickHouse) {
  const { url, username, password } = engine
  const client = createClient({ url, username, password, log: { level: 127 } })
  onTestFinished(() => client.close())
  return client
}

const createTable = `CREATE TABLE d.t (n UInt64) ENGINE = MergeTree ORDER BY n`

test('rows survive stop and start; passwords are private and stay', async () => {
  const dataDir = freshFolder()
  const first = await start(dataDir)
  const client = clientOf(first)
  await client.command({ query: 'CREATE DATABASE d ENGINE = Atomic' })
  await client.command({ query: createTable })
  await client.insert({ table: 'd.t', values: [{ n: 7 }], format: 'JSONEachRow' })
  for (const name of ['password', 'reader-password', 'users.xml']) {
    expect(statSync(join(dataDir, 'clickhouse', name)).mode & 0o077).toBe(0)
  }
  const { pid, password } = first
  await first.stop()
  expect(isAlive(identityOf(pid))).toBe(false)

  const second = await start(dataDir)
  expect(second.password).toBe(password)
  expect(await rowsOf(clientOf(second), 'SELECT n FROM d.t')).toEqual([{ n: 7 }])
})

test('a killed engine is started again on its port, with every acknowledged batch whole', async () => {
  const engine = await start(freshFolder())
  const client = clientOf(engine)
  await client.command({ query: 'CREATE DATABASE d ENGINE = Atomic' })
  await client.command({ query: createTable })
  const { pid, url } = engine
  const batch = Array.from({ length: 1_000 }, () => 0)
  let acknowledged = 0
  const writing = (async () => {
    for (;;) {
      const values = batch.map(() => ({ n: acknowledged }))
      await client.insert({ table: 'd.t', values, format: 'JSONEachRow' })
      acknowledged += 1
    }
  })()
  await until(() => acknowledged >= 5)
  process.kill(pid, 'SIGKILL')
  await expect(writing).rejects.toThrow()

  await until(async () => (await client.ping()).success)
  expect([engine.url, engine.pid === pid]).toEqual([url, false])
  const sql = 'SELECT n, count() AS rows FROM d.t GROUP BY n ORDER BY n'
  const rows = await rowsOf<{ rows: string }>(clientOf(engine), sql)
  expect(rows.length).toBeGreaterThanOrEqual(acknowledged)
  for (const row of rows) expect(Number(row.rows)).toBe(batch.length)
})

test('the engine of a killed program lets go of its directory for the next', async () => {
  const dataDir = freshFolder()
  const program = await startProgram(dataDir, 'clickhouse')
  await program.kill()
  const engine = await start(dataDir)
  expect(isAlive(identityOf(program.pids.clickhouse))).toBe(false)
  expect(await rowsOf(clientOf(engine), 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('rows that a killed program left are removed, wherever they lie', async () => {
  const dataDir = freshFolder()
  const first = await start(dataDir)
  const { rowsFolder } = first
  await first.stop()
  const onDisk = join(dataDir, 'clickhouse', 'spool')
  for (const folder of [rowsFolder, onDisk]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'rows'), 'left')
  }
  const second = await start(dataDir)
  expect(readdirSync(second.rowsFolder)).toEqual([])
  expect([rowsFolder, onDisk].filter((folder) => existsSync(join(folder, 'rows')))).toEqual([])
})

test('an engine that is started again removes its own rows and leaves those the program is writing', async () => {
  const engine = await start(freshFolder())
  const client = clientOf(engine)
  for (const name of ['7', crypto.randomUUID()]) writeFileSync(join(engine.rowsFolder, name), '')
  const { pid } = engine
  process.kill(pid, 'SIGKILL')
  await until(async () => engine.pid !== pid && (await client.ping()).success)
  expect(readdirSync(engine.rowsFolder)).toEqual([expect.stringContaining('-')])
})

test('an engine of a killed program that hangs is ended', async () => {
  const dataDir = freshFolder()
  const program = await startProgram(dataDir, 'clickhouse')
  process.kill(program.pids.clickhouse, 'SIGSTOP')
  await program.kill()
  const options = { dataDir, log: silentLogger, readerGrants: [], runtime: shortOfPatience }
  untilTestEnds(await startClickHouse(options))
  expect(isAlive(identityOf(program.pids.clickhouse))).toBe(false)
})

test('a stop lets a running write finish and ends a running read', async () => {
  const dataDir = freshFolder()
  const engine = await start(dataDir)
  const client = clientOf(engine)
  await client.command({ query: 'CREATE DATABASE d ENGINE = Atomic' })
  await client.command({ query: createTable })
  const areRunning = async () => {
    const query = `SELECT countIf(query LIKE '%sleepEachRow%') AS writes, countIf(query LIKE '%sleep(3)%') AS reads
      FROM system.processes WHERE query NOT LIKE '%processes%'`
    const [row] = await rowsOf<{ writes: string; reads: string }>(client, query)
    return Number(row?.writes) > 0 && Number(row?.reads) > 0
  }
  const writing = client.command({
    query: 'INSERT INTO d.t SELECT number + sleepEachRow(0.5) FROM numbers(7) SETTINGS max_block_size = 1',
  })
  const reading = client.query({ query: 'SELECT sleep(3) FROM numbers(1000) SETTINGS max_block_size = 1' })
  const read = expect(reading).rejects.toThrow()
  await until(areRunning)
  await engine.stop()
  await writing
  await read
  const again = await start(dataDir)
  expect(await rowsOf(clientOf(again), 'SELECT count() AS rows FROM d.t')).toEqual([{ rows: 7 }])
})

test('grants follow the options of each start', async () => {
  const dataDir = freshFolder()
  const first = await start(dataDir)
  const client = clientOf(first)
  await client.command({ query: 'CREATE DATABASE d ENGINE = Atomic' })
  await client.command({ query: createTable })
  const ask = (engine: EmbeddedClickHouse) => {
    const { url, readerUsername: username, readerPassword: password } = engine
    const reader = createClient({ url, username, password, log: { level: 127 } })
    return rowsOf(reader, 'SELECT count() AS rows FROM d.t').finally(() => reader.close())
  }
  await expect(ask(first)).rejects.toMatchObject({ code: '497' })
  await first.stop()
  expect(await ask(await start(dataDir, ['d.t']))).toEqual([{ rows: 0 }])
})

test('an engine that cannot start says why, and what to set instead', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const runtime = withoutPauses
  const options = { dataDir: freshFolder(), log: silentLogger, readerGrants: [], port, runtime }
  const error = await startClickHouse(options).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(EngineStartError)
  expect(error).toMatchObject({ engine: 'ClickHouse', code: 'engine_start_failed', remedy: 'stop' })
  expect(String(error)).toMatch(/DATA_DIR.*CLICKHOUSE_URL.*EADDRINUSE/s)
})
