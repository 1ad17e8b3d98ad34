// Goal: with one store down the other keeps serving, and every route says what is true.
// Method: the whole program on databases of the run, reached over wires that the test cuts; a
// recorded chain that grows.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StatusReport } from '#api/routes/service/status.ts'
import { type Replay, startReplay } from '../../chain/startReplay.ts'
import { freshDatabase } from '../../support/engines.ts'
import { type CuttableProxy, openProxy } from '../support/cuttableProxy.ts'
import { until } from '../support/millrace.ts'

describe('a store that is down', () => {
  const closing: (() => Promise<unknown> | unknown)[] = []
  let postgres: CuttableProxy
  let clickhouse: CuttableProxy
  let origin: string
  let owner: Owner

  beforeAll(async () => {
    const access = await freshDatabase()
    postgres = await openProxy(Number(new URL(access.databaseUrl).port))
    clickhouse = await openProxy(Number(new URL(access.clickhouseUrl).port))
    const replay: Replay = await startReplay(
      '--shape',
      'tempo',
      '--head',
      '60',
      '--block-time',
      '400',
      '--finality',
      '2',
      '--repeat',
      '50',
    )
    const dataDir = mkdtempSync(join(tmpdir(), 'millrace-down-'))
    owner = await openOwner()
    const databaseUrl = new URL(access.databaseUrl)
    databaseUrl.port = String(postgres.port)
    const clickhouseUrl = new URL(access.clickhouseUrl)
    clickhouseUrl.port = String(clickhouse.port)
    clickhouseUrl.username = access.clickhouseUsername
    clickhouseUrl.password = access.clickhousePassword
    const readerUrl = new URL(clickhouseUrl)
    readerUrl.username = access.readerUsername
    readerUrl.password = access.readerPassword
    const program = spawn(process.execPath, ['main.ts', 'up'], {
      env: {
        ...process.env,
        PORT: '0',
        RPC_URL: replay.url,
        DATABASE_URL: databaseUrl.href,
        CLICKHOUSE_URL: clickhouseUrl.href,
        CLICKHOUSE_READER_URL: readerUrl.href,
        DATA_DIR: dataDir,
        VERIFY: 'links',
        ALARM_URL: owner.url,
        ALARM_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
        LOG_LEVEL: 'error',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(program, 'exit')
    closing.push(async () => {
      program.kill('SIGTERM')
      await exited
      await replay.close()
      await postgres.close()
      await clickhouse.close()
      owner.close()
      rmSync(dataDir, { recursive: true, force: true })
    })
    const [line] = await once(createInterface(program.stdout), 'line')
    origin = String(line).match(/http:\/\/[\w.:]+/)?.[0] ?? ''
    await until(async () => (await get('/ready')).status === 200)
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  const get = async (path: string) => {
    const response = await fetch(origin + path)
    return { status: response.status, body: await response.json() }
  }
  const query = (engine: string) =>
    get(`/v1/indexer/query?engine=${engine}&sql=${encodeURIComponent('SELECT num FROM blocks LIMIT 1')}`)
  const report = async (): Promise<StatusReport> => JSON.parse(await (await fetch(`${origin}/status`)).text())
  /**
   * A node that replays one recording again and again knows no old balances, and fills the same
   * orders twice.
   */
  const alarmCodes = async () =>
    (await report()).alarms.map(({ code }) => code).filter((code) => !code.startsWith('projection_'))
  const storeOf = async (name: 'postgres' | 'clickhouse') => {
    const store = (await report()).chains[0]?.stores[name]
    if (!store) throw new Error('no chain is reported')
    return { ...store, tip: store.tip ?? -1 }
  }

  test('without ClickHouse, Postgres goes on indexing and answering, and ClickHouse catches up later', async () => {
    clickhouse.cut()
    await until(async () => (await storeOf('clickhouse')).state === 'retrying')
    expect((await report()).degraded).toBe(true)
    expect(await alarmCodes()).toEqual(['clickhouse_degraded'])
    const tip = (await storeOf('postgres')).tip
    expect((await get('/health')).status).toBe(200)
    expect((await get(`/ready?minBlock=${tip + 4}`)).status).toBe(200)
    expect((await get('/v1/blocks')).status).toBe(200)
    expect((await query('postgres')).body).toMatchObject({ ok: true, row_count: 1 })
    expect(await query('clickhouse')).toMatchObject({
      status: 502,
      body: { ok: false, error: { code: 'upstream_error' } },
    })
    await until(async () => owner.alarms.some((body) => body.includes('"clickhouse_degraded"')))
    clickhouse.mend()
    await until(async () => (await storeOf('clickhouse')).tip > tip)
    await until(async () => (await alarmCodes()).length === 0)
    expect((await query('clickhouse')).body).toMatchObject({ ok: true, row_count: 1 })
  })

  test('without Postgres, ClickHouse goes on answering, and indexing goes on where it stood', async () => {
    const tip = (await storeOf('postgres')).tip
    postgres.cut()
    await until(async () => (await storeOf('postgres')).state === 'down')
    expect((await get('/health')).status).toBe(200)
    for (const path of ['/v1/blocks', '/v1/transactions', '/v1/transfers', '/v1/blocks/1'])
      expect(await get(path), path).toMatchObject({
        status: 502,
        body: { error: { code: 'upstream_error' } },
      })
    expect(await query('postgres')).toMatchObject({ status: 502, body: { ok: false } })
    expect((await query('clickhouse')).body).toMatchObject({ ok: true, row_count: 1 })
    postgres.mend()
    await until(async () => (await storeOf('postgres')).tip > tip + 2)
    expect((await get('/v1/blocks')).status).toBe(200)
  })
})

interface Owner {
  readonly url: string
  /** Bodies of what was posted. */
  readonly alarms: string[]
  close(): void
}

/** A receiver of alarms. */
async function openOwner(): Promise<Owner> {
  const alarms: string[] = []
  const server = createServer(async (request, response) => {
    alarms.push(await text(request))
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { url: `http://127.0.0.1:${port}/`, alarms, close: () => server.close() }
}
