/** One run of the real program over a canned chain: started as users start it, watched from outside. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { type Connection, readConnection } from '#store/embedded/connection.ts'
import { schemaOf } from '#store/postgres.ts'
import type { CannedNode } from './harness.ts'
import { type CpuSeconds, cpuBetween, readUsage } from './processes.ts'
import { readTotals, type Totals } from './totals.ts'

export interface PipelineRun {
  /** From the first block sent until both stores hold every row durably, secondary indexes aside. */
  readonly committedSeconds: number
  /** Until indexes are built and attached, /ready says so, and a list has been read by an index. */
  readonly queryableSeconds: number
  /** Used until both stores held everything, and until it was queryable. */
  readonly committed: CpuSeconds
  readonly queryable: CpuSeconds
  readonly programBytesMax: number
  readonly enginesBytesMax: number
  readonly totals: Totals
}

const chainId = 4217
/** Looking costs the machine some of what is measured: a statement, and some hundred small files. */
const SAMPLE_MS = 50
const MEMORY_SAMPLE_MS = 500

/** @param checks what is verified: `roots` is the default of the program */
export async function runPipeline(node: CannedNode, checks: 'roots' | 'links'): Promise<PipelineRun> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const port = await freePort()
  node.hold()
  const child = spawn(
    process.execPath,
    [...process.execArgv, join(import.meta.dirname, '../main.ts'), 'up'],
    {
      env: {
        ...process.env,
        RPC_URL: node.url,
        DATA_DIR: dataDir,
        VERIFY: checks,
        PORT: String(port),
        LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', process.env['TRACE'] ? 'inherit' : 'ignore', 'inherit'],
    },
  )
  try {
    const address = `http://127.0.0.1:${port}`
    await until(child, async () => (await fetch(`${address}/health`)).ok, 100)
    const connection = readConnection(dataDir)
    if (!connection) throw new Error('the program left no note of its engines')
    return await watch(child, node, address, connection)
  } finally {
    await end(child)
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function watch(
  child: ChildProcess,
  node: CannedNode,
  address: string,
  connection: Connection,
): Promise<PipelineRun> {
  const pid = child.pid ?? 0
  const client = new pg.Client({ connectionString: connection.databaseUrl })
  await client.connect()
  const clickhouse = openClickHouse({
    url: connection.clickhouseUrl,
    username: connection.clickhouseUsername,
    password: connection.clickhousePassword,
  })
  const memory = watchMemory(pid)
  try {
    const before = readUsage(pid)
    const begun = performance.now()
    node.release()
    await until(child, () => isCommitted(client, node.blocks), SAMPLE_MS)
    const committedSeconds = (performance.now() - begun) / 1000
    const committed = cpuBetween(before, readUsage(pid))
    await until(child, () => isQueryable(address), SAMPLE_MS)
    const queryableSeconds = (performance.now() - begun) / 1000
    const queryable = cpuBetween(before, readUsage(pid))
    const totals = await readTotals(client, schemaOf(chainId), clickhouse, databaseOf(chainId))
    return {
      committedSeconds,
      queryableSeconds,
      committed,
      queryable,
      ...memory.stop(),
      totals,
    }
  } finally {
    memory.stop()
    await clickhouse.close()
    await client.end()
  }
}

/** Chunks of history that are loaded but not attached count: their rows are durable. */
async function isCommitted(client: pg.Client, blocks: number): Promise<boolean> {
  const schema = schemaOf(chainId)
  const { rows } = await client.query<{ attached: string; loaded: string; mirrored: string }>(
    `WITH held AS (SELECT store, coalesce(sum(upper(r) - lower(r)), 0) AS blocks
       FROM ${schema}.coverage c LEFT JOIN LATERAL unnest(c.blocks) r ON true WHERE c.projection = 'base' GROUP BY store)
     SELECT (SELECT blocks FROM held WHERE store = 'postgres')::text AS attached,
            (SELECT blocks FROM held WHERE store = 'clickhouse')::text AS mirrored,
            (SELECT coalesce(sum(tip - from_block + 1), 0) FROM ${schema}.chunks)::text AS loaded`,
  )
  const { attached = '0', loaded = '0', mirrored = '0' } = rows[0] ?? {}
  return Number(attached) + Number(loaded) >= blocks && Number(mirrored) >= blocks
}

async function isQueryable(address: string): Promise<boolean> {
  if (!(await fetch(`${address}/ready`)).ok) return false
  const list = await fetch(`${address}/v1/transfers?chainId=${chainId}&limit=10`)
  if (!list.ok) throw new Error(`the list of transfers answered ${list.status}`)
  await list.text()
  return true
}

async function until(child: ChildProcess, isDone: () => Promise<boolean>, everyMs: number): Promise<void> {
  while (!(await isDone().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}`)
    await setTimeout(everyMs)
  }
}

function watchMemory(pid: number) {
  let [programBytesMax, enginesBytesMax] = [0, 0]
  const look = () => {
    const { program, postgres, clickhouse } = readUsage(pid)
    programBytesMax = Math.max(programBytesMax, program.residentBytes)
    enginesBytesMax = Math.max(enginesBytesMax, postgres.residentBytes + clickhouse.residentBytes)
  }
  const timer = setInterval(look, MEMORY_SAMPLE_MS)
  return {
    stop: () => {
      clearInterval(timer)
      return { programBytesMax, enginesBytesMax }
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGINT')
  await exited
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    }),
  )
}
