/**
 * Claim: a list of the API costs little more than its query. The rival is the same query in a bare Fastify and pg handler
 * that writes the same items, on the same million transfers in the same run: throughput one against the other, and how long
 * the slowest of a hundred wait at a thousand requests a second while blocks arrive.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDir } from '#store/embedded/dataDir.ts'
import { startPostgres } from '#store/embedded/postgres.ts'
import { readLane } from '#store/lane.ts'
import { openChain, readChainIdentity } from '#store/ledger.ts'
import { compilePage, type Statement } from '#store/lists/compile.ts'
import { blockList, type FilterValue, type List, transactionList, transferList } from '#store/lists/list.ts'
import { migrateApp, migrateChain } from '#store/migrate.ts'
import { createHeadPartitions } from '#store/partitions.ts'
import { openPostgres, type Postgres, quoteIdentifier, schemaOf, toHex } from '#store/postgres.ts'
import { hash } from '../primitives.ts'
import { silentLogger } from '../telemetry.ts'
import { type Line, median } from './harness.ts'
import { generateHead, generateHistory, transfersPerBlock } from './lists/generateChain.ts'
import { loadClosed, loadOpen } from './lists/load.ts'
import { type Rival, type RunningServer, startServer } from './lists/server.ts'

const transfers = Number(process.env['BENCH_TRANSFERS'] ?? 1_000_000)
const chainId = 4217
const filled = ['blocks', 'txs', 'token_transfers', 'raw'] as const
const blocks = transfers / transfersPerBlock
/** As many as the program opens. */
const connectionsMax = 24
const clients = 16
const rounds = 3
const secondsPerRound = 2
const openLoop = { rate: 1_000, seconds: 10, connections: 64 } as const
const limit = 10
const openSubject = `all of these in turn at ${openLoop.rate} requests/s, blocks arriving`

/** BENCH_ONLY takes the lines alone whose subject has these words. */
const isAsked = (subject: string) => subject.includes(process.env['BENCH_ONLY'] ?? '')

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
  await migrateChain(postgres, chainId)
  if (await readChainIdentity(postgres, chainId)) return
  const begun = performance.now()
  const identity = { chainId, genesisHash: hash(`0x${'00'.repeat(32)}`), startBlock: 0 }
  await openChain(postgres, { ...identity, headerRule: 'ethereum' }, blocks, 1n)
  await generateHistory(postgres, schema, { from: 0, to: blocks - 1 }, filled)
  // The newest pages can still change, as they can on a real chain.
  await postgres.pool.query(`UPDATE ${schema}.lanes SET finalized = $1`, [blocks - 10])
  await postgres.transaction((client) =>
    createHeadPartitions(client, schema, { from: blocks, to: 10 * blocks - 1 }),
  )
  process.stderr.write(`${transfers} transfers in ${Math.round((performance.now() - begun) / 1000)} s\n`)
}

