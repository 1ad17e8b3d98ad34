/**
 * Claim: strangers who do all at once what costs most neither hold up the program nor other callers.
 * A guarded program over the dev chain's live traffic; each kind of stranger comes from addresses of
 * its own, and asks again as soon as it has its answer. The limit is the program's own quiet time.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Line, quantile } from './harness.ts'
import { PROGRAM, type RunningProgram, withProgramOf } from './program.ts'
import { strangers } from './strangers/kinds.ts'
import { ADDRESSES, beginPestering, type Told } from './strangers/pester.ts'
import { subscribeHanging } from './strangers/receivers.ts'

const QUIET_SECONDS = 20
const LOADED_SECONDS = 60
/** Strangers are there before anything is measured. */
const SETTLING_MS = 3_000
/** How often the caller whose waits are counted asks: far below what the program can do. */
const SAMPLE_MS = 50
const QUOTA = 1_000_000
const lists = ['blocks', 'transactions', 'transfers', 'receipts', 'tokens'].map(
  (name) => `/v1/${name}?limit=20`,
)

/** `npm run bench strangers` */
export async function benchStrangers(): Promise<Line[]> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  // The key asks for more in a minute than an organization may unless it is told otherwise.
  const accessFile = join(folder, 'access.json')
  writeFileSync(accessFile, JSON.stringify({ quotas: { organization: QUOTA } }))
  const settings = {
    ...{ ACCESS: 'guarded', ACCESS_FILE: accessFile },
    ...{ TRUSTED_PROXIES: '127.0.0.1', WEBHOOKS: 'loopback' },
  }
  return await withProgramOf(settings, async (program) => {
    await program.until(async () => (await fetch(`${program.address}/ready`)).ok, 200)
    const key = makeKey(program, 'data:read')
    const hanging = await subscribeHanging(program, makeKey(program, 'webhooks:read,webhooks:write'))
    const quiet = await watch(program, key, QUIET_SECONDS)
    const endPestering = beginPestering(program.address)
    await setTimeout(SETTLING_MS)
    const loaded = await watch(program, key, LOADED_SECONDS)
    const told = await endPestering()
    hanging.close()
    return linesOf(quiet, loaded, told)
  })
}

interface Waits {
  readonly health: readonly number[]
  readonly lists: readonly number[]
  /** Answers but 200, as `/v1/tokens 503`. */
  readonly failed: readonly string[]
}

/** Milliseconds from when each question was due to its answer. */
async function watch({ address }: RunningProgram, key: string, seconds: number): Promise<Waits> {
  const waits = { health: [] as number[], lists: [] as number[], failed: [] as string[] }
  const asked: Promise<void>[] = []
  const begun = performance.now()
  const ask = async (path: string, due: number, into: number[]) => {
    const answer = await fetch(address + path, { headers: { 'svc-api-key': key } })
    await answer.arrayBuffer()
    if (!answer.ok) waits.failed.push(`${path} ${answer.status}`)
    into.push(performance.now() - due)
  }
  for (let count = 0; count * SAMPLE_MS < seconds * 1_000; count++) {
    const due = begun + count * SAMPLE_MS
    await setTimeout(Math.max(0, due - performance.now()))
    asked.push(ask('/health', due, waits.health))
    asked.push(ask(lists[count % lists.length] ?? '/', due, waits.lists))
  }
  await Promise.all(asked)
  return waits
}

function makeKey({ dataDir }: RunningProgram, scopes: string): string {
  const make = ['keys', 'create', '--name', 'bench', '--scopes', scopes, '--quota', String(QUOTA)]
  const { stdout, stderr, status } = spawnSync(process.execPath, [PROGRAM, ...make], {
    env: { ...process.env, DATA_DIR: dataDir },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`no key was made: ${stderr}`)
  return stdout.trim()
}

function linesOf(quiet: Waits, loaded: Waits, told: Told): Line[] {
  const of = (waits: readonly number[], share: number) => `${Math.round(quantile(waits, share))} ms`
  const both = (waits: readonly number[]) =>
    `p50 ${of(waits, 0.5)}, p99 ${of(waits, 0.99)}, max ${of(waits, 1)}`
  const times = (share: number) => (quantile(loaded.lists, share) / quantile(quiet.lists, share)).toFixed(1)
  const answers = [...told].map(
    ([name, statuses]) =>
      `${name} ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(' ')}`,
  )
  return [
    {
      subject: `\`/health\` under ${strangers.length} kinds of strangers, ${ADDRESSES} addresses each`,
      value: both(loaded.health),
      against: `quiet ${both(quiet.health)}; goal 250 ms`,
    },
    {
      subject: 'first pages of five lists with a key, likewise',
      value: `${both(loaded.lists)}: ${times(0.5)} and ${times(0.99)} × at p50 and p99; ${loaded.failed.length} of ${loaded.lists.length} failed ${[...new Set(loaded.failed)].join(', ')}`,
      against: `quiet ${both(quiet.lists)}; goal three times`,
    },
    { subject: 'answers to the strangers', value: answers.join('; '), against: `${LOADED_SECONDS} s` },
  ]
}
