// Goal: one store that hangs, dies or restarts holds up nobody else, and the chain goes on by
// itself when it is back.
// Method: chains of the recording on engines of this file's own, which are stopped, killed and
// started while it indexes. Budget: 40 s on two idle cores.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type EmbeddedClickHouse, startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { type EmbeddedPostgres, startPostgres } from '#local/engines/postgres/postgres.ts'
import type { ChainLimits } from '#program/chain/Chain.ts'
import { silentLogger } from '#telemetry.ts'
import { expectInClickHouse, expectInPostgres } from '../store/support/expectHeld.ts'
import { loadRecordedChain, type RecordedChain } from '../support/recordedChain.ts'
import { type Access, encoded, type IndexedChain, openIndexedChain } from './support/indexedChain.ts'

const wait = { timeout: 120_000, interval: 50 }
/** More than the pool may have would be a leak. */
const CONNECTIONS_MAX = 8

describe('an outage', () => {
  let folder: string
  let postgres: EmbeddedPostgres
  let clickhouse: EmbeddedClickHouse
  let chains = 0

  const startEngine = (port = 0) =>
    startClickHouse({ dataDir: folder, port, readerGrants: [], log: silentLogger })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
    postgres = await startPostgres({ dataDir: folder, log: silentLogger })
    clickhouse = await startEngine()
  })
  afterAll(async () => {
    await clickhouse?.stop()
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function start(recorded: RecordedChain, limits?: Partial<ChainLimits>): Promise<IndexedChain> {
    const access: Access = {
      databaseUrl: postgres.url,
      clickhouseUrl: clickhouse.url,
      clickhouseUsername: clickhouse.username,
      clickhousePassword: clickhouse.password,
      clickhouseRowsFolder: clickhouse.rowsFolder,
      readerUsername: clickhouse.readerUsername,
      readerPassword: clickhouse.readerPassword,
      chainId: 42_431 + chains++,
    }
    const indexed = await openIndexedChain({ access, recorded, batchBlocks: 2, ...(limits && { limits }) })
    onTestFinished(() => indexed.close())
    await indexed.chain.start()
    return indexed
  }

  const covered = (indexed: IndexedChain, store: 'postgres' | 'clickhouse') =>
    indexed.chain.state.coverage(store).at(-1)?.to

  async function expectWhole(indexed: IndexedChain, recorded: RecordedChain): Promise<void> {
    const [all, final] = [
      { from: 0, to: recorded.head },
      { from: 0, to: recorded.finalized },
    ]
    await expect.poll(() => indexed.chain.state.coverage('postgres'), wait).toEqual([all])
    await expect.poll(() => indexed.chain.state.coverage('clickhouse'), wait).toEqual([final])
    await expectInPostgres(indexed, [encoded(recorded, all)])
    await expectInClickHouse(indexed, [encoded(recorded, final)])
  }

  async function connections(indexed: IndexedChain): Promise<number> {
    const { rows } = await indexed.postgres.pool.query<{ n: number }>(
      "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'indexer'",
    )
    return rows[0]?.n ?? 0
  }

  test('of a ClickHouse that hangs does not hold up Postgres, and it catches up when it goes on', async () => {
    const recorded = await loadRecordedChain('tempo-dev-2k', 50, 5)
    const indexed = await start(recorded)
    await expect.poll(() => covered(indexed, 'clickhouse'), wait).toBe(45)
    process.kill(clickhouse.pid, 'SIGSTOP')
    try {
      recorded.advanceTo(90)
      await expect.poll(() => covered(indexed, 'postgres'), wait).toBe(90)
      expect(covered(indexed, 'clickhouse')).toBe(45)
      await expect.poll(() => indexed.chain.headStatus).toEqual({ state: 'running', problem: null })
    } finally {
      process.kill(clickhouse.pid, 'SIGCONT')
    }
    await expectWhole(indexed, recorded)
  })

  test('of a ClickHouse that is gone is told, and what it lacks is written when it is back', async () => {
    const recorded = await loadRecordedChain('tempo-dev-2k', 50, 5)
    const indexed = await start(recorded)
    await expect.poll(() => covered(indexed, 'clickhouse'), wait).toBe(45)
    const port = Number(new URL(clickhouse.url).port)
    await clickhouse.stop()
    recorded.advanceTo(90)
    await expect.poll(() => covered(indexed, 'postgres'), wait).toBe(90)
    await expect.poll(() => indexed.chain.clickhouseStatus.state, wait).toBe('retrying')
    expect(indexed.chain.clickhouseStatus.problem).toContain('ClickHouse')
    clickhouse = await startEngine(port)
    await expectWhole(indexed, recorded)
    await expect.poll(() => indexed.chain.clickhouseStatus).toEqual({ state: 'running', problem: null })
  })

  test('of a ClickHouse killed in the middle of writing loses and doubles nothing', async () => {
    const recorded = await loadRecordedChain('tempo-dev-2k', 122, 5)
    const indexed = await start(recorded)
    for (let kill = 0; kill < 3; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 400))
      const { pid } = clickhouse
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => clickhouse.pid, wait).not.toBe(pid)
    }
    await expectWhole(indexed, recorded)
  })

  test('of Postgres in the middle of a batch passes without a leaked connection', async () => {
    const recorded = await loadRecordedChain('tempo-dev-2k', 122, 5)
    const indexed = await start(recorded)
    for (let restart = 0; restart < 3; restart++) {
      await new Promise((resolve) => setTimeout(resolve, 400))
      const { pid } = postgres
      // Immediate shutdown: as if the machine had lost power, with recovery at the next start.
      process.kill(pid, 'SIGQUIT')
      await expect.poll(() => postgres.pid, wait).not.toBe(pid)
    }
    await expectWhole(indexed, recorded)
    await expect.poll(() => connections(indexed)).toBeLessThanOrEqual(CONNECTIONS_MAX)
    await expect.poll(() => indexed.postgres.pool.waitingCount).toBe(0)
  })

  // Nobody else wants the lease here, so that it is renewed late or taken again, whichever is asked
  // first.
  test('of Postgres for longer than the lease is got over', async () => {
    const recorded = await loadRecordedChain('tempo-dev-2k', 50, 5)
    const indexed = await start(recorded, { leaseMs: 1_500 })
    await expect.poll(() => covered(indexed, 'clickhouse'), wait).toBe(45)
    const backends = await indexed.postgres.pool.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'",
    )
    const pids = [postgres.pid, ...backends.rows.map((row) => row.pid)]
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    recorded.advanceTo(80)
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    for (const pid of pids) process.kill(pid, 'SIGCONT')
    await expectWhole(indexed, recorded)
    await expect.poll(() => indexed.chain.headStatus, wait).toEqual({ state: 'running', problem: null })
  })
})
