/** One run of the real program over a canned chain, watched from outside. */
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { schemaOf } from '#store/sql.ts'
import type { CannedNode } from './harness.ts'
import { type CpuSeconds, cpuBetween, readUsage, totalCpu } from './processes.ts'
import { chainId, isQueryable, type RunningProgram, withProgram } from './program.ts'
import { readTotals, type Totals } from './totals.ts'

export interface PipelineRun {
  /**
   * From the first block sent until both stores hold every row durably, secondary indexes aside.
   */
  readonly committedSeconds: number
  /** Until indexes are built and attached, /ready says so, and a list has been read by an index. */
  readonly queryableSeconds: number
  /** Used until both stores held everything, and until it was queryable. */
  readonly committed: CpuSeconds
  readonly queryable: CpuSeconds
  /**
   * At their highest, until nothing is left to do: state such as balances is made after the chain
   * is queryable.
   */
  readonly programBytesMax: number
  readonly enginesBytesMax: number
  /** The program and its engines at one moment. */
  readonly bytesMax: number
  readonly totals: Totals
}

/**
 * Looking costs the machine some of what is measured: a statement, and some hundred small files.
 */
const SAMPLE_MS = 50
const MEMORY_SAMPLE_MS = 500
/** CPU below this share of one core for so long: the program has nothing left to do. */
const IDLE_CPU_SHARE = 0.1
const IDLE_MS = 2_000
/** A program that never rests is measured nevertheless. */
const IDLE_LOOKS_MAX = 60

/** @param checks what is verified: `roots` is the default of the program */
export function runPipeline(node: CannedNode, checks: 'roots' | 'links'): Promise<PipelineRun> {
  node.hold()
  return withProgram(node, checks, (program) => watch(program, node))
}

async function watch(program: RunningProgram, node: CannedNode): Promise<PipelineRun> {
  const { pid, connection, until } = program
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
    await until(() => isCommitted(client, node.blocks), SAMPLE_MS)
    const committedSeconds = (performance.now() - begun) / 1000
    const committed = cpuBetween(before, readUsage(pid))
    await until(() => isQueryable(program), SAMPLE_MS)
    const queryableSeconds = (performance.now() - begun) / 1000
    const queryable = cpuBetween(before, readUsage(pid))
    await untilIdle(pid)
    // The memory of the totals is the bench's own.
    const memoryUsed = memory.stop()
    const totals = await readTotals(client, schemaOf(chainId), clickhouse, databaseOf(chainId))
    return {
      committedSeconds,
      queryableSeconds,
      committed,
      queryable,
      ...memoryUsed,
      totals,
    }
  } finally {
    memory.stop()
    await clickhouse.close()
    await client.end()
  }
}

/** Chunks of history that are loaded but not attached count: their rows are durable. */
export async function isCommitted(client: pg.Client, blocks: number): Promise<boolean> {
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

async function untilIdle(pid: number): Promise<void> {
  for (let look = 0, before = readUsage(pid); look < IDLE_LOOKS_MAX; look++) {
    await setTimeout(IDLE_MS)
    const after = readUsage(pid)
    if (totalCpu(cpuBetween(before, after)) < (IDLE_CPU_SHARE * IDLE_MS) / 1000) return
    before = after
  }
}

function watchMemory(pid: number) {
  let [programBytesMax, enginesBytesMax, bytesMax] = [0, 0, 0]
  const look = () => {
    const { program, postgres, clickhouse } = readUsage(pid)
    const engines = postgres.residentBytes + clickhouse.residentBytes
    programBytesMax = Math.max(programBytesMax, program.residentBytes)
    enginesBytesMax = Math.max(enginesBytesMax, engines)
    bytesMax = Math.max(bytesMax, program.residentBytes + engines)
  }
  const timer = setInterval(look, MEMORY_SAMPLE_MS)
  return {
    stop: () => {
      clearInterval(timer)
      return { programBytesMax, enginesBytesMax, bytesMax }
    },
  }
}
