// Goal: with nothing set, one command shows a live chain, and no way of ending it loses or doubles
// anything.
// Method: the program in a process of its own, started on one data directory: fresh, after a clean
// end, and in the whole breadth after kill -9. Waits are requests that the program itself answers
// when the block is there.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { fullTest } from '../../support/breadth.ts'
import { showOnTerminal } from '../../support/virtualTerminal.ts'
import {
  blockIndexed,
  chainOf,
  enginePids,
  freshDataDir,
  get,
  isRunning,
  type RunningMillrace,
  runMillrace,
  startByNpm,
  startMillrace,
  startOnTerminal,
  statusOf,
  until,
} from '../support/millrace.ts'

// A start takes some 6 s on an idle machine, and several times that beside other tests.
const dataDir = freshDataDir()
const env = { DATA_DIR: dataDir.path }
const CHAIN = 1337
let program: RunningMillrace
let genesis = ''
let tipBefore = -1
const onLinux = process.platform === 'linux'
/** Processes that must be gone in the end. */
const left: number[] = []

afterAll(async () => {
  await program?.stop()
  dataDir.remove()
})

/** Empty while history is not there yet. */
const hashOf = async (number: number): Promise<string> =>
  Object((await get(`${program.origin}/v1/blocks/${number}`)).body).hash ?? ''
const query = async (engine: string, sql: string) =>
  (await get(`${program.origin}/v1/indexer/query?engine=${engine}&sql=${encodeURIComponent(sql)}`)).body
const verify = () => runMillrace(['verify'], env)

test('a first start shows live blocks of a local chain', async () => {
  const startedMs = performance.now()
  program = await startByNpm(env)
  await blockIndexed(program, 1)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stderr.write(`first live block ${seconds} s after the start of an empty directory\n`)
  await until(async () => (await hashOf(0)) !== '')
  genesis = await hashOf(0)
})

test('every way to look at it answers', async () => {
  expect(await get(`${program.origin}/health`)).toEqual({ status: 200, body: { ok: true } })
  await until(async () => (await get(`${program.origin}/ready`)).status === 200)
  expect(await chainOf(program, CHAIN)).toMatchObject({
    kind: 'tempo',
    isLocal: true,
    startBlock: 0,
    stores: { postgres: { state: 'running' }, clickhouse: { state: 'running' } },
  })
  expect((await get(`${program.origin}/metrics`)).body).toContain(`millrace_tip_block{chain="${CHAIN}"`)
  expect((await get(`${program.origin}/openapi.json`)).body).toMatchObject({ openapi: '3.1.0' })
  expect((await get(`${program.origin}/docs`)).body).toMatch(/^<!doctype html>/i)
})

