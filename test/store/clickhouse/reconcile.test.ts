// Goal: ClickHouse ends up holding what Postgres says, whatever became of either: wiped, swapped,
// restored from an older copy, parts lost, rows doubled.
// Method: the recorded chain in both engines; then one of them is really dropped, copied back or
// changed by SQL, the next writer opens the lane, and every block's digest must be the encoder's.
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished } from 'vitest'
import { hash } from '#primitives.ts'
import { postgresLeases } from '#rows/leases.ts'
import { ForeignStoreError, readStoreIdentity } from '#store/clickhouse/adopt.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { openChain, readLedgerIdentity, renewLedger } from '#store/ledger/ledger.ts'
import { migrateChain } from '#store/maintain/migrate.ts'
import { schemaOf } from '#store/sql.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { fullTest, onceTest } from '../../support/breadth.ts'
import { freshDatabase } from '../../support/engines.ts'
import { type ChainStore, openChainStore, recordedBatches, writeAll } from '../support/chainStore.ts'
import { ClickHouseDamage } from '../support/damage.ts'
import { expectInClickHouse, expectInPostgres } from '../support/expectHeld.ts'
import { withExec } from '../support/withExec.ts'

let batches: EncodedBatch[]
beforeAll(() => {
  batches = recordedBatches('tempo-dev-2k', 10).slice(4, 8)
})

async function openWritten(count = batches.length): Promise<ChainStore> {
  const store = await openChainStore({ headFrom: 40 })
  onTestFinished(() => store.close())
  await append(store, batches.slice(0, count))
  return store
}

async function append(store: ChainStore, rest: readonly EncodedBatch[]): Promise<void> {
  for (const batch of rest) await store.head.append(batch)
  await store.head.finalize(rest.at(-1)?.range.to ?? 0)
  await writeAll(store)
}

async function reopen(store: ChainStore): Promise<ChainStore> {
  const next = await openChainStore({ headFrom: 40, beside: store, fence: store.fence + 1n, cacheBytes: 0 })
  onTestFinished(() => next.close())
  return next
}

const journalOf = async (store: ChainStore) =>
  (await store.postgres.pool.query(`SELECT * FROM ${store.schema}.ch_batches ORDER BY from_block`)).rows

describe('a ClickHouse that lost what it had', () => {
  onceTest('a store that agrees is left as it is', async () => {
    const store = await openWritten()
    const before = await journalOf(store)
    const next = await reopen(store)
    await writeAll(next)
    expect(await journalOf(next)).toEqual(before)
    expect((await readLedgerIdentity(next.postgres, next.schema)).ledgerId).toBe(store.ledgerId)
  })

  onceTest('a wiped ClickHouse is made anew from the archive, without a node', async () => {
    const store = await openWritten()
    await store.clickhouse.command({ query: `DROP DATABASE ${store.database} SYNC` })
    const next = await reopen(store)
    await writeAll(next)
    await expectInClickHouse(next, batches)
  })

  fullTest('rows that ClickHouse lost are noticed at the next start and made anew', async () => {
    const store = await openWritten()
    await new ClickHouseDamage(store).drop('logs', 55)
    const next = await reopen(store)
    await writeAll(next)
    await expectInClickHouse(next, batches)
    expect((await readLedgerIdentity(next.postgres, next.schema)).ledgerId).toBe(store.ledgerId)
  })

  fullTest('a doubled row is noticed at the next start, and the partition made anew', async () => {
    const store = await openWritten()
    await new ClickHouseDamage(store).double('token_transfers', 55)
    const next = await reopen(store)
    await writeAll(next)
    await expectInClickHouse(next, batches)
  })

  fullTest('what the engine lost is noticed when it comes back, not only at the next start', async () => {
    let down = false
    const store = await openChainStore({
      headFrom: 40,
      cacheBytes: 0,
      wrapClickHouse: (client) =>
        withExec(client, (insert) => async (parameters) => {
          if (down) throw new Error('the connection was refused')
          return insert(parameters)
        }),
    })
    onTestFinished(() => store.close())
    await append(store, batches.slice(0, 3))
    down = true
    for (const batch of batches.slice(3)) await store.head.append(batch)
    await store.head.finalize(79)
    await expect(store.lane.step()).rejects.toMatchObject({ code: 'clickhouse_failed' })
    await new ClickHouseDamage(store).drop('logs', 45)
    const stop = new AbortController()
    const running = store.lane.run(stop.signal)
    await expect.poll(() => store.lane.status.state).toBe('retrying')
    down = false
    await expect
      .poll(() => readCoverage(store.postgres.pool, store.schema, 'clickhouse'))
      .toEqual([{ from: 40, to: 79 }])
    stop.abort()
    await running
    await expectInClickHouse(store, batches)
  })
})

