/**
 * Claim: a list of the API costs little more than its query. The rival is the same query in a bare
 * Fastify and pg handler that writes the same items, on the same million transfers in the same run:
 * throughput one against the other, and how long the slowest of a hundred wait at a thousand
 * requests a second while blocks arrive.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDir } from '#local/engines/dataDir.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import { hash } from '#primitives.ts'
import { postgresLeases } from '#rows/leases.ts'
import { readLane } from '#store/ledger/lane.ts'
import { openChain, readChainIdentity } from '#store/ledger/ledger.ts'
import { createHeadPartitions } from '#store/ledger/partitions.ts'
import { migrateApp, migrateChain } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { type Line, median } from './harness.ts'
import { generateHead, generateHistory, transfersPerBlock } from './lists/generateChain.ts'
import { generateTokens, moveFollowers } from './lists/generateTokens.ts'
import { loadClosed, loadOpen } from './lists/load.ts'
import { type MeasuredPage, measuredPages } from './lists/measuredPages.ts'
import { measureOverload } from './lists/overload.ts'
import { type RunningServer, startServer } from './lists/server.ts'

const transfers = Number(process.env['BENCH_TRANSFERS'] ?? 1_000_000)
const chainId = 4217
const filled = ['blocks', 'txs', 'logs', 'token_transfers', 'raw'] as const
const blocks = transfers / transfersPerBlock
/** As many as the program opens. */
const connectionsMax = 24
const clients = 16
const rounds = 3
const secondsPerRound = 1
const openLoop = { rate: 1_000, seconds: 10, connections: 64 } as const
const openSubject = `all of these in turn at ${openLoop.rate} requests/s, blocks arriving`
/** A page alone at that rate, as a load tool asks: under one URL. */
const alone = { ...openLoop, seconds: 5 } as const
const OVERLOAD = 'overload'
const aloneSubject = (subject: string) => `${subject}, alone at ${alone.rate} requests/s, blocks arriving`

type OpenLoop = Pick<Parameters<typeof loadOpen>[0], 'rate' | 'seconds' | 'connections'>

interface Servers {
  readonly api: RunningServer
  readonly bare: RunningServer
}

/** BENCH_ONLY takes the lines alone whose subject has these words. */
const isAsked = (subject: string) => subject.includes(process.env['BENCH_ONLY'] ?? '')

/** Whether a line asks for the page; its hundredth takes a walk of a hundred to get to. */
const isNeeded = ({ subject }: MeasuredPage) =>
  [subject, aloneSubject(subject), openSubject, OVERLOAD].some(isAsked)

/** BENCH_DATA_DIR keeps the data for the next run. */
export async function benchLists(): Promise<Line[]> {
  const kept = process.env['BENCH_DATA_DIR']
  const dataDir = kept ?? mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const server = await startPostgres({ dataDir: openDataDir(dataDir).path, log: silentLogger })
  const postgres = openPostgres({ url: server.url, applicationName: 'bench', log: silentLogger })
  try {
    await prepareChain(postgres, schemaOf(chainId))
    return await benchOn(server.url, postgres)
  } finally {
    await postgres.close()
    await server.stop()
    if (kept === undefined) rmSync(dataDir, { recursive: true, force: true })
  }
}

async function prepareChain(postgres: Postgres, schema: string): Promise<void> {
  await migrateApp(postgres)
  await migrateChain(postgres, chainId, { leases: postgresLeases(postgres) })
  if (await readChainIdentity(postgres, chainId)) return
  const begun = performance.now()
  const identity = { chainId, genesisHash: hash(`0x${'00'.repeat(32)}`), startBlock: 0 }
  await openChain(postgres, { ...identity, headerRule: 'ethereum' }, blocks, 1n)
  await generateHistory(postgres, schema, { from: 0, to: blocks - 1 }, filled)
  await generateTokens(postgres, schema, blocks - 1)
  // The newest pages can still change, as they can on a real chain.
  await postgres.pool.query(`UPDATE ${schema}.lanes SET finalized = $1`, [blocks - 10])
  await postgres.transaction((client) =>
    createHeadPartitions(client, schema, { from: blocks, to: 10 * blocks - 1 }),
  )
  process.stderr.write(`${transfers} transfers in ${Math.round((performance.now() - begun) / 1000)} s\n`)
}

