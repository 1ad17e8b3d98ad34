// Goal: a store of an older version is opened beside its readers: none waits for a migration longer
// than a moment, whoever holds a table; a kill in the middle loses nothing, and the rows are those
// of before.
// Method: a recorded chain with its folds, put back to what migrations 1 to 33 make, which is
// compared with a schema that they made; transactions that stay open, and a process that is killed
// while it waits for one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresLeases } from '#rows/leases.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { commentPostgres } from '#store/maintain/comments.ts'
import { migrateChain } from '#store/maintain/migrate.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { readBalances } from '../support/balanceOracle.ts'
import { type ChainStore, openChainStore, recordedBatches } from '../support/chainStore.ts'
import { dumpChain, dumpPostgres } from '../support/dumpSchema.ts'
import { expectInPostgres } from '../support/expectHeld.ts'
import { followersOf, recordedCalls } from '../support/followers.ts'

const recording = 'tempo-dev-2k'
const batches = recordedBatches(recording, 20)
const OLD = 33
const folder = new URL('../../../sql/postgres/chain/', import.meta.url)
const files = readdirSync(folder).sort()
const newest = files.length
/**
 * Small tables of folds, the one row of the chain, and blocks and balances for columns without a
 * value: what may be locked against readers at all.
 */
const briefly = [
  ...['balances', 'blocks', 'chain', 'erc20_metadata', 'exchange_fills'],
  ...['fee_pool_checks', 'fee_pools_current', 'fee_pools_history'],
]
/** A reader that waits as long has been shut out. */
const SHUT_OUT_MS = 30_000

const sqlOf = (file: string, schema: string) =>
  readFileSync(new URL(file, folder), 'utf8').replaceAll('{schema}', schema)

interface OlderStore extends ChainStore {
  /** The store's contents before it was put back. */
  readonly rows: Readonly<Record<string, unknown>>
  readonly schemaDump: string
}

async function openOlder(): Promise<OlderStore> {
  const store = await openChainStore({ headFrom: 0 })
  onTestFinished(() => store.close())
  for (const batch of batches) await store.head.append(batch)
  await store.head.finalize(100)
  await followersOf(store, { callContracts: recordedCalls(recording, readBalances(recording)) }).settle()
  // The next version of the follower makes marks anew.
  await store.postgres.pool.query(`UPDATE ${store.schema}.balances SET below_since = NULL`)
  const [rows, schemaDump] = [await rowsOf(store), await dumpChain(store.postgres, store.chainId)]
  const { schema, postgres } = store
  const { rows: indexes } = await postgres.pool.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = '${schema}.logs'::regclass
     AND pg_get_indexdef(indexrelid) LIKE '%CASE topic0%'`,
  )
  expect(indexes).toHaveLength(1)
  await postgres.pool.query(`
    DROP INDEX ${indexes[0]?.name};
    ALTER TABLE ${schema}.fee_pools_history DROP COLUMN mended_block;
    ALTER TABLE ${schema}.fee_pools_current DROP COLUMN mended_block;
    ALTER TABLE ${schema}.fee_pool_checks DROP COLUMN mended;
    COMMENT ON COLUMN ${schema}.fee_pool_checks.differs IS 'the node had other reserves after this block: ours are not told';
    ALTER TABLE ${schema}.exchange_fills DROP COLUMN taker_quote_amount;
    DROP TABLE ${schema}.balance_load, ${schema}.balance_sums, ${schema}.bounds_to_mend;
    ALTER TABLE ${schema}.chain DROP COLUMN ledger_id;
    ALTER TABLE ${schema}.balances DROP COLUMN below_since;
    ALTER TABLE ${schema}.erc20_metadata DROP CONSTRAINT erc20_metadata_decimals_check;
    COMMENT ON COLUMN ${schema}.erc20_metadata.decimals IS NULL;
    DROP TABLE ${schema}.erc20_metadata_stopped, ${schema}.balance_samples;
    ALTER TABLE ${schema}.blocks DROP COLUMN block_access_list_hash, DROP COLUMN slot_number;
    DROP TABLE ${schema}.finality_proofs, ${schema}.finality_keys, ${schema}.native_transfers;
    DELETE FROM ${schema}.coverage WHERE projection = 'native_transfers';
    UPDATE ${schema}.coverage SET version = 2 WHERE projection = 'base'`)
  await postgres.pool.query('DELETE FROM app.migrations WHERE scope = $1 AND number > $2', [schema, OLD])
  return { ...store, rows, schemaDump }
}

/**
 * Every table's rows, in one order, but of those that a migration makes empty. Columns that are null
 * where they are new tell nothing.
 */
async function rowsOf({ postgres, schema }: ChainStore): Promise<Record<string, unknown>> {
  const { rows: tables } = await postgres.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT IN ('bounds_to_mend', 'balance_samples')
     ORDER BY 1`,
    [schema],
  )
  const held: Record<string, unknown> = {}
  for (const { name } of tables) {
    const { rows } = await postgres.pool.query(
      `SELECT count(*)::int AS rows, md5(string_agg(row, ',' ORDER BY row)) AS digest
       FROM (SELECT jsonb_strip_nulls(to_jsonb(t))::text AS row FROM ${schema}.${name} AS t) AS texts`,
    )
    held[name] = rows[0]
  }
  return held
}

const appliedTo = async ({ postgres, schema }: ChainStore): Promise<number> =>
  (
    await postgres.pool.query('SELECT max(number)::int AS number FROM app.migrations WHERE scope = $1', [
      schema,
    ])
  ).rows[0].number

