// Goal: the program as users start it keeps the whole contract while its chain moves, and every
// command of the README works as it stands there. Method: the black box that anybody may point at a
// deployment, and a shell, against `up` with nothing set.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  blockIndexed,
  blockProjected,
  freshDataDir,
  get,
  type RunningMillrace,
  startMillrace,
  until,
} from '../program/support/millrace.ts'
import { type Result, runBlackbox } from './blackbox.ts'

const dataDir = freshDataDir()
let program: RunningMillrace
let results: readonly Result[]

beforeAll(async () => {
  program = await startMillrace({ DATA_DIR: dataDir.path })
  await until(async () => (await get(`${program.origin}/ready`)).status === 200)
  // Enough traffic for several pages of everything.
  await blockIndexed(program, 40)
  await blockProjected(program, 40)
})
afterAll(async () => {
  await program?.stop()
  dataDir.remove()
})

test('every operation passes every check', async () => {
  results = await runBlackbox(program.origin)
  expect(results.filter(({ failures }) => failures.length > 0)).toEqual([])
  expect(results.reduce((sum, { expectations }) => sum + expectations, 0)).toBeGreaterThan(10_000)
})

/** Rules that the traffic of the dev chain cannot show. */
const unshown = new Set([
  // Nobody pays in another token.
  'GET /v1/transfers: include=crossToken added nothing',
  // The tokens of the dev chain have no logos.
  'GET /v1/tokens/{token}/logo: nothing was found by any value',
  // The traffic fills orders.
  'GET /v1/exchange/orders/{orderId}: the order of the example is closed',
  // The catalog of a fresh installation has the demo sellers.
  'GET /v1/services: the list has one page only',
  // Their body is a plan or a message: test/orchestrator.
  'POST /v1/quote: its body has no example',
  'POST /mcp: its body has no example',
  // Jobs are paid for, and known to those alone: test/program/payments/paidJobs.full.test.ts.
  'POST /v1/jobs: its body has no example',
  'POST /v1/jobs/{jobId}/feedback: its body has no example',
  'POST /v1/jobs/{jobId}/retry: its body has no example',
  'GET /v1/jobs/{jobId}: no value of a path parameter was found',
  'GET /v1/jobs/{jobId}/events: no value of a path parameter was found',
  'GET /v1/jobs/{jobId}/feedback: no value of a path parameter was found',
  'GET /v1/jobs/{jobId}/receipt: no value of a path parameter was found',
  // A young chain has few of them.
  'GET /v1/addresses/{address}/activities: the list has one page only',
  'GET /v1/exchange/pairs: the list has one page only',
  'GET /v1/exchange/orders/{orderId}/fills: the list has one page only',
  'GET /v1/exchange/swaps: the list has one page only',
  'GET /v1/fee-amm/mints: the list has one page only',
])

test('and little is left that this chain cannot show', () => {
  const notes = results.flatMap(({ operation, notes: of }) => of.map((note) => `${operation}: ${note}`))
  // How far a walk went, whether rows differ and whether a block came in between depends on the
  // blocks of the moment.
  const lasting = notes.filter(
    (note) => !/rows walked$|: every row |: it changed while it was read$/.test(note),
  )
  // Organizations, keys, subscriptions, sign-in and the service's money have owners: orgs.test.ts and
  // signIn.test.ts of test/api/access, test/webhooks and operatorMoney.test.ts of test/api/operator
  // ask as each of them.
  const isOwned = (note: string) => / \/v1\/(orgs|me|scopes|invitations|auth|webhooks|operator)\b/.test(note)
  expect(lasting.filter((note) => !unshown.has(note) && !isOwned(note))).toEqual([])
})

test('the commands of README.md and docs/', async () => {
  const pages = ['README.md', 'docs/api.md', 'docs/sql.md']
  const text = pages.map((page) => readFileSync(join(import.meta.dirname, '../..', page), 'utf8')).join('\n')
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, block = '']) =>
    language === '' ? block : '',
  )
  const commands = blocks.filter((block) => /^(curl|[A-Z]+=\$\(curl) /m.test(block))
  expect(commands.length).toBeGreaterThan(2)
  for (const block of commands) {
    const script = block
      .replaceAll('localhost:8080', new URL(program.origin).host)
      .replaceAll('curl ', 'curl -sS --fail-with-body --max-time 60 ')
    const { stdout } = await promisify(execFile)('sh', ['-euc', script], { maxBuffer: 64 * 1024 * 1024 })
    expect(stdout.length).toBeGreaterThan(0)
  }
})