async function benchOn(databaseUrl: string, postgres: Postgres): Promise<Line[]> {
  const schema = schemaOf(chainId)
  const pages = await measuredPages(postgres, schema, blocks)
  const serving = { databaseUrl, chainId, connectionsMax, rivals: pages.map(({ rival }) => rival) }
  const api = await startServer('apiServer', serving)
  const bare = await startServer('bareServer', serving)
  try {
    const lines: Line[] = []
    for (const page of pages)
      if (page.isDeep && isNeeded(page)) page.path = await deepPath(api.url, page.path)
    for (const [index, page] of pages.entries())
      if (isAsked(page.subject))
        lines.push(await compare(page.subject, { api, bare }, page.path, `/${index}`))
    const writing = new AbortController()
    const written = appendBlocks(postgres, schema, writing.signal)
    lines.push(...(await openLines(pages, { api, bare })))
    writing.abort()
    process.stderr.write(`${await written} blocks appended meanwhile\n`)
    return lines
  } finally {
    api.stop()
    bare.stop()
  }
}

/** Each page alone, then all of them in turn. */
async function openLines(pages: readonly MeasuredPage[], { api, bare }: Servers): Promise<Line[]> {
  const lines: Line[] = []
  const take = async (subject: string, loop: OpenLoop, { url }: RunningServer, paths: readonly string[]) => {
    if (isAsked(subject)) lines.push(await openLine(subject, { ...loop, origin: url, paths }))
  }
  for (const [index, { subject, path }] of pages.entries()) {
    await take(`${aloneSubject(subject)}: the API`, alone, api, [path])
    await take(`${aloneSubject(subject)}: the bare handler`, alone, bare, [`/${index}`])
  }
  const paths = pages.map(({ path }) => path)
  await take(`${openSubject}: the API`, openLoop, api, paths)
  await take(`${openSubject}: the API, no two requests alike`, openLoop, api, unlike(paths))
  const rivals = pages.map((_, index) => `/${index}`)
  await take(`${openSubject}: the bare handler`, openLoop, bare, rivals)
  if (isAsked(OVERLOAD)) lines.push(await measureOverload('the API', api, unlike(paths)))
  return lines
}

async function openLine(subject: string, load: Parameters<typeof loadOpen>[0]): Promise<Line> {
  const { p50, p99, max, perSecond } = await loadOpen(load)
  const line = {
    subject,
    value: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(0)} ms`,
    against: `${Math.round(perSecond)} requests/s really sent`,
  }
  process.stderr.write(`${line.subject}: ${line.value}; ${line.against}\n`)
  return line
}

async function deepPath(origin: string, path: string): Promise<string> {
  const url = new URL(path, origin)
  for (let page = 1; page < 100; page++) {
    const answer: unknown = await (await fetch(url)).json()
    url.searchParams.set('cursor', nextCursorOf(answer))
  }
  return url.pathname + url.search
}

function nextCursorOf(answer: unknown): string {
  if (typeof answer === 'object' && answer !== null && 'nextCursor' in answer)
    if (typeof answer.nextCursor === 'string') return answer.nextCursor
  throw new Error(`a list ended too early: ${JSON.stringify(answer)}`)
}

/** One against the other in turn, so that a machine that becomes slower does so for both. */
async function compare(subject: string, servers: Servers, path: string, barePath: string): Promise<Line> {
  const measured = { api: [] as number[], bare: [] as number[] }
  const cpu = { api: [] as number[], bare: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const name of ['api', 'bare'] as const) {
      const server = servers[name]
      const before = await server.cpuSeconds()
      const paths = name === 'api' ? unlike([path]) : [barePath]
      const load = { origin: server.url, paths, connections: clients }
      const { perSecond, requests } = await loadClosed({ ...load, seconds: secondsPerRound })
      measured[name].push(perSecond)
      cpu[name].push(((await server.cpuSeconds()) - before) / requests)
    }
  const [api, bare] = [median(measured.api), median(measured.bare)]
  const micros = (seconds: readonly number[]) => `${Math.round(median(seconds) * 1e6)} µs`
  const line = {
    subject,
    value: `${Math.round(api)} requests/s, ${micros(cpu.api)} CPU each`,
    against: `${Math.round((100 * api) / bare)} % of bare: ${Math.round(bare)} requests/s, ${micros(cpu.bare)}`,
  }
  process.stderr.write(`${line.subject}: ${line.value}; ${line.against}\n`)
  return line
}

/**
 * The same pages under so many URLs that no two requests under way are alike: the API would read
 * once for both.
 */
const unlike = (paths: readonly string[]): string[] =>
  Array.from({ length: 4 * openLoop.connections }, (_, minBlock) =>
    paths.map((path) => `${path}&minBlock=${minBlock}`),
  ).flat()

/** Two blocks a second, as the chain has them, until told to stop. */
async function appendBlocks(postgres: Postgres, schema: string, signal: AbortSignal): Promise<number> {
  let number = ((await readLane(postgres.pool, schema))?.tip ?? 0) + 1
  let appended = 0
  while (!signal.aborted) {
    await generateHead(postgres, schema, { from: number, to: number }, filled)
    await moveFollowers(postgres, schema, number)
    number++
    appended++
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  return appended
}
