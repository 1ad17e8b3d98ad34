// Goal: a chain goes on by itself after whatever passes: another writer, a lost lease, databases
// that cut every connection.
// Method: whole chains of the recording in this process on the engines of the run; what disturbs
// them is done by SQL.
import { describe, expect, onTestFinished } from 'vitest'
import { HistoryPrunedError } from '#ingest/rpc/client/errors.ts'
import type { EndpointStatus } from '#ingest/rpc/endpoints/Endpoint.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { expectInClickHouse, expectInPostgres } from '../store/support/expectHeld.ts'
import { fullTest, onceTest } from '../support/breadth.ts'
import { migratedDatabase } from '../support/engines.ts'
import { loadRecordedChain, type RecordedChain } from '../support/recordedChain.ts'
import {
  encoded,
  type IndexedChain,
  type IndexedChainOptions,
  openIndexedChain,
  sourceOf,
} from './support/indexedChain.ts'

const recording = 'tempo-dev-2k'
/** Short enough to wait for, long enough that a busy machine renews it in time. */
const limits = { leaseMs: 6_000 }

/** Whole chains on a machine that may be busy; nothing here measures time. */
async function start(options: IndexedChainOptions): Promise<IndexedChain> {
  const indexed = await openIndexedChain(options)
  onTestFinished(() => indexed.close())
  await indexed.chain.start()
  return indexed
}

async function openAccess() {
  const { drop, ...access } = await migratedDatabase()
  onTestFinished(drop)
  return access
}

/** Both stores hold the chain up to `head`, and ClickHouse what is final of it. */
async function held({ chain }: IndexedChain, recorded: RecordedChain): Promise<void> {
  const wait = { timeout: 120_000, interval: 50 }
  await expect.poll(() => chain.state.coverage('postgres'), wait).toEqual([{ from: 0, to: recorded.head }])
  await expect
    .poll(() => chain.state.coverage('clickhouse'), wait)
    .toEqual([{ from: 0, to: recorded.finalized }])
}

async function expectWhole(indexed: IndexedChain, recorded: RecordedChain): Promise<void> {
  await held(indexed, recorded)
  await expectInPostgres(indexed, [encoded(recorded, { from: 0, to: recorded.head })])
  await expectInClickHouse(indexed, [encoded(recorded, { from: 0, to: recorded.finalized })])
}

