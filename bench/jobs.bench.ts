/**
 * Claim: 20 jobs a second of ten calls each end within 300 ms at p99. The rival makes the same calls
 * of the same sellers in the same order by itself, in turns at the same rate; what a job takes longer
 * is what ten durable calls cost. Its calls are free: the chain's time for payments is not the engine's.
 */
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { Egress } from '#egress/Egress.ts'
import { openDataDir } from '#local/engines/dataDir.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { importDocument } from '#orchestrator/importCatalog.ts'
import { Jobs } from '#orchestrator/job/Jobs.ts'
import type { Plan } from '#orchestrator/plan/plan.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import { adoptHistory } from '#rows/jobs/wallet.ts'
import { sealerOf } from '#rows/sealing.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { orderOf, place } from '#test/orchestrator/jobs/support/jobOrder.ts'
import { parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { Spender } from '#wallet/spend/Spender.ts'
import { answerOf } from './answerOf.ts'
import { type Line, median } from './harness.ts'
import { atRate, show, type Waits } from './waits.ts'

const rounds = 5
const loop = { rate: 20, seconds: 5 } as const
/** As many jobs at once as one process holds. */
const crowd = 96

/** Ten calls in four stages: four, three, two and one. */
const stages = [['a', 'b', 'c', 'd'], ['e', 'f', 'g'], ['h', 'i'], ['j']] as const

const plan: Plan = {
  nodes: stages.flatMap((ids, stage) => {
    const dependsOn = [...(stages[stage - 1] ?? [])]
    const input = dependsOn[0] ? { of: `flow://${dependsOn[0]}/output#/value` } : { of: 'a text' }
    return ids.map((id) => ({
      ...{ id, serviceId: 'sellers', method: 'POST' as const, path: `/${id}` },
      ...{ input, dependsOn },
    }))
  }),
}
const free = Object.fromEntries(plan.nodes.map(({ id }) => [id, 0]))

export async function benchJobs(): Promise<Line[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const server = await startPostgres({ dataDir: openDataDir(dataDir).path, log: silentLogger })
  const postgres = openPostgres({ url: server.url, applicationName: 'bench', log: silentLogger })
  const sellers = fork(fileURLToPath(new URL('./jobs/sellers.ts', import.meta.url)))
  const { origin } = await answerOf<{ origin: string }>(sellers)
  const app = appDatabase(postgres)
  try {
    await migrateApp(postgres)
    await importSellers(app, origin)
    await adoptHistory(app, 0)
    return await compare(app, origin)
  } finally {
    sellers.disconnect()
    await postgres.close()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function importSellers(app: AppDatabase, origin: string): Promise<void> {
  const endpoints = plan.nodes.map(({ method, path }) => ({ method, path, description: 'A call.' }))
  const service = { id: 'sellers', name: 'Sellers', description: 'Calls.', serviceUrl: origin, endpoints }
  const { problems } = await importDocument(app, [service], { location: 'bench', sourceId: 'bench' })
  if (problems[0]) throw new Error(`${problems[0].path.join('.')}: ${problems[0].message}`)
}

async function compare(app: AppDatabase, origin: string): Promise<Line[]> {
  const engine = startEngine(app, origin)
  const pool = new Pool(origin, { connections: 96, pipelining: 1 })
  const direct = () => callDirectly(pool)
  try {
    await Promise.all(Array.from({ length: 40 }, () => Promise.all([engine.run(), direct()])))
    const [ours, theirs]: [Waits[], Waits[]] = [[], []]
    const crowds: number[] = []
    for (let round = 0; round < rounds; round++) {
      theirs.push(await atRate(loop, direct))
      ours.push(await atRate(loop, engine.run))
      const begun = performance.now()
      await Promise.all(Array.from({ length: crowd }, () => engine.run()))
      crowds.push((1_000 * crowd) / (performance.now() - begun))
    }
    const more = (median(ours.map(({ p50 }) => p50)) - median(theirs.map(({ p50 }) => p50))) / 10
    return [
      {
        subject: `${loop.rate} jobs/s of ten free calls in four stages, from the order's row to the end`,
        value: `${show(ours)}; ${more.toFixed(1)} ms more a call`,
        against: `the same calls made directly: ${show(theirs)}`,
      },
      {
        subject: `${crowd} such jobs at once`,
        value: `${median(crowds).toFixed(0)} jobs/s`,
        against: '',
      },
    ]
  } finally {
    await pool.close()
    await engine.stop()
  }
}

/** Jobs as the program runs them, with a wallet that has nothing to pay. */
function startEngine(app: AppDatabase, origin: string) {
  const runtime = systemRuntime()
  const [due, changed] = [new CommitBell(), new CommitBell()]
  const egress = new Egress({ isLocalOrigin: (asked) => asked === origin })
  const none = { jobUnits: 0n, dayUnits: 0n, serviceUnits: 0n, payeeUnits: 0n, payerUnits: 0n }
  const buyer = new Spender({
    ...{ app, egress, paying: [], sealer: sealerOf([randomBytes(32)]), limits: none },
    ...{ mayPay: () => true, terms: quoteTerms('1', parTokensDefault), clock: runtime.clock },
    ...{ log: silentLogger, failpoint: () => {} },
  })
  const jobs = new Jobs({ app, buyer, egress, due, changed, runtime, log: silentLogger })
  const end = new AbortController()
  const running = jobs.run(end.signal)
  const ends = watchEnds(app, changed, end.signal)
  return {
    run: async () => {
      const jobId = await place(app, orderOf(plan, free))
      due.ring()
      const state = await ends(jobId)
      if (state !== 'succeeded') throw new Error(`a job ended as ${state}`)
    },
    stop: async () => {
      end.abort()
      await running
    },
  }
}

/** One reader for all jobs that are waited for, as often as something was written. */
function watchEnds(app: AppDatabase, changed: CommitBell, signal: AbortSignal) {
  const waiting = new Map<string, (state: string) => void>()
  const { clock } = systemRuntime()
  const look = async () => {
    while (!signal.aborted) {
      const { rings } = changed
      const ids = [...waiting.keys()]
      const ended = await app
        .selectFrom('app.jobs')
        .select(['id', 'state'])
        .where('id', 'in', ids.length > 0 ? ids : [''.padStart(32, '0')])
        .where('ended_at', 'is not', null)
        .execute()
      for (const { id, state } of ended) {
        waiting.get(id)?.(state)
        waiting.delete(id)
      }
      await changed.wait(clock, 1_000, signal, rings)
    }
  }
  void look()
  return (jobId: string) => new Promise<string>((resolve) => waiting.set(jobId, resolve))
}

async function callDirectly(pool: Pool): Promise<void> {
  for (const ids of stages) {
    await Promise.all(
      ids.map(async (id) => {
        const headers = { 'content-type': 'application/json' }
        const { statusCode, body } = await pool.request({
          ...{ path: `/${id}`, method: 'POST', headers, body: '{"of":"a text"}' },
        })
        if (statusCode !== 200) throw new Error(`a seller answered ${statusCode}`)
        await body.json()
      }),
    )
  }
}
