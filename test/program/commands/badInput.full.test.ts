// Goal: what a user gets wrong is one line that names the setting, exit code 1, and nothing
// written.
// Method: the program in a process of its own for each; none of these comes as far as an engine.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { few } from '../../support/breadth.ts'
import { runMillrace } from '../support/millrace.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
const DATA_DIR = join(folder, 'data')
const servers: Server[] = []
/**
 * An address at which nobody listens, port 2, which no test is ever given, as it might be a port that was
 * closed.
 */
const addresses = { html: '', json: '', closed: 'http://127.0.0.1:2' }

beforeAll(async () => {
  addresses.html = await serve((_request, response) => response.end('<html>hello</html>'))
  addresses.json = await serve((_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"hello": 1}'),
  )
})
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true, force: true })
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The one line of a refusal. */
async function refusal(args: readonly string[], env: Record<string, string> = {}, uid?: number) {
  const { code, stdout, stderr } = await runMillrace(args, { DATA_DIR, PORT: '0', ...env }, uid)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  const lines = stderr.trimEnd().split('\n')
  expect(lines).toHaveLength(1)
  return lines[0] ?? ''
}

const settings = [
  ['RPC_URL', 'nonsense'],
  ['LOG_LEVEL', 'loud'],
  ['VERIFY', 'none'],
  ['PORT', '99999'],
  ['TOKENLIST', 'absent.json'],
  ['ATTRIBUTIONS', 'absent.json'],
] as const

test.each(few(settings, 2))('%s=%s names the setting before anything is made', async (name, value) => {
  expect(await refusal(['up'], { [name]: value })).toMatch(new RegExp(`^millrace: ${name}: `))
  expect(existsSync(DATA_DIR)).toBe(false)
})

test('a node that is none names RPC_URL', async () => {
  const wrong = await Promise.all([
    refusal(['up'], { DATA_DIR: join(folder, 'html'), RPC_URL: addresses.html }),
    refusal(['up'], { DATA_DIR: join(folder, 'json'), RPC_URL: addresses.json }),
  ])
  for (const line of wrong) expect(line).toMatch(/^millrace: RPC_URL: .* not as an Ethereum JSON-RPC node$/)
  const absent = await refusal(['up'], { RPC_URL: addresses.closed })
  expect(absent).toMatch(/^millrace: RPC_URL: .*ECONNREFUSED/)
})

const commands = [
  [['frobnicate'], /^millrace: frobnicate: is not a command/],
  [['backfill', '--from', 'x'], /^millrace: --from: `x` is not a block number/],
  [['backfill', '--from', '10', '--to', '3'], /^millrace: --to: 3 is below --from 10/],
  [['backfill', '--fro', '10'], /^millrace: --fro: is not an option/],
  [['verify', '7'], /^millrace: 7: is not expected here/],
] as const

test.each(few(commands, 2))('millrace %j is refused', async (args, expected) => {
  expect(await refusal(args)).toMatch(expected)
})

test('--version and --help answer, without colours in a pipe', async () => {
  const [version, help] = await Promise.all([runMillrace(['--version'], {}), runMillrace(['--help'], {})])
  expect(version).toMatchObject({ code: 0, stdout: `${manifest.version}\n` })
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('backfill') })
  expect(help.stdout + help.stderr).not.toContain('\u001b')
})

test('a CONFIG that cannot be read, or says what nobody knows, is told', async () => {
  expect(await refusal(['up'], { CONFIG: join(folder, 'absent') })).toMatch(/^millrace: CONFIG: .*ENOENT/)
  const CONFIG = join(folder, 'chains.json')
  writeFileSync(CONFIG, '{"chains": [{"chainId": 1, "rpcUrl": "http://secret-key.example"}]}')
  const unknown = await refusal(['up'], { CONFIG })
  expect(unknown).toMatch(/unknown field `rpcUrl`/)
  expect(unknown).not.toContain('secret-key')
})

test('a DATA_DIR that is a file, or nobody may write, is told', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  expect(await refusal(['up'], { DATA_DIR: file })).toMatch(/^millrace: DATA_DIR .*: is not a directory/)
  // Refused to everybody, root included: /sys takes no directories.
  expect(await refusal(['up'], { DATA_DIR: '/sys/millrace' })).toMatch(
    /^millrace: DATA_DIR .*cannot be written/,
  )
})

test('status with nothing running names PORT', async () => {
  const { port: PORT } = new URL(addresses.closed)
  expect(await refusal(['status'], { PORT })).toMatch(/^millrace: PORT: no Millrace answers .*ECONNREFUSED/)
})
