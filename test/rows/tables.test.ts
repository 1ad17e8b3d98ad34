// Goal: the types of the service's own rows are those of the live schema `app`, and migrations keep the
// money of a database of before.
// Method: migrate an empty database, read the catalog back; another one with rows as a version before
// wrote them is brought up to date, and its books are compared.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { compareEntries } from '#rows/books/compareEntries.ts'
import { compareRows } from '#rows/books/compareRows.ts'
import { appDatabase } from '#rows/database.ts'
import { type Collected, collect } from '#rows/payments/collected.ts'
import { findUnbalanced, readBalances } from '#rows/payments/ledger.ts'
import { takePayouts } from '#rows/payments/payouts.ts'
import { appTables } from '#rows/tables.ts'
import { migrateApp } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import { openAppStore } from '../support/appStore.ts'
import { freshDatabase } from '../support/engines.ts'

const { postgres } = await openAppStore()

test('tables.ts names every table of the schema and every column, with its type', async () => {
  const { rows } = await postgres.pool.query<
    Record<'name' | 'column' | 'type', string> & { nullable: boolean; filled: boolean }
  >(`
    SELECT 'app.' || c.relname AS name, attname AS column, format_type(atttypid, NULL) AS type,
           NOT attnotnull AS nullable, atthasdef OR attidentity <> '' OR NOT attnotnull AS filled
    FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
    WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
      AND c.relname <> 'migrations' AND NOT relispartition
    ORDER BY 1, attnum`)
  const live: Record<string, Record<string, object>> = {}
  for (const { name, column, type, nullable, filled } of rows)
    live[name] = { ...live[name], [column]: { type: shortNames[type] ?? type, nullable, filled } }
  expect(live).toEqual(appTables)
})

const shortNames: Readonly<Record<string, string>> = { 'timestamp with time zone': 'timestamptz' }

/** The last one of the version whose rows `rowsOfBefore` are. */
const BEFORE_FEES = 37
const folder = new URL('../../sql/postgres/app/', import.meta.url)

async function migrateUntil({ pool }: Postgres, last: number): Promise<void> {
  await pool.query(`CREATE SCHEMA app; CREATE TABLE app.migrations (scope text, number integer, name text NOT NULL,
    checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (scope, number))`)
  for (const file of readdirSync(folder).sort()) {
    const number = Number(file.slice(0, 4))
    if (number > last) return
    const text = readFileSync(new URL(file, folder), 'utf8')
    await pool.query(text)
    const checksum = createHash('sha256').update(text).digest('hex')
    const row = ['app', number, file.slice(5, -4), checksum]
    await pool.query(
      'INSERT INTO app.migrations (scope, number, name, checksum) VALUES ($1, $2, $3, $4)',
      row,
    )
  }
}

/**
 * Reads that were owed back: a refund that was paid with a fee, one that waits. A job that ended when no
 * fee was in any book, whose one call was paid for, with a reward that waits.
 */
