// Goal: what the pages tell a reader to type works as it stands, on a fresh start.
// Method: the blocks of commands of README and docs run by bash beside one program with its dev
// chain, in a folder that looks like a clone; only the port is another. So does each command of
// docs/commands.md that needs nothing the reader would have to put in.
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freshDataDir, type RunningMillrace, startMillrace } from '../support/millrace.ts'

const root = join(import.meta.dirname, '../../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const PATH_USD = '0x20c0000000000000000000000000000000000000'
const dataDir = freshDataDir()
const clone = mkdtempSync(join(tmpdir(), 'millrace-clone-'))
let program: RunningMillrace
beforeAll(async () => {
  for (const name of readdirSync(root)) symlinkSync(join(root, name), join(clone, name))
  program = await startMillrace({ DATA_DIR: dataDir.path })
  // Balances are summed once history is held.
  await vi.waitUntil(async () => (await fetch(`${program.origin}/v1/tokens/${PATH_USD}/holders`)).ok, {
    timeout: 300_000,
    interval: 1_000,
  })
})
afterAll(async () => {
  await program?.stop()
  dataDir.remove()
  rmSync(clone, { recursive: true })
})

interface Ended {
  readonly code: unknown
  readonly output: string
}

/** Runs a reader's commands; the first that fails ends them, also one that curl calls a success. */
function typed(commands: string): Promise<Ended> {
  const strict = 'set -eo pipefail\ncurl() { command curl --silent --show-error --fail-with-body "$@"; }\n'
  const script = strict + commands.replaceAll('localhost:8080', `localhost:${program.port}`)
  const env = { ...process.env, DATA_DIR: dataDir.path, PORT: program.port }
  return new Promise((resolve) =>
    execFile('bash', ['-c', script], { cwd: clone, env, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: `${stdout.slice(-2_000)}${stderr.slice(-2_000)}` }),
    ),
  )
}

/**
 * Blocks that are typed as they are: none for a first install, or with a node or a key of the reader's
 * (docs/clients.md and receipts are run by the suites of paid jobs), or of a chain with certificates
 * (proveFinality.full).
 */
const blocks = ['README.md', ...globSync('docs/*.md', { cwd: root }).sort()].flatMap((file) =>
  [...read(file).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, language = '']) => ['', 'sh'].includes(language))
    .map(([, , block = '']) => block)
    .filter(
      (block) =>
        /\b(curl|npm run)\b/.test(block) &&
        !/npm (install|start)|0x…|payer\.key|\$JOB|prove finality/.test(block),
    )
    .map((block) => ({ file, block, title: block.trim().split('\n').at(-1) ?? '' })),
)

/** Commands of the table that only look, without and with what may be left out. */
const looks =
  /^millrace (status|plan|verify|chains list|connect|keys list|catalog list|catalog verify|payments \w+|jobs list|devchain show|config)\b/
const commands = [...read('docs/commands.md').matchAll(/^\| `(millrace [^`]+)` \|/gm)]
  .map(([, command = '']) => command)
  .filter((command) => looks.test(command) && !/<|0x…/.test(command))
  .flatMap((command) => [command.replaceAll(/ ?\[[^\]]*\]/g, ''), command.replaceAll(/[[\]]/g, '')])
  .map((command) =>
    command.replace(' --watch', '').replace(/^(millrace catalog verify) service$/, '$1 demo-sun'),
  )

describe('blocks of commands', () => {
  test('are found in README and docs', () => expect(blocks.length).toBeGreaterThan(10))

  test.each(blocks)('$file: $title', async ({ block }) => {
    expect(await typed(block)).toEqual({ code: 0, output: expect.any(String) })
  })
})

describe('docs/commands.md', () => {
  test.each([...new Set(commands)])('%s', async (command) => {
    const ended = await typed(command.replace('millrace', 'npm run -s millrace --'))
    expect(ended).toEqual({ code: 0, output: expect.any(String) })
  })
})

test('a range above the head says where the head is', async () => {
  expect(await typed('npm run -s millrace -- verify --to 100000')).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^head is \d+: blocks \d+ to 100000 are left out$/m),
  })
  expect(await typed('npm run -s millrace -- plan --from 100000')).toMatchObject({
    code: 1,
    output: expect.stringMatching(/--from: block 100000 is not there yet: the newest final block is \d+/),
  })
})

test('a secret is exchanged by plain curl', async () => {
  const made = await fetch(`${program.origin}/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"eventType": "block:created", "destination": {"type": "url", "url": "http://127.0.0.1:9/"}}',
  })
  const { id } = JSON.parse(await made.text())
  const ended = await typed(`curl -X POST localhost:8080/v1/webhooks/${id}/rotate-secret`)
  expect(ended).toMatchObject({ code: 0, output: expect.stringContaining('whsec_') })
  const unresolved = `{"eventType": "block:created", "destination": {"type": "url", "url": "https://nowhere.invalid/"}}`
  expect(await typed(`curl localhost:8080/v1/webhooks --json '${unresolved}'`)).toMatchObject({
    code: 22,
    output: expect.stringContaining('has a host that does not resolve'),
  })
})
