// Goal: an engine or a node that hangs, dies or drops its connections costs no block and no memory,
// and the program goes on by itself within bounds (ING-08, ING-10).
// Method: the whole program on embedded engines, following a chain that grows; signals to the
// processes of the engines. The bounds are of liveness and memory; they are many times what an idle
// machine takes.
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { databaseUrlOf, type GrowingProgram, startGrowing } from '../support/growingProgram.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 })

const RECOVERY_MS = 60_000
const CATCH_UP_MS = 60_000
const STOPPED_MS = 60_000
const RSS_GROWTH_MAX = 300 * 1024 * 1024
const WAITING_BLOCKS_MAX = 512
/** The pool that writes and the one that reads, with some to spare for those just being closed. */
const CONNECTIONS_MAX = 48

describe('a program whose machine fails it', () => {
  let running: GrowingProgram

  beforeAll(async () => {
    running = await startGrowing()
  })
  afterAll(() => running?.close())

  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const report = (what: string, facts: object) => process.stdout.write(`${what}: ${JSON.stringify(facts)}\n`)

  async function connections(): Promise<number> {
    const client = new Client({ connectionString: databaseUrlOf(running.dataDir) })
    await client.connect()
    try {
      const { rows } = await client.query<{ n: string }>(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'millrace'",
      )
      return Number(rows[0]?.n)
    } finally {
      await client.end()
    }
  }

  test('goes on after an immediate shutdown of Postgres, three times, without a leaked connection', async () => {
    for (let restart = 0; restart < 3; restart++) {
      process.kill(running.enginePids('postgres')[0] ?? 0, 'SIGQUIT')
      await sleep(500)
      report('Postgres restarted', { recoveryMs: await running.recovery(RECOVERY_MS) })
    }
    expect(await connections()).toBeLessThanOrEqual(CONNECTIONS_MAX)
    await running.expectNothingLost()
  })

  test('goes on after every one of its connections was terminated', async () => {
    const client = new Client({ connectionString: databaseUrlOf(running.dataDir) })
    await client.connect()
    for (let round = 0; round < 5; round++) {
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'millrace'",
      )
      await sleep(200)
    }
    await client.end()
    report('connections terminated', { recoveryMs: await running.recovery(RECOVERY_MS) })
    expect(await connections()).toBeLessThanOrEqual(CONNECTIONS_MAX)
  })

  test('goes on after ClickHouse was killed, three times', async () => {
    for (let kill = 0; kill < 3; kill++) {
      process.kill(running.enginePids('clickhouse')[0] ?? 0, 'SIGKILL')
      await sleep(500)
      report('ClickHouse killed', { recoveryMs: await running.recovery(RECOVERY_MS) })
    }
    await running.expectNothingLost()
  })

  test.each(['clickhouse', 'postgres', 'node'] as const)(
    'a minute without an answer of the %s is caught up, in bounded memory',
    async (what) => {
      const pids = what === 'node' ? [running.replay.pid] : running.enginePids(what)
      const before = running.residentBytes()
      let largest = before
      for (const pid of pids) process.kill(pid, 'SIGSTOP')
      try {
        for (let second = 0; second < STOPPED_MS / 1_000; second++) {
          await sleep(1_000)
          largest = Math.max(largest, running.residentBytes())
        }
      } finally {
        for (const pid of pids) process.kill(pid, 'SIGCONT')
      }
      const waitingBlocks = await running.waiting()
      const recoveryMs = await running.recovery(CATCH_UP_MS)
      const growth = Math.max(largest, running.residentBytes()) - before
      report(`${what} stopped`, { recoveryMs, waitingBlocks, growthMB: Math.round(growth / 1e6) })
      expect(waitingBlocks).toBeLessThanOrEqual(WAITING_BLOCKS_MAX)
      expect(growth).toBeLessThanOrEqual(RSS_GROWTH_MAX)
      await running.expectNothingLost()
    },
  )
})