const rowsOfBefore = `
  INSERT INTO app.payments (id, identity, request_digest, credential_digest, scope, method, chain_id, currency, amount, recipient,
    payer, tx_hash, valid_before, state, receipt, held_until, settled_at, owed_at)
  SELECT p.id, p.id, 'd', p.id::bytea, scope, 'tempo/charge', 1337, '\\x22', amount, '\\x33', '\\x11', sha256(p.id::bytea), now(), 'settled', '{}',
    now(), now(), CASE scope WHEN 'data:read' THEN now() END
  FROM (VALUES ('pay_1', 'data:read', 500), ('pay_2', 'data:read', 600), ('pay_3', 'jobs', 1050)) AS p (id, scope, amount);
  INSERT INTO app.payouts (id, kind, reference, chain_id, currency, amount, recipient, state, attempt, paid_at, block_number) VALUES
    ('out_1', 'refund', 'pay_1', 1337, '\\x22', 500, '\\x11', 'paid', 1, now(), 7),
    ('out_2', 'refund', 'pay_2', 1337, '\\x22', 600, '\\x11', 'queued', 0, NULL, NULL),
    ('out_3', 'reward', '00000000-0000-4000-8000-000000000001', 1337, '\\x22', 25, '\\x11', 'queued', 0, NULL, NULL);
  INSERT INTO app.payout_transactions (payout_id, attempt, chain_id, tx_hash, raw, valid_before) VALUES ('out_1', 1, 1337, '\\x01', '\\x02', now());
  INSERT INTO app.jobs (id, payer, idempotency_key, plan_hash, state, currency, decimals, cost_multiplier, charged_units, payment_id,
    payment_method, chain_id, token, token_decimals, charged_amount, committed_units, committed_amount, deadline_at, due_at, ended_at)
  VALUES ('00000000-0000-4000-8000-000000000001', '\\x11', 'key', 'hash', 'succeeded', 'USDC', 6, '1.05', 1050, 'pay_3',
    'charge', 1337, '\\x22', 6, 1050, 1050, 1050, now(), NULL, now());
  INSERT INTO app.job_nodes (job_id, node_id, ordinal, service_id, method, path, units_max, state, attempt)
  VALUES ('00000000-0000-4000-8000-000000000001', 'a', 0, 'shop', 'POST', '/a', 1000, 'succeeded', 1);
  INSERT INTO app.job_attempts (job_id, node_id, attempt, started_at, ended_at, outcome, paid_chain_id, paid_token, paid_amount, paid_units, paid_reference)
  VALUES ('00000000-0000-4000-8000-000000000001', 'a', 1, now(), now(), 'answered', 1337, '\\x22', 1000, 1000, '0x05');
  INSERT INTO app.spends (id, job_id, node_id, attempt, service_id, state, protocol, chain_id, currency, amount, recipient, payer, units, day,
    reference, tx_hash, valid_before, ended_at)
  VALUES ('spd_1', '00000000-0000-4000-8000-000000000001', 'a', 1, 'shop', 'settled', 'mpp', 1337, '\\x22', 1000, '\\x44', '\\x55', 1000, '2026-11-27',
    '\\x05', '\\x05', now(), now());
  INSERT INTO app.ledger_entries (transaction_id, account, chain_id, currency, amount)
  SELECT id, account, 1337, '\\x22', sign * amount FROM (VALUES
    ('pay_1', 'payer:0x11', 'revenue:data:read', 500), ('pay_1/owed', 'revenue:data:read', 'refunds', 500),
    ('pay_2', 'payer:0x11', 'revenue:data:read', 600), ('pay_2/owed', 'revenue:data:read', 'refunds', 600),
    ('out_1', 'refunds', 'payer:0x11', 500), ('out_1', 'costs:fees', 'chain', 7),
    ('pay_3', 'payer:0x11', 'revenue:jobs', 1050), ('job:pay_3/held', 'revenue:jobs', 'escrow:jobs', 1050),
    ('job:pay_3/closed', 'escrow:jobs', 'revenue:jobs', 1050), ('cost:1337:0x05', 'wallet', 'cost:jobs', 1000),
    ('reward:00000000-0000-4000-8000-000000000001', 'revenue:jobs', 'rewards', 25)
  ) AS m (id, source, target, amount), LATERAL (VALUES (source, -1), (target, 1)) AS e (account, sign);`

test('books of a database of before fees and collected refunds are right, and its debts go as they were', async () => {
  const { databaseUrl, drop } = await freshDatabase()
  const before = openPostgres({ url: databaseUrl, applicationName: 'test', log: silentLogger })
  onTestFinished(() => before.close().then(drop))
  await migrateUntil(before, BEFORE_FEES)
  await before.pool.query(rowsOfBefore)
  await migrateApp(before)
  const app = appDatabase(before)
  expect([await compareEntries(app, 100), await compareRows(app, 100), await findUnbalanced(app)]).toEqual([
    ...[[], [], []],
  ])
  const balances = new Map((await readBalances(app)).map(({ account, amount }) => [account, amount]))
  expect([balances.get('costs:fees'), balances.get('payee'), balances.has('chain')]).toEqual([7n, -7n, false])
  const due = await takePayouts(app, 1337, 10, 1_000)
  expect(due.map(({ id, total, feePart }) => [id, total, feePart])).toEqual([
    ['out_2', 600n, null],
    ['out_3', 25n, null],
  ])
  const sent: (Collected | null)[] = []
  for (const payout of due) sent.push(await collect(app, payout, { refunds: 8_400n, fee: 8_400n }))
  // The small refund waits, and the reward takes it along.
  expect(sent).toEqual([null, { total: 625n, feeMax: null }])
})