async function expectUpToDate(store: OlderStore): Promise<void> {
  expect(await appliedTo(store)).toBe(newest)
  expect(await dumpChain(store.postgres, store.chainId)).toBe(store.schemaDump)
  expect(await rowsOf(store)).toEqual(store.rows)
  await expectInPostgres(store, batches)
  const { rows } = await store.postgres.pool.query(`SELECT * FROM ${store.schema}.bounds_to_mend`)
  expect(rows).toEqual([{ below: (batches.at(-1)?.range.to ?? 0) + 1, chunks_done: false }])
}

/** A transaction that has read these tables, and stays open until it is told to end. */
async function holdReading(store: ChainStore, tables: readonly string[]): Promise<() => Promise<void>> {
  const reader = new Client({ connectionString: store.access.databaseUrl })
  await reader.connect()
  const end = () => reader.end()
  onTestFinished(end)
  await reader.query('BEGIN')
  for (const table of tables) await reader.query(`SELECT count(*) FROM ${store.schema}.${table}`)
  return end
}

/** Resolves while a migration waits to lock a table against its readers. */
const untilOneWaits = (store: ChainStore) =>
  expect
    .poll(async () => {
      const { rows } = await store.postgres.pool.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_locks JOIN pg_class ON pg_class.oid = relation
         WHERE relnamespace = $1::regnamespace AND mode = 'AccessExclusiveLock' AND NOT granted`,
        [store.schema],
      )
      return rows[0]?.n
    })
    .toBeGreaterThan(0)

/** Reads all that a migration changes, as somebody who comes now. */
async function readBeside(store: ChainStore): Promise<void> {
  const url = new URL(store.access.databaseUrl)
  url.searchParams.set('options', `-c lock_timeout=${SHUT_OUT_MS}`)
  const other = openPostgres({ url: url.href, applicationName: 'reader', log: silentLogger })
  onTestFinished(() => other.close())
  for (const table of [...briefly, 'logs', 'txs'])
    await other.pool.query(`SELECT count(*) FROM ${store.schema}.${table}`)
}

test('what the tests put back is what older migrations made', async () => {
  const store = await openOlder()
  const { postgres, schema } = store
  await postgres.pool.query('CREATE SCHEMA chain_older')
  for (const file of files.slice(0, OLD)) await postgres.pool.query(sqlOf(file, 'chain_older'))
  await postgres.transaction((client) => commentPostgres(client, 'chain_older'))
  const made = (await dumpPostgres(postgres, 'chain_older')).replaceAll('chain_older.', 'chain.')
  expect((await dumpPostgres(postgres, schema)).replaceAll(`${schema}.`, 'chain.')).toBe(made)
})

test('no migration since locks a table of the chain’s rows against readers, or writes one anew', async () => {
  const { postgres, schema } = await openOlder()
  const filesOf = async () => {
    const { rows } = await postgres.pool.query<{ name: string; file: string }>(
      `SELECT relname AS name, pg_relation_filenode(oid)::text AS file FROM pg_class
       WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p')`,
      [schema],
    )
    return new Map(rows.map(({ name, file }) => [name, file]))
  }
  const before = await filesOf()
  for (const file of files.slice(OLD))
    await postgres.transaction(async (client) => {
      await client.query(sqlOf(file, schema))
      const { rows } = await client.query<{ name: string }>(
        `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = relation
         WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock' AND relnamespace = $1::regnamespace AND relkind IN ('r', 'p')`,
        [schema],
      )
      const locked = rows.map(({ name }) => name).filter((name) => before.has(name))
      expect(
        locked.filter((name) => !briefly.includes(name.replace(/_(from|head)_[0-9]+$/, ''))),
        file,
      ).toEqual([])
    })
  const after = await filesOf()
  expect([...before].filter(([name, file]) => after.get(name) !== file)).toEqual([])
})

test('one that waits for a long read lets others read, and goes on when it ends', async () => {
  const store = await openOlder()
  const endReading = await holdReading(store, briefly)
  const migrated = migrateChain(store.postgres, store.chainId, { leases: postgresLeases(store.postgres) })
  await untilOneWaits(store)
  await readBeside(store)
  expect(await appliedTo(store)).toBe(OLD + 1)
  await endReading()
  await migrated
  await expectUpToDate(store)
})

test('one that is killed in the middle leaves what it had finished, and the next goes on there', async () => {
  const store = await openOlder()
  // The tables that its migration changes first are changed, and not committed.
  const endReading = await holdReading(store, ['exchange_fills'])
  const entry = fileURLToPath(new URL('../support/migratingWriter.ts', import.meta.url))
  const child = spawn(process.execPath, [entry, store.access.databaseUrl, `${store.chainId}`], {
    stdio: 'inherit',
  })
  await untilOneWaits(store)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const left = async () =>
    (
      await store.postgres.pool.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'migrating'",
      )
    ).rowCount
  await expect.poll(left).toBe(0)
  expect(await appliedTo(store)).toBe(OLD + 1)
  await readBeside(store)
  await endReading()
  await migrateChain(store.postgres, store.chainId, { leases: postgresLeases(store.postgres) })
  await expectUpToDate(store)
})

test('one that a read holds up for longer than a start waits ends by name, and has changed nothing', async () => {
  const store = await openOlder()
  const endReading = await holdReading(store, ['chain'])
  let nowMs = 0
  const hours: Clock = { ...systemRuntime().clock, monotonic: () => (nowMs += 3_600_000) }
  await expect(
    migrateChain(store.postgres, store.chainId, { leases: postgresLeases(store.postgres) }, hours),
  ).rejects.toMatchObject({
    code: 'migration_blocked',
    remedy: 'retry',
  })
  expect(await appliedTo(store)).toBe(36)
  await readBeside(store)
  await endReading()
  await migrateChain(store.postgres, store.chainId, { leases: postgresLeases(store.postgres) })
  await expectUpToDate(store)
})