describe('a chain', () => {
  onceTest('is indexed from both ends: the head first, history below it', async () => {
    const recorded = await loadRecordedChain(recording, 100, 10)
    const indexed = await start({ access: await openAccess(), recorded })
    await expectWhole(indexed, recorded)
    recorded.advanceTo(122)
    await expectWhole(indexed, recorded)
    await expect.poll(() => indexed.chain.caughtUp('all')).toBe(true)
  })

  onceTest('asks later for history that one node behind its address does not have', async () => {
    const recorded = await loadRecordedChain(recording, 100, 10)
    const system = systemRuntime()
    // Long pauses are over at once.
    const clock: Clock = {
      now: () => system.clock.now(),
      monotonic: () => system.clock.monotonic(),
      sleep: (ms, signal) => system.clock.sleep(ms > 300_000 ? 0 : ms, signal),
    }
    const access = await openAccess()
    const holding = sourceOf(recorded, access.chainId)
    let refusals = 0
    const source: RpcSource = {
      ...holding,
      fetch: async (range, ...rest) => {
        if (range.from < 30 && refusals++ < 3) throw new HistoryPrunedError(range.from, 30)
        return holding.fetch(range, ...rest)
      },
    }
    const indexed = await start({ access, recorded, source, runtime: { ...system, clock } })
    await expectWhole(indexed, recorded)
    expect(refusals).toBeGreaterThan(3)
  })

  onceTest('asks from its start which forks its nodes announce, and marks headers by them', async () => {
    const recorded = await loadRecordedChain(recording, 40, 10)
    const access = await openAccess()
    const told = sourceOf(recorded, access.chainId)
    const fork = { name: 'T99', activationTime: 1_700_000_000, active: true }
    const source: RpcSource = {
      ...told,
      endpoints: () => [{ name: 'one', state: 'healthy', head: 40 } as EndpointStatus],
      callEach: async (method) => (method === 'tempo_forkSchedule' ? [{ schedule: [fork] }] : []),
    }
    const { chain } = await start({ access, recorded, source })
    await expect.poll(() => chain.forks.forks).toMatchObject([{ name: 'T99', isActive: true, toldBy: 1 }])
    expect(chain.profile.unknownForkFrom).toBe(1_700_000_000)
  })

  fullTest(
    'stays ready while a gap is sealed and merged, and is not yet where it starts beside one',
    async () => {
      const recorded = await loadRecordedChain(recording, 20, 5)
      const access = await openAccess()
      const startLooking = async () => {
        const seen = new Map<string, Set<boolean>>()
        const failpoint = (name: string) => {
          seen.set(name, (seen.get(name) ?? new Set()).add(indexed.chain.caughtUp('all')))
        }
        const runtime = { ...systemRuntime(), failpoint }
        const indexed = await openIndexedChain({ access, recorded, runtime, limits: { sealGapBlocks: 30 } })
        let closed: Promise<void> | undefined
        const close = () => (closed ??= indexed.close())
        onTestFinished(close)
        await indexed.chain.start()
        return { indexed, seen, close }
      }
      const merge = ['postgres.chunk.move', 'postgres.chunk.moved']
      const first = await startLooking()
      await expect.poll(() => first.indexed.chain.caughtUp('all')).toBe(true)
      // Blocks that are not final yet are taken back before a seal; those that the chain had at the start are
      // final.
      recorded.advanceTo(30)
      await held(first.indexed, recorded)
      first.seen.clear()
      recorded.advanceTo(80)
      await expectWhole(first.indexed, recorded)
      for (const place of ['head.seal.before', 'head.seal.after', ...merge])
        expect([place, ...(first.seen.get(place) ?? [])]).toEqual([place, true])
      await first.close()
      recorded.advanceTo(122)
      const second = await startLooking()
      await expectWhole(second.indexed, recorded)
      expect([...(second.seen.get('postgres.chunk.move') ?? [])]).toEqual([false])
      await expect.poll(() => second.indexed.chain.caughtUp('all')).toBe(true)
    },
  )

  fullTest('goes on after its lease was taken and given back', async () => {
    const recorded = await loadRecordedChain(recording, 60, 10)
    const indexed = await start({ access: await openAccess(), recorded, limits })
    await held(indexed, recorded)
    await indexed.postgres.pool.query(
      "UPDATE app.leases SET holder = 'other', fence = fence + 1, expires_at = clock_timestamp() + interval '2 s'",
    )
    recorded.advanceTo(90)
    await expectWhole(indexed, recorded)
    const { rows } = await indexed.postgres.pool.query('SELECT holder, fence FROM app.leases')
    expect(rows).toEqual([{ holder: 'test', fence: 3 }])
    await expect.poll(() => indexed.chain.headStatus).toEqual({ state: 'running', problem: null })
  })

  onceTest(
    'is written by one process at a time: the second stands by, reads, and takes over at the end of the lease',
    async () => {
      const access = await openAccess()
      const recorded = await loadRecordedChain(recording, 60, 10)
      const first = await openIndexedChain({ access, recorded, holder: 'first', limits })
      await first.chain.start()
      await held(first, recorded)
      const second = await start({ access, recorded, holder: 'second', limits })
      await held(second, recorded)
      const holder = async () => (await second.postgres.pool.query('SELECT holder FROM app.leases')).rows
      expect(await holder()).toEqual([{ holder: 'first' }])
      recorded.advanceTo(80)
      await held(second, recorded)
      expect(await holder()).toEqual([{ holder: 'first' }])
      await first.close()
      recorded.advanceTo(100)
      await expectWhole(second, recorded)
      expect(await holder()).toEqual([{ holder: 'second' }])
    },
  )

  fullTest('goes on after every connection was cut, again and again, and leaks none', async () => {
    const recorded = await loadRecordedChain(recording, 70, 10)
    const indexed = await start({ access: await openAccess(), recorded, batchBlocks: 2 })
    const { pool } = indexed.postgres
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'indexer' AND datname = current_database() AND pid <> pg_backend_pid()`
    for (let head = 72; head <= 100; head += 2) {
      recorded.advanceTo(head)
      await new Promise((resolve) => setTimeout(resolve, 60))
      await pool.query(cut).catch(() => {})
    }
    await expectWhole(indexed, recorded)
    await expect.poll(() => pool.totalCount).toBeLessThanOrEqual(8)
    await expect.poll(() => pool.waitingCount).toBe(0)
    await expect.poll(() => pool.idleCount === pool.totalCount).toBe(true)
  })
})
