/**
 * Applies the SQL files of `sql/` once each, in order, under a lock, beside those who read what is
 * changed. Forward only: a database that knows a migration this program does not is newer than the
 * program, and is refused before anything is read or written.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import { failure } from '#errors.ts'
import type { LeaseHolder, LeaseWatch } from '#runtime/lease.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { type ClickHouseTopology, databaseOf, expandTemplate } from '../clickhouse/template.ts'
import { chainLease } from '../ledger/chainLease.ts'
import { advisoryLocks } from '../locks.ts'
import { type Postgres, PostgresError } from '../postgres.ts'
import { quoteIdentifier, schemaOf } from '../sql.ts'
import { commentClickHouse, commentPostgres } from './comments.ts'

interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

interface AppliedMigration {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

/**
 * Tables of a long chain may be dropped or changed, which takes longer than any statement of a live
 * lane may.
 */
const MIGRATION_TIMEOUT = '1h'

/**
 * A lock is waited for this long, and with it whoever reads the table: longer than a vacuum takes to
 * give way (`deadlock_timeout`, a second), shorter than a reader's patience.
 */
const LOCK_MS_MAX = 2_000
/** Readers that waited behind it have this long for themselves. */
const LOCK_PAUSE_MS = 3_000
/** Longer than any query of ours; what reads on after that is somebody else's, such as a dump. */
const BLOCKED_MS_MAX = 10 * 60_000
/** SQLSTATE of a lock that was not got in time. */
const LOCK_NOT_AVAILABLE = '55P03'

const sqlFolder = new URL('../../sql/', import.meta.url)

/** Creates or brings up to date what all chains share. @throws MigrationBlockedError */
export async function migrateApp(postgres: Postgres, clock: Clock = systemRuntime().clock): Promise<void> {
  await applyMissing(postgres, clock, {
    scope: 'app',
    migrations: readMigrations('postgres/app'),
    prepare: (client) =>
      client.query(`
        CREATE SCHEMA IF NOT EXISTS app;
        CREATE TABLE IF NOT EXISTS app.migrations (
          scope text, number integer, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(),
          PRIMARY KEY (scope, number));`),
    apply: (client, sql) => client.query(sql),
  })
}

/** The sources that tell who writes a chain. */
export interface Writers {
  readonly leases: LeaseWatch
  /** The migrating program, which may hold the chain's lease itself. */
  readonly holder?: LeaseHolder
}

/**
 * Creates or brings up to date one chain's schema. An older program that writes the chain would not
 * know the new one, so nothing is changed beside it. @throws ChainWrittenError, MigrationBlockedError
 */
export async function migrateChain(
  postgres: Postgres,
  chainId: number,
  writers: Writers,
  clock: Clock = systemRuntime().clock,
): Promise<void> {
  const schema = schemaOf(chainId)
  await applyMissing(postgres, clock, {
    scope: schema,
    migrations: readMigrations('postgres/chain'),
    prepare: (client) => client.query(`CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema)}`),
    apply: async (client, sql, appliedBefore) => {
      if (appliedBefore > 0) await assertNobodyWrites(chainId, writers)
      await client.query(sql.replaceAll('{schema}', quoteIdentifier(schema)))
    },
  })
  await besideReaders(postgres, clock, schema, (client) => commentPostgres(client, schema))
}

async function assertNobodyWrites(chainId: number, { leases, holder }: Writers): Promise<void> {
  const writer = await leases.find(chainLease(chainId))
  if (!writer || writer.holder === holder?.name || holder?.hasEnded(writer.holder)) return
  throw new ChainWrittenError(chainId, writer.holder, writer.expiresInMs)
}

/**
 * Creates or brings up to date one chain's ClickHouse database. What was applied is recorded there,
 * beside the data, so that a wiped engine starts over. ClickHouse has no transactions: each file is
 * one statement that may run twice.
 */
export async function migrateClickHouse(
  clickhouse: ClickHouseClient,
  chainId: number,
  topology: ClickHouseTopology,
): Promise<void> {
  const database = databaseOf(chainId)
  const run = (sql: string) => clickhouse.command({ query: expandTemplate(sql, database, topology) })
  await run('CREATE DATABASE IF NOT EXISTS {database} {on_cluster} {database_engine}')
  await run(`CREATE TABLE IF NOT EXISTS {database}.migrations {on_cluster}
    (number UInt32, name String, checksum String) ENGINE = {engine:ReplacingMergeTree} ORDER BY number`)
  const migrations = readMigrations('clickhouse/chain')
  const applied = await readApplied(clickhouse, database)
  assertKnown(`ClickHouse ${database}`, applied, migrations)
  for (const { number, name, checksum, sql } of migrations.slice(applied.length)) {
    await run(sql)
    await clickhouse.insert({
      table: `${database}.migrations`,
      values: [{ number, name, checksum }],
      format: 'JSONEachRow',
    })
  }
  await commentClickHouse(clickhouse, chainId, topology)
}

