// Goal: whatever instruction the program dies at, the next start goes on and nothing is lost,
// doubled or left behind.
// Method: a process that kills itself at named places while it indexes a node, started again and
// again on the same stores; then a whole run, and every table and block of both stores compared
// with the node. Also kills at random moments.
// Invariant: I4.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { verifyRange } from '#store/compare/verify.ts'
import { openPostgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import type { Checks } from '#transform/profile.ts'
import { type Replay, startReplay } from '../chain/startReplay.ts'
import { fullTest, share } from '../support/breadth.ts'
import { type FreshDatabase, freshDatabase } from '../support/engines.ts'
import { seedOf } from '../support/seed.ts'
import { devProfile } from '../transform/ranges.ts'
import type { IndexerTask } from './support/crashingIndexer.ts'

const NODE_CHAIN_ID = 42_431
/** The chain has 123 blocks: the head lane and history get about half each. */
const FINALITY = 60

/** In an order in which each is reached by what the deaths before it have left to do. */
const failpoints = {
  Postgres: [
    'postgres.append.rows:1',
    'postgres.append.commit:1',
    'postgres.append.done:1',
    'postgres.chunk.rows:1',
    'postgres.chunk.commit:1',
    'history.append.after:1',
    'history.attach.before:1',
    'postgres.chunk.attach:1',
    'postgres.chunk.attached:1',
  ],
  ClickHouse: [
    'clickhouse.journal:1',
    'clickhouse.inserted:1',
    'clickhouse.readback:1',
    'clickhouse.written:1',
  ],
} as const

describe('a program that dies', () => {
  let replay: Replay
  beforeAll(async () => {
    replay = await startReplay('--shape', 'tempo', '--finality', String(FINALITY))
  })
  afterAll(() => replay.close())

  const taskOf = (access: FreshDatabase, failpoint: string, checks: Checks = 'roots'): IndexerTask => ({
    databaseUrl: access.databaseUrl,
    clickhouseUrl: access.clickhouseUrl,
    clickhouseUsername: access.clickhouseUsername,
    clickhousePassword: access.clickhousePassword,
    chainId: access.chainId,
    nodeUrl: replay.url,
    nodeChainId: NODE_CHAIN_ID,
    checks,
    failpoint,
  })

  test.each(Object.entries(failpoints))(
    'at any named place of writing to %s goes on as if it had not',
    async (_, names) => {
      const access = await freshDatabase()
      const ends: string[] = []
      const places = share(names, 1)
      for (const failpoint of places) ends.push(`${failpoint} ${await run(taskOf(access, failpoint))}`)
      expect(ends).toEqual(places.map((failpoint) => `${failpoint} SIGKILL`))
      expect(await run(taskOf(access, ''))).toBe('done')
      expect(await differences(access, replay.url, 'roots')).toEqual([])
    },
  )

  fullTest('at ten random moments loses and doubles nothing', async () => {
    const access = await freshDatabase()
    const seed = seedOf(104_729)
    for (let kill = 0; kill < 10; kill++) await run(taskOf(access, ''), 200 + ((seed * (kill + 1)) % 1_500))
    expect(await run(taskOf(access, '')), `SEED=${seed}`).toBe('done')
    expect(await differences(access, replay.url, 'roots'), `SEED=${seed}`).toEqual([])
  })

  fullTest(
    'in the middle of a reorganization twenty blocks deep takes back what was orphaned, once',
    async () => {
      const access = await freshDatabase()
      const growing = await startReplay(
        '--shape',
        'tempo',
        '--finality',
        '60',
        '--repeat',
        '2',
        '--head',
        '150',
      )
      try {
        const task = (failpoint: string) => ({ ...taskOf(access, failpoint, 'links'), nodeUrl: growing.url })
        expect(await run(task(''))).toBe('done')
        await growing.control('replay_reorg', 20)
        await growing.control('replay_advance', 3)
        for (const failpoint of ['postgres.revert.rows:1', 'postgres.revert.commit:1', 'head.revert.after:1'])
          expect(`${failpoint} ${await run(task(failpoint))}`).toBe(`${failpoint} SIGKILL`)
        expect(await run(task(''))).toBe('done')
        expect(await differences(access, growing.url, 'links')).toEqual([])
      } finally {
        await growing.close()
      }
    },
  )
})

/** How the child ended: caught up, or killed by itself or, after `killMs`, by us. */
async function run(task: IndexerTask, killMs?: number): Promise<'done' | 'SIGKILL' | string> {
  const child = spawn(process.execPath, ['test/pipeline/support/crashingIndexer.ts'], {
    env: { ...process.env, INDEXER_TASK: JSON.stringify(task) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const timer = killMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killMs)
  const [code, signal] = await once(child, 'exit')
  clearTimeout(timer)
  return code === 0 ? 'done' : String(signal ?? `exit code ${code}`)
}

/**
 * Every table and block in which a store differs from the node, and what is not covered up to
 * finality.
 */
async function differences(access: FreshDatabase, nodeUrl: string, checks: Checks): Promise<unknown[]> {
  const postgres = openPostgres({ url: access.databaseUrl, applicationName: 'test', log: silentLogger })
  const clickhouse = openClickHouse({
    url: access.clickhouseUrl,
    username: access.clickhouseUsername,
    password: access.clickhousePassword,
  })
  const runtime = systemRuntime()
  const source = createSource({
    chainId: NODE_CHAIN_ID,
    urls: [nodeUrl],
    finalityDepth: 0,
    runtime,
    log: silentLogger,
  })
  try {
    const { head, finalized } = await source.head()
    const report = await verifyRange(
      {
        source,
        decode: async (raw) =>
          structuredClone(decodeRange({ ...devProfile, checks }, raw.bytes, raw.range).batch),
        postgres,
        clickhouse,
        schema: schemaOf(access.chainId),
        database: databaseOf(access.chainId),
      },
      { from: 0, to: head.number },
    )
    const missing = report.uncovered.clickhouse.filter((range) => range.from <= finalized)
    return [...report.differences, ...report.uncovered.postgres, ...missing]
  } finally {
    await source.close()
    await clickhouse.close()
    await postgres.close()
    await access.drop()
  }
}