test('it says that the chain is local, and none of a network', async () => {
  const { notes, chains } = await statusOf(program)
  expect(chains.map(({ chainId }) => chainId)).toEqual([CHAIN])
  expect(notes.join()).toContain(`chain ${CHAIN} is a local dev chain`)
  expect(program.stderr()).toContain(`chain ${CHAIN} is a local dev chain`)
  for (const path of ['/v1/blocks', `/v1/blocks?chainId=${CHAIN}`, '/feed/1337/latest-block']) {
    const { status, headers } = await fetch(program.origin + path)
    expect([path, status, headers.get('svc-chain-local')]).toEqual([path, 200, 'true'])
  }
  const ask = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${program.origin}/rpc`, { method: 'POST', headers, body: JSON.stringify(ask) })
  expect(await answer.json()).toMatchObject({ result: `0x${CHAIN.toString(16)}` })
  expect(answer.headers.get('svc-chain-local')).toBe('true')
  for (const other of ['mainnet', '4217', '1'])
    expect((await get(`${program.origin}/v1/blocks?chainId=${other}`)).status).toBe(400)
})

test('`connect` prints logins that read both databases and write neither', async () => {
  const { code, stdout } = await runMillrace(['connect'], env)
  expect(code).toBe(0)
  const [databaseUrl = ''] = /postgres:[^']+/.exec(stdout) ?? []
  const [, login = '', clickhouseUrl = ''] = /curl -u '([^']+)' '([^']+)'/.exec(stdout) ?? []
  const reader = new pg.Client({ connectionString: databaseUrl })
  await reader.connect()
  expect((await reader.query('SELECT num FROM blocks WHERE num = 0')).rows).toEqual([{ num: '0' }])
  await expect(reader.query('DELETE FROM blocks')).rejects.toThrow()
  await reader.end()
  const headers = { authorization: `Basic ${Buffer.from(login).toString('base64')}` }
  const ask = (body: string) => fetch(clickhouseUrl, { method: 'POST', headers, body })
  expect(await (await ask('SELECT 1 FROM blocks LIMIT 0')).text()).toBe('')
  expect((await ask('DROP TABLE blocks')).ok).toBe(false)
})

test('Tempo transactions and transfers keep coming, in both stores', async () => {
  await until(async () => {
    const { rows } = Object(await query('clickhouse', 'SELECT DISTINCT type FROM txs'))
    return JSON.stringify(rows).includes('118')
  })
  expect(await query('postgres', 'SELECT count(*) FROM txs WHERE type = 118')).toMatchObject({ ok: true })
  const { data } = Object((await get(`${program.origin}/v1/transfers`)).body)
  expect(data.length).toBeGreaterThan(0)
  const { tip } = (await chainOf(program, CHAIN)).stores.postgres
  await blockIndexed(program, (tip ?? 0) + 3)
})

fullTest('commands work beside it', async () => {
  const [status, json, verified] = await Promise.all([
    runMillrace(['status'], { PORT: program.port }),
    runMillrace(['status', '--json'], { PORT: program.port }),
    verify(),
  ])
  expect(status).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/chain 1337 \(local dev chain\)[\s\S]*Postgres[\s\S]*ClickHouse/),
  })
  expect(JSON.parse(json.stdout)).toMatchObject({ version: manifest.version, chains: [{ chainId: CHAIN }] })
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('agreed') })
})

fullTest('a second program on its directory or its port is told so at once', async () => {
  const other = freshDataDir()
  const [sameDirectory, samePort] = await Promise.all([
    runMillrace(['up'], { ...env, PORT: '0' }),
    runMillrace(['up'], { DATA_DIR: other.path, PORT: program.port }),
  ])
  other.remove()
  expect(sameDirectory).toMatchObject({ code: 1, stdout: '' })
  expect(sameDirectory.stderr).toMatch(
    new RegExp(`^millrace: DATA_DIR .* Millrace process ${program.pid}\\..*\n$`),
  )
  expect(samePort).toMatchObject({ code: 1, stdout: '' })
  expect(samePort.stderr).toMatch(new RegExp(`^millrace: PORT: ${program.port} is in use .*\n$`))
})

test('it prints plain lines, and logs JSON lines', () => {
  const lines = program.stdout().trimEnd().split('\n')
  expect(lines[0]).toContain(`Millrace answers at ${program.origin}`)
  for (const line of lines.slice(1)) expect(line).toMatch(/^chain=1337 \(local\) head=/)
  for (const line of program.stderr().trimEnd().split('\n'))
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), msg: expect.any(String) })
})

test('SIGTERM to npm, which started it, ends it cleanly and leaves nothing running', async () => {
  const engines = [program.pid, ...enginePids(dataDir.path)]
  expect(engines).toHaveLength(4)
  tipBefore = (await chainOf(program, CHAIN)).stores.postgres.tip ?? -1
  const { code, stderr } = await program.stop()
  expect(code).toBe(0)
  expect(engines.filter(isRunning)).toEqual([])
  expect(existsSync(join(dataDir.path, 'lock'))).toBe(false)
  expect(existsSync(join(dataDir.path, 'connection.json'))).toBe(false)
  expect(stderr).not.toMatch(/"level":50/)
  expect(stderr).not.toContain('announcements of new heads ended')
})

test('the next start goes on with the same chain', async () => {
  program = await startMillrace(env)
  await blockIndexed(program, tipBefore + 3)
  expect(await hashOf(0)).toBe(genesis)
  const { coverage } = await chainOf(program, CHAIN)
  expect(coverage).toEqual([{ from: 0, to: expect.any(Number) }])
  tipBefore = coverage[0]?.to ?? -1
})

fullTest(
  'after kill -9 the next start takes over what was left, and both stores agree with the chain',
  async () => {
    const engines = enginePids(dataDir.path)
    await program.kill()
    program = await (onLinux ? startOnTerminal(env) : startMillrace(env))
    await blockIndexed(program, tipBefore + 3)
    expect(await hashOf(0)).toBe(genesis)
    expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringContaining('agreed') })
    left.push(...engines, ...enginePids(dataDir.path))
  },
)

const terminalTest = onLinux ? fullTest : () => {}
terminalTest('on a terminal it redraws one view, with logs as text above it', async () => {
  const shown = () => showOnTerminal(program.stdout())
  const heads = () => shown().filter((line) => line.startsWith('  head '))
  const [first] = heads()
  await until(async () => heads()[0] !== first)
  const view = shown()
  expect(heads()).toHaveLength(1)
  expect(view.filter((line) => line === `chain ${CHAIN} (local dev chain)`)).toHaveLength(1)
  expect(view.filter((line) => line.startsWith('{'))).toEqual([])
  expect(view.findIndex((line) => / new heads are announced/.test(line))).toBeLessThan(
    view.indexOf(`chain ${CHAIN} (local dev chain)`),
  )
})

fullTest('Ctrl-C ends it cleanly and leaves nothing running', async () => {
  const { code, stdout } = await program.stop()
  expect(code).toBe(0)
  expect(stdout).toContain('Ending:')
  expect(left.filter(isRunning)).toEqual([])
})