async function benchOn(databaseUrl: string, postgres: Postgres): Promise<Line[]> {
  const schema = schemaOf(chainId)
  const lists = await listsOf(postgres, schema)
  const pages: MeasuredPage[] = []
  for (const list of lists) pages.push(firstPage(schema, list), await deepPage(postgres, schema, list))
  const serving = { databaseUrl, chainId, connectionsMax, rivals: pages.map(({ rival }) => rival) }
  const api = await startServer('apiServer', serving)
  const bare = await startServer('bareServer', serving)
  try {
    const lines: Line[] = []
    for (const page of pages) if (page.isDeep) page.path = await deepPath(api.url, page.path)
    for (const [index, page] of pages.entries())
      if (isAsked(page.subject))
        lines.push(await compare(page.subject, { api, bare }, page.path, `/${index}`))
    if (!isAsked(openSubject)) return lines
    const writing = new AbortController()
    const written = appendBlocks(postgres, schema, writing.signal)
    for (const [name, target, paths] of [
      ['the API', api, pages.map((page) => page.path)],
      ['the bare handler', bare, pages.map((_, index) => `/${index}`)],
    ] as const) {
      const { p50, p99, max, perSecond } = await loadOpen({ ...openLoop, origin: target.url, paths })
      lines.push({
        subject: `${openSubject}: ${name}`,
        value: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(0)} ms`,
        against: `${Math.round(perSecond)} requests/s really sent`,
      })
    }
    writing.abort()
    process.stderr.write(`${await written} blocks appended meanwhile\n`)
    return lines
  } finally {
    api.stop()
    bare.stop()
  }
}

interface MeasuredList {
  readonly name: string
  readonly path: string
  readonly list: List
  readonly rows: Rival['rows']
  /** Of the query, as the path has them. */
  readonly filters: Readonly<Record<string, FilterValue>>
}

interface MeasuredPage {
  readonly subject: string
  path: string
  readonly isDeep: boolean
  readonly rival: Rival
}

/** Every list without filters and with each of its filters, once with a hot value and once with a cold one. */
async function listsOf(postgres: Postgres, schema: string): Promise<MeasuredList[]> {
  const commonValue = async (table: string, column: string, which: 'hot' | 'cold') => {
    const found = await postgres.pool.query<{ value: Buffer }>(
      `SELECT ${quoteIdentifier(column)} AS value FROM ${quoteIdentifier(schema)}.${table} GROUP BY 1
       HAVING count(*) >= 2000 ORDER BY count(*) ${which === 'hot' ? 'DESC' : 'ASC'}, 1 LIMIT 1`,
    )
    const value = found.rows[0]?.value
    if (!value) throw new Error(`no ${which} ${column}`)
    return toHex(value)
  }
  const lists: MeasuredList[] = [
    { name: 'blocks', path: '/v1/blocks', list: blockList, rows: 'blocks', filters: {} },
    {
      name: 'transactions',
      path: '/v1/transactions',
      list: transactionList,
      rows: 'transactions',
      filters: {},
    },
    { name: 'receipts', path: '/v1/receipts', list: transactionList, rows: 'receipts', filters: {} },
    { name: 'transfers', path: '/v1/transfers', list: transferList, rows: 'transfers', filters: {} },
  ]
  const filtered = [
    ['transactions', 'sender', 'from'],
    ['transfers', 'address', 'from'],
    ['transfers', 'token', 'token'],
  ] as const
  for (const [name, filter, column] of filtered) {
    const base = lists.find((list) => list.name === name)
    if (!base) throw new Error(`no list ${name}`)
    for (const which of ['hot', 'cold'] as const) {
      const value = await commonValue(base.list.table, column, which)
      lists.push({ ...base, name: `${name} of a ${which} ${filter}`, filters: { [filter]: value } })
    }
  }
  return lists
}

function firstPage(schema: string, list: MeasuredList): MeasuredPage {
  return {
    subject: `${list.name}, first page`,
    path: pathOf(list),
    isDeep: false,
    rival: rivalOf(list, pageStatement(schema, list, { limit })),
  }
}

/** The hundredth, by the cursor that ninety-nine others led to. */
async function deepPage(postgres: Postgres, schema: string, list: MeasuredList): Promise<MeasuredPage> {
  const last = pageStatement(schema, list, { limit: 1, offset: 99 * limit - 1 })
  const found = await postgres.pool.query<Record<string, number>>(last.text, [...last.values])
  const position = list.list.key.map((column) => found.rows[0]?.[column] ?? 0)
  return {
    subject: `${list.name}, 100th page`,
    path: pathOf(list),
    isDeep: true,
    rival: rivalOf(list, pageStatement(schema, list, { limit, position })),
  }
}

const pathOf = ({ path, filters }: MeasuredList): string => {
  const query = new URLSearchParams(Object.entries(filters).map(([name, value]) => [name, String(value)]))
  return `${path}?${query}`
}

function pageStatement(
  schema: string,
  { list, filters }: MeasuredList,
  place: { readonly limit: number; readonly offset?: number; readonly position?: readonly number[] },
): Statement {
  const values = list === transferList ? { ...filters, tip20: true } : filters
  const query = {
    order: 'desc',
    offset: 0,
    filters: values,
    fromBlock: 0,
    toBlock: blocks - 1,
    ...place,
  } as const
  return compilePage(list, query, 'postgres', `${quoteIdentifier(schema)}.${list.table}`).bind(query)
}

const rivalOf = ({ rows }: MeasuredList, { text, values }: Statement): Rival => ({
  rows,
  text,
  values: values.map((value) => (value instanceof Uint8Array ? toHex(value) : Number(value))),
})

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
async function compare(
  subject: string,
  servers: { readonly api: RunningServer; readonly bare: RunningServer },
  path: string,
  barePath: string,
): Promise<Line> {
  const measured = { api: [] as number[], bare: [] as number[] }
  const cpu = { api: [] as number[], bare: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const name of ['api', 'bare'] as const) {
      const server = servers[name]
      const before = await server.cpuSeconds()
      const paths = name === 'api' ? unlike(path) : [barePath]
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

/** The same page under so many URLs that no two requests under way are alike: the API would read once for both. */
const unlike = (path: string): string[] =>
  Array.from({ length: 4 * clients }, (_, minBlock) => `${path}&minBlock=${minBlock}`)

/** Two blocks a second, as the chain has them, until told to stop. */
async function appendBlocks(postgres: Postgres, schema: string, signal: AbortSignal): Promise<number> {
  let number = ((await readLane(postgres.pool, schema))?.tip ?? 0) + 1
  let appended = 0
  while (!signal.aborted) {
    await generateHead(postgres, schema, { from: number, to: number }, filled)
    number++
    appended++
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  return appended
}
