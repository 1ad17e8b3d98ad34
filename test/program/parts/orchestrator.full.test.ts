// Goal: commands of the catalog work beside a running program, which finds their services at once;
// the program's POST /mcp passes the protocol's own conformance suite.
// Method: one program with a dev chain in a process of its own, commands and the suite in theirs.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shop } from '../../orchestrator/support/catalog.ts'
import {
  freshDataDir,
  get,
  type RunningMillrace,
  runMillrace,
  startMillrace,
  until,
} from '../support/millrace.ts'

const dataDir = freshDataDir()
const env = { DATA_DIR: dataDir.path }
const folder = mkdtempSync(join(tmpdir(), 'millrace-catalog-'))
let program: RunningMillrace

beforeAll(async () => {
  program = await startMillrace(env)
})
afterAll(async () => {
  await program?.stop()
  dataDir.remove()
  rmSync(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => runMillrace(['catalog', ...args], env)
const found = async (query: string): Promise<string[]> => {
  const { body } = await get(`${program.origin}/v1/services/search?query=${encodeURIComponent(query)}`)
  return Object(body).endpoints.map(({ serviceId }: { serviceId: string }) => serviceId)
}

test('a list goes in, is shown and goes out beside the program; bad entries are named', async () => {
  const file = join(folder, 'list.json')
  const zebra = shop('zebra-shop', { description: 'Zebras by post.' })
  writeFileSync(file, JSON.stringify([zebra, shop('Bad Id')]))
  expect(await run('import', file)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('1 added'),
    stderr: expect.stringMatching(/^1\.id: /m),
  })
  expect(await found('zebras by post')).toContain('zebra-shop')
  expect((await run('list')).stdout).toMatch(/^zebra-shop /m)
  expect(JSON.parse((await run('show', 'zebra-shop')).stdout)).toMatchObject({ id: 'zebra-shop' })
  expect(await run('show', 'nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') })
  expect(await run('verify', 'zebra-shop')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('zebra-shop GET /things  cannot be reached'),
  })
  // The program may have looked too.
  expect((await get(`${program.origin}/v1/services/zebra-shop`)).body).toMatchObject({
    health: [{ state: 'failing' }],
  })
  expect(await run('remove', 'zebra-shop')).toMatchObject({ code: 0 })
  expect(await found('zebras by post')).not.toContain('zebra-shop')
})

test('the program looks at the sellers of the demo by itself', async () => {
  const stateOf = async (id: string) =>
    Object((await get(`${program.origin}/v1/services/${id}`)).body).health?.[0]?.state
  await until(async () => (await stateOf('demo-hashes')) === 'verified')
  expect(await run('verify', 'demo-hashes')).toMatchObject({ code: 0 })
})

test('PUBLIC_URL is where the catalog lists this chain data, and whose pages may call tools', async () => {
  await program.stop()
  const origin = 'https://data.example.com'
  program = await startMillrace({ ...env, PUBLIC_URL: origin, ACCESS: 'open' })
  const described = async () =>
    Object((await get(`${program.origin}/v1/services/millrace-chain-data`)).body).service
  await until(async () => (await described()).serviceUrl === origin)
  expect(await described()).toMatchObject({ docs: { openapi: `${origin}/openapi.json` } })
  const ping = (from: string) =>
    fetch(`${program.origin}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        origin: from,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
  expect((await ping(origin)).status).toBe(200)
  expect((await ping(program.origin)).status).toBe(403)
  await program.stop()
  program = await startMillrace(env)
})

const suite = '@modelcontextprotocol/conformance'

/** The others ask for logging, prompts, resources, sampling, or tools with names of the suite's own. */
const scenarios = [
  'server-initialize',
  'ping',
  'tools-list',
  'server-sse-polling',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]

test.each(scenarios)('conformance: %s', async (scenario) => {
  const entry = join(import.meta.dirname, '../../../node_modules', suite, 'dist/index.js')
  const url = `${program.origin}/mcp`
  const args = [entry, 'server', '--url', url, '--scenario', scenario, '-o', folder]
  // Another exit code than 0 rejects, with what was printed.
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toContain('0 failed')
})