async function readApplied(clickhouse: ClickHouseClient, database: string): Promise<AppliedMigration[]> {
  const result = await clickhouse.query({
    query: `SELECT number, name, checksum FROM ${database}.migrations FINAL ORDER BY number`,
    format: 'JSONEachRow',
  })
  return result.json<AppliedMigration>()
}

interface MigrationTarget {
  /** Name under which its migrations are written down. */
  readonly scope: string
  readonly migrations: readonly Migration[]
  prepare(client: pg.PoolClient): Promise<unknown>
  /** @param appliedBefore migrations that were there before this transaction */
  apply(client: pg.PoolClient, sql: string, appliedBefore: number): Promise<unknown>
}

/**
 * An empty schema is made in one transaction. A migration that others may read is one of its own, so that a
 * kill or a lock that is not got takes back that one alone.
 */
async function applyMissing(postgres: Postgres, clock: Clock, target: MigrationTarget): Promise<void> {
  const { scope, migrations } = target
  for (let left = true; left; )
    left = await besideReaders(postgres, clock, scope, async (client) => {
      await target.prepare(client)
      const { rows: applied } = await client.query<AppliedMigration>(
        'SELECT number, name, checksum FROM app.migrations WHERE scope = $1 ORDER BY number',
        [scope],
      )
      assertKnown(scope, applied, migrations)
      const missing = migrations.slice(applied.length)
      const next = applied.length === 0 ? missing : missing.slice(0, 1)
      for (const { number, name, checksum, sql } of next) {
        await target.apply(client, sql, applied.length)
        await client.query(
          'INSERT INTO app.migrations (scope, number, name, checksum) VALUES ($1, $2, $3, $4)',
          [scope, number, name, checksum],
        )
      }
      return next.length < missing.length
    })
}

/**
 * A transaction that changes what others read. While it waits for a lock that one long read holds
 * back, all other reads of that table wait behind it; so it gives up soon, and tries again.
 * @throws MigrationBlockedError
 */
async function besideReaders<Result>(
  postgres: Postgres,
  clock: Clock,
  scope: string,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const untilMs = clock.monotonic() + BLOCKED_MS_MAX
  for (;;) {
    try {
      return await postgres.transaction(async (client) => {
        await client.query(`SET LOCAL statement_timeout = '${MIGRATION_TIMEOUT}'`)
        await client.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.migrations])
        await client.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`)
        return await work(client)
      })
    } catch (error) {
      if (!(error instanceof PostgresError) || error.sqlState !== LOCK_NOT_AVAILABLE) throw error
      if (clock.monotonic() >= untilMs) throw new MigrationBlockedError(scope, error)
    }
    await clock.sleep(LOCK_PAUSE_MS)
  }
}

function assertKnown(
  scope: string,
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): void {
  for (const [index, row] of applied.entries()) {
    const ours = migrations[index]
    if (!ours || ours.number !== row.number) throw new MigrationNewerError(scope, `${row.number}_${row.name}`)
    if (ours.checksum !== row.checksum) throw new MigrationChangedError(scope, `${row.number}_${row.name}`)
  }
}

function readMigrations(folder: string): Migration[] {
  const directory = new URL(`${folder}/`, sqlFolder)
  return readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const sql = readFileSync(new URL(file, directory), 'utf8')
      return {
        number: Number(file.slice(0, 4)),
        name: file.slice(5, -4),
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
      }
    })
}

/** The database was written by a newer program. */
export class MigrationNewerError extends failure('MigrationNewerError', 'migration_newer', 'stop') {
  constructor(scope: string, migration: string) {
    super(
      `DATABASE_URL: the database has migration ${migration} of ${scope}, which this program does not know; it was written by a newer version`,
    )
  }
}

/** Another program writes the chain in the form it has now. Nothing was changed. */
export class ChainWrittenError extends failure('ChainWrittenError', 'chain_written', 'stop') {
  readonly holder: string
  readonly expiresInMs: number

  constructor(chainId: number, holder: string, expiresInMs: number) {
    super(
      `DATABASE_URL: ${holder} writes chain ${chainId} and is of an older version; stop it before this one starts (if it was killed, its lease runs out in seconds)`,
    )
    this.holder = holder
    this.expiresInMs = expiresInMs
  }
}

/** Somebody reads a table in one transaction for longer than a start waits. Nothing was changed. */
export class MigrationBlockedError extends failure('MigrationBlockedError', 'migration_blocked', 'retry') {
  constructor(scope: string, cause: unknown) {
    super(
      `DATABASE_URL: tables of ${scope} could not be changed, since a transaction has been reading them for minutes; end it (pg_stat_activity shows it) and start again`,
      { cause },
    )
  }
}

/** A migration that was already applied is not the one this program carries. */
export class MigrationChangedError extends failure('MigrationChangedError', 'migration_changed', 'stop') {
  constructor(scope: string, migration: string) {
    super(
      `DATABASE_URL: migration ${migration} of ${scope} was applied with other content than this program carries`,
    )
  }
}
