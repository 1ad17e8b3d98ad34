// Goal: the embedded Postgres loses no acknowledged row, and a killed program’s server is adopted.
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'

import { EngineStartError } from '#local/engines/errors.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { identityOf, isAlive, ownIdentity } from '#local/engines/processIdentity.ts'
import { silentLogger } from '#telemetry.ts'
import { freshFolder, startProgram, until, untilTestEnds, withoutPauses } from './programs.ts'

const log = silentLogger

/** A connection that is closed after the test, and may break in it. */
async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end().catch(() => {}))
  return client
}

async function canConnect(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString })
  client.on('error', () => {})
  return client.connect().then(
    () => client.end().then(() => true),
    () => false,
  )
}

test('rows survive stop and start; the password is private, and needed', async () => {
  const dataDir = freshFolder()
  const first = await startPostgres({ dataDir, log })
  const client = await connect(first.url)
  await client.query('CREATE TABLE t AS SELECT 1 AS a')
  const version = await client.query('SHOW server_version_num')
  expect(Number(version.rows[0].server_version_num)).toBeGreaterThanOrEqual(180_000)
  await client.end()
  const refused = new URL(first.url)
  refused.password = 'wrong'
  await expect(connect(refused.href)).rejects.toMatchObject({ code: '28P01' })
  expect(statSync(join(dataDir, 'postgres', 'password')).mode & 0o077).toBe(0)
  const { pid } = first
  await first.stop()
  expect(isAlive(identityOf(pid))).toBe(false)

  const second = untilTestEnds(await startPostgres({ dataDir, log }))
  const rows = await (await connect(second.url)).query('SELECT a FROM t')
  expect(rows.rows).toEqual([{ a: 1 }])
})

test.runIf(process.getuid?.() === 0)(
  'as root it says that its files belong to a user that others share (C2)',
  async () => {
    const warned: string[] = []
    const warn = (_fields: object, text: string) => warned.push(text)
    untilTestEnds(await startPostgres({ dataDir: freshFolder(), log: { ...log, warn } }))
    expect(warned.filter((text) => text.includes('Run Millrace as a user of its own'))).toHaveLength(1)
  },
)

/** Twelve doublings of 256 KiB, kept while the next is made. */
const doubled = Array.from(
  { length: 12 },
  (_, n) => `d${n + 1} AS MATERIALIZED (SELECT x || x AS x FROM d${n})`,
)
const flood = `WITH d0 AS MATERIALIZED (SELECT repeat('x', 262144) AS x), ${doubled.join(', ')}
  SELECT ${Array.from({ length: 4 }, (_, n) => `length(x || '${n}')`).join(' + ')} FROM d11, LATERAL (SELECT array_agg(x || n) AS kept FROM generate_series(1, 8) AS n) AS k`

test.runIf(process.platform === 'linux')(
  'a process that takes too much memory gets an error, and the server lives on',
  async () => {
    const postgres = untilTestEnds(await startPostgres({ dataDir: freshFolder(), log }))
    const client = await connect(postgres.url)
    await expect(client.query(flood)).rejects.toMatchObject({ code: '53200' })
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  },
)

test('a killed postmaster is started again on its port, with every acknowledged row', async () => {
  const postgres = untilTestEnds(await startPostgres({ dataDir: freshFolder(), log }))
  const { pid, url } = postgres
  const writer = await connect(url)
  await writer.query('CREATE TABLE t (n int PRIMARY KEY)')
  let acknowledged = 0
  const writing = (async () => {
    for (;;) {
      await writer.query('INSERT INTO t VALUES ($1)', [acknowledged + 1])
      acknowledged += 1
    }
  })()
  await until(() => acknowledged >= 50)
  process.kill(pid, 'SIGKILL')
  await expect(writing).rejects.toThrow()

  await until(() => canConnect(url))
  expect(postgres.url).toBe(url)
  const { rows } = await (await connect(url)).query('SELECT count(*)::int AS n, max(n) AS last FROM t')
  expect(rows[0].last).toBeGreaterThanOrEqual(acknowledged)
  expect(rows[0].n).toBe(rows[0].last)
  await until(() => postgres.pid !== pid)
})

test('the server of a killed program is adopted, and watched from then on', async () => {
  const dataDir = freshFolder()
  const program = await startProgram(dataDir, 'postgres')
  await program.kill()
  expect(isAlive(identityOf(program.pids.postgres))).toBe(true)

  const postgres = untilTestEnds(await startPostgres({ dataDir, log }))
  expect(postgres.pid).toBe(program.pids.postgres)
  process.kill(postgres.pid, 'SIGKILL')
  await until(() => postgres.pid !== program.pids.postgres)
  await until(() => canConnect(postgres.url))
})

test('the pid file of a dead server whose pid another process has now does not matter', async () => {
  const dataDir = freshFolder()
  const first = await startPostgres({ dataDir, log })
  const { port } = first
  await first.stop()
  const pgData = join(dataDir, 'postgres', 'data')
  const lines = [ownIdentity().pid, pgData, 1, port, '', '127.0.0.1', '', 'ready']
  writeFileSync(join(pgData, 'postmaster.pid'), lines.join('\n'))
  untilTestEnds(await startPostgres({ dataDir, log }))
})

test('an initdb that was killed half way is done again', async () => {
  const dataDir = freshFolder()
  mkdirSync(join(dataDir, 'postgres', 'data.new'), { recursive: true })
  writeFileSync(join(dataDir, 'postgres', 'data.new', 'PG_VERSION'), '18')
  untilTestEnds(await startPostgres({ dataDir, log }))
})

test('a server that cannot start says why, and what to set instead', async () => {
  const dataDir = freshFolder()
  const first = await startPostgres({ dataDir, log })
  await first.stop()
  writeFileSync(join(dataDir, 'postgres', 'data', 'postgresql.auto.conf'), 'no_such_setting = 1\n')
  const options = { dataDir, log, runtime: withoutPauses }
  const error = await startPostgres(options).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(EngineStartError)
  expect(error).toMatchObject({ engine: 'Postgres', code: 'engine_start_failed', remedy: 'stop' })
  expect(String(error)).toMatch(/DATA_DIR.*DATABASE_URL/s)
  expect(String(error)).toContain('no_such_setting')
})

test('a query whose client has gone ends', async () => {
  const postgres = untilTestEnds(await startPostgres({ dataDir: freshFolder(), log }))
  const sleeper = new Client({ connectionString: postgres.url })
  sleeper.on('error', () => {})
  await sleeper.connect()
  const sleeping = sleeper.query(`SELECT pg_sleep(600) /* gone */`).catch(() => {})
  const watcher = await connect(postgres.url)
  const isRunning = async () => {
    const sql = `SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()`
    return (await watcher.query(sql)).rowCount === 1
  }
  await until(isRunning)
  Reflect.get(sleeper, 'connection').stream.destroy()
  await until(async () => !(await isRunning()))
  await sleeping
})
