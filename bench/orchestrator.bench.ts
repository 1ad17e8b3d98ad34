/**
 * Claims: a search of 30,000 endpoints answers within 50 ms at p99, and costs little more than its
 * statement; 50 quotes a second of five calls each are answered within 150 ms at p99. The rival of
 * the search is its one statement in a bare driver, in turns at the same rate.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { request } from 'undici'
import { createServer, listen } from '#api/server.ts'
import { Egress } from '#egress/Egress.ts'
import { type Access, anonymous, openAccess } from '#http/request/access.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import { openDataDir } from '#local/engines/dataDir.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { importDocument } from '#orchestrator/importCatalog.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import { readQuestion } from '#orchestrator/search/question/question.ts'
import { appDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres, prepareReading } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { answerOf } from './answerOf.ts'
import { type Line, median } from './harness.ts'
import { generateQueries, generateServices } from './orchestrator/generateCatalog.ts'
import { atRate, show, type Waits } from './waits.ts'

const endpoints = Number(process.env['BENCH_ENDPOINTS'] ?? 30_000)
const rounds = 3
const searchLoop = { rate: 40, seconds: 6 } as const
const quoteLoop = { rate: 50, seconds: 6 } as const

/** BENCH_DATA_DIR keeps the catalog for the next run. */
export async function benchOrchestrator(): Promise<Line[]> {
  const kept = process.env['BENCH_DATA_DIR']
  const dataDir = kept ?? mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const server = await startPostgres({ dataDir: openDataDir(dataDir).path, log: silentLogger })
  const postgres = openPostgres({ url: server.url, applicationName: 'bench', log: silentLogger })
  const sellers = fork(fileURLToPath(new URL('./orchestrator/sellers.ts', import.meta.url)))
  const { origin } = await answerOf<{ origin: string }>(sellers)
  try {
    const lines = await importLines(postgres, origin)
    const api = await startApi(postgres, origin)
    try {
      lines.push(...(await searchLines(api.url, server.url)), await quoteLine(api.url))
    } finally {
      await api.close()
    }
    return lines
  } finally {
    sellers.disconnect()
    await postgres.close()
    await server.stop()
    if (kept === undefined) rmSync(dataDir, { recursive: true, force: true })
  }
}

async function importLines(postgres: Postgres, origin: string): Promise<Line[]> {
  await migrateApp(postgres)
  const { rows } = await postgres.pool.query('SELECT FROM app.catalog_entries LIMIT 1')
  if (rows.length > 0) return []
  const services = generateServices(endpoints, origin)
  const begun = performance.now()
  const source = { location: 'bench', sourceId: 'bench' }
  const { problems } = await importDocument(appDatabase(postgres), services, source)
  if (problems[0]) throw new Error(`${problems[0].path.join('.')}: ${problems[0].message}`)
  await postgres.pool.query('VACUUM ANALYZE')
  const seconds = (performance.now() - begun) / 1_000
  return [{ subject: `import of ${endpoints} endpoints`, value: `${seconds.toFixed(1)} s`, against: '' }]
}

/** Each request is another caller's: what one may ask for in a minute is not what is measured. */
function manyCallers(): Access {
  let count = 0
  return { ...openAccess, identify: () => ({ ...anonymous, id: `caller-${count++}` }) }
}

async function startApi(postgres: Postgres, sellers: string) {
  const { clock } = systemRuntime()
  const app = appDatabase({ pool: postgres.reads })
  const egress = new Egress({ isLocalOrigin: (origin) => origin === sellers })
  const terms = quoteTerms('1.05', parTokensDefault)
  const server = await createServer({
    endpoints: orchestratorEndpoints,
    services: {
      app,
      rows: appDatabase(postgres),
      liveness: null,
      priors: null,
      jobs: null,
      quotes: new Quotes({ app, egress, clock, allowance: async () => {}, terms }),
    },
    access: manyCallers(),
    chains: [],
    cursorKeys: new CursorKeys([new Uint8Array(32)]),
    clock,
    log: silentLogger,
    shutdown: new AbortController().signal,
  })
  const url = await listen(server, '127.0.0.1', 0)
  return { url, close: () => server.close() }
}

async function searchLines(api: string, databaseUrl: string): Promise<Line[]> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 8, onConnect: prepareReading })
  const queries = generateQueries(rounds * searchLoop.rate * searchLoop.seconds)
  const search = async (query: string) => {
    const { statusCode, body } = await request(`${api}/v1/services/search?query=${encodeURIComponent(query)}`)
    const text = await body.text()
    if (statusCode !== 200) throw new Error(text)
  }
  const bare = async (query: string) => {
    const asked = readQuestion(query)
      .map(({ word }) => `'${word}'`)
      .join(' | ')
    await pool.query({ name: 'bare', text: bareStatement, values: [asked] })
  }
  await Promise.all(queries.slice(0, 16).map(search))
  await Promise.all(queries.slice(0, 16).map(bare))
  const taken = { search: [] as Waits[], bare: [] as Waits[] }
  for (let round = 0; round < rounds; round++) {
    const count = searchLoop.rate * searchLoop.seconds
    const asked = queries.slice(round * count, (round + 1) * count)
    taken.search.push(await atRate(searchLoop, (index) => search(asked[index] ?? '')))
    taken.bare.push(await atRate(searchLoop, (index) => bare(asked[index] ?? '')))
  }
  await pool.end()
  return [
    {
      subject: `search of ${endpoints} endpoints, ${searchLoop.rate}/s`,
      value: `${show(taken.search)}: ${ratio(taken.search, taken.bare)} ×`,
      against: `its statement in a bare driver: ${show(taken.bare)}`,
    },
  ]
}

const bareStatement = `
  SELECT service_id, ordinal, document FROM app.catalog_endpoints WHERE is_shown AND terms @@ $1::tsquery
  ORDER BY ts_rank(terms, $1::tsquery) DESC, endpoint LIMIT 200`

/** Plans of five calls in three stages, no two alike, so that none gets the quote of another. */
async function quoteLine(api: string): Promise<Line> {
  const services = generateServices(endpoints, 'http://x')
  const calls = services.flatMap((service) => {
    const { id, endpoints: listed } = Object(service)
    return [{ serviceId: String(id), method: 'POST', path: String(listed[0].path) }]
  })
  const quote = async (index: number) => {
    const node = (id: string, at: number, dependsOn: readonly string[]) => ({
      ...calls[(index * 5 + at) % calls.length],
      ...{ id, input: { q: `${index}` }, dependsOn },
    })
    const nodes = [
      node('a', 0, []),
      node('b', 1, []),
      node('c', 2, ['a']),
      node('d', 3, ['a', 'b']),
      node('e', 4, ['c', 'd']),
    ]
    const headers = { 'content-type': 'application/json' }
    const asked = { method: 'POST', headers, body: JSON.stringify({ nodes }) } as const
    const { statusCode, body } = await request(`${api}/v1/quote`, asked)
    const text = await body.text()
    if (statusCode !== 200) throw new Error(text)
  }
  await Promise.all(Array.from({ length: 16 }, (_, index) => quote(1_000_000 + index)))
  const waits: Waits[] = []
  for (let round = 0; round < rounds; round++)
    waits.push(await atRate(quoteLoop, (index) => quote(round * 10_000 + index)))
  const subject = `${quoteLoop.rate} quotes/s of five calls in three stages`
  return { subject, value: show(waits), against: 'sellers that answer at once' }
}

const ratio = (ours: readonly Waits[], theirs: readonly Waits[]): string =>
  (median(ours.map(({ p50 }) => p50)) / median(theirs.map(({ p50 }) => p50))).toFixed(1)
