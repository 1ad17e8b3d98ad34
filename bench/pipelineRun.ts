/** One run of the real program over a canned chain, watched from outside. */
import pg from 'pg'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { schemaOf } from '#store/postgres.ts'
import type { CannedNode } from './harness.ts'
import { type CpuSeconds, cpuBetween, readUsage } from './processes.ts'
import { chainId, isQueryable, type RunningProgram, withProgram } from './program.ts'
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

/** Looking costs the machine some of what is measured: a statement, and some hundred small files. */
const SAMPLE_MS = 50
const MEMORY_SAMPLE_MS = 500

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