describe('a Postgres with another past', () => {
  onceTest(
    'a Postgres restored from an older copy leads again: what ClickHouse holds beyond it goes, under a new ledger',
    async () => {
      const store = await openWritten(2)
      const copy = await copyOf(store)
      await append(store, batches.slice(2))
      await expectInClickHouse(store, batches)
      const restored = await reopen({ ...store, access: { ...store.access, databaseUrl: copy } })
      await expectInPostgres(restored, batches.slice(0, 2))
      await restored.lane.step()
      await expectInClickHouse(restored, batches.slice(0, 2))
      const identity = await readLedgerIdentity(restored.postgres, restored.schema)
      expect(identity.ledgerId).not.toBe(store.ledgerId)
      expect(await readStoreIdentity(restored.clickhouse, restored.database)).toEqual(identity)
      // The chain goes on from the copy, in batches of other bounds.
      await append(restored, recordedBatches('tempo-dev-2k', 5).slice(12, 16))
      await expectInPostgres(restored, batches)
      await expectInClickHouse(restored, batches)
    },
  )

  onceTest('another past of one chain leaves every other chain of the database as it was (W11)', async () => {
    const store = await openWritten()
    const other = schemaOf(store.chainId + 1)
    await migrateChain(store.postgres, store.chainId + 1, { leases: postgresLeases(store.postgres) })
    const identity = {
      genesisHash: hash(`0x${'11'.repeat(32)}`),
      headerRule: 'ethereum' as const,
      startBlock: 0,
    }
    await openChain(store.postgres, { chainId: store.chainId + 1, ...identity }, 40, 1n)
    const before = await readLedgerIdentity(store.postgres, other)
    // As a store of before has it, all chains begin with what the database had.
    expect(before).toEqual(await readLedgerIdentity(store.postgres, store.schema))
    await renewLedger(store.postgres, store.schema)
    expect(await readLedgerIdentity(store.postgres, other)).toEqual(before)
    const renewed = await readLedgerIdentity(store.postgres, store.schema)
    expect(renewed.storeUuid).toBe(before.storeUuid)
    expect(renewed.ledgerId).not.toBe(before.ledgerId)
    await renewLedger(store.postgres, other)
    expect(await readLedgerIdentity(store.postgres, store.schema)).toEqual(renewed)
  })

  fullTest(
    'a ledger that changed without ClickHouse being told is settled, and nothing is lost',
    async () => {
      const store = await openWritten()
      await store.postgres.pool.query('UPDATE app.identity SET ledger_id = gen_random_uuid()')
      const next = await reopen(store)
      await writeAll(next)
      await expectInClickHouse(next, batches)
      expect(await readStoreIdentity(next.clickhouse, next.database)).toEqual(
        await readLedgerIdentity(next.postgres, next.schema),
      )
    },
  )

  /** A byte-for-byte copy of the store's Postgres database; its URL. */
  async function copyOf(store: ChainStore): Promise<string> {
    const url = new URL(store.access.databaseUrl)
    const name = url.pathname.slice(1)
    const copy = `${name}_copy`
    url.pathname = '/postgres'
    const admin = new pg.Client({ connectionString: url.href })
    await admin.connect()
    // A database is copied only while nobody is connected to it; the pool connects again.
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
    await admin.query(`CREATE DATABASE ${copy} TEMPLATE ${name}`)
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    onTestFinished(async () => {
      await admin.query(`DROP DATABASE IF EXISTS ${copy} WITH (FORCE)`)
      await admin.end()
    })
    url.pathname = `/${copy}`
    return url.href
  }
})

describe('a ClickHouse of another encoder or another Postgres', () => {
  /** As an older program left it: one batch begun and half sent, with digests of its own kind. */
  async function beginAsOlderEncoder(store: ChainStore): Promise<void> {
    const [, , , begun] = batches
    if (!begun) throw new Error('the recording is too short')
    await store.head.append(begun)
    await store.head.finalize(79)
    await store.journal.begin({
      range: begun.range,
      encoder: 0,
      attempt: 0,
      tables: { logs: { rows: 1, blockSum: '70', digest: '7' } },
    })
  }

  fullTest('what another version of the encoder sent is made anew, also the batch it had begun', async () => {
    const store = await openWritten(3)
    await beginAsOlderEncoder(store)
    await store.postgres.pool.query(`UPDATE ${store.schema}.ch_batches SET encoder = 0`)
    const next = await reopen(store)
    await writeAll(next)
    await expectInClickHouse(next, batches)
    expect((await journalOf(next)).map((row) => row.encoder)).not.toContain(0)
  })

  fullTest('a batch begun by another version of the encoder alone does not stop the lane', async () => {
    const store = await openWritten(3)
    await beginAsOlderEncoder(store)
    const next = await reopen(store)
    await writeAll(next)
    await expectInClickHouse(next, batches)
    expect(next.lane.status).toEqual({ state: 'running', problem: null })
  })

  onceTest(
    'the ClickHouse of another Postgres is refused by name, and nothing of it is changed',
    async () => {
      const store = await openWritten()
      const stranger = await freshDatabase()
      onTestFinished(() => stranger.drop())
      const swapped = { ...store, access: { ...store.access, databaseUrl: stranger.databaseUrl } }
      const opened = openChainStore({ headFrom: 0, beside: swapped })
      await expect(opened).rejects.toThrow(ForeignStoreError)
      await expect(opened).rejects.toMatchObject({
        message: expect.stringMatching(/^CLICKHOUSE_URL: /),
        remedy: 'stop',
      })
      await expectInClickHouse(store, batches)
    },
  )
})
