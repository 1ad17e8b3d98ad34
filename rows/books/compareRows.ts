/**
 * Rows of money beside the rows that they follow from: a job beside its payment, its end beside its
 * calls, a debt beside what it is owed for, a call beside what the wallet spent. A change of a rule of
 * the money is a change here; a new rule is one value more.
 */
import { type RawBuilder, sql } from 'kysely'
import type { AppDatabase } from '../database.ts'

/** A row that differs. */
export interface RowDifference {
  /** Table, and what names the row in it. */
  readonly table: string
  readonly id: string
  /** The value by other rows, and the row's own: text in one order, such as `amount 5`. */
  readonly expected: string
  readonly found: string
}

interface RowRule {
  readonly table: string
  /** Rows that break it: `id, expected, found`, all of them text. */
  readonly broken: RawBuilder<unknown>
}

const hex = (column: string) => sql`'0x' || encode(${sql.ref(column)}, 'hex')`
const moneyOf = (chain: string, token: string, amount: ReturnType<typeof sql>) =>
  sql`concat_ws(' ', 'chain', ${sql.ref(chain)}, 'token', ${hex(token)}, 'amount', ${amount})`

/** Settled by a transaction of its own, unless a channel paid for it. */
const ofPayments: RowRule = {
  table: 'app.payments',
  broken: sql`
    SELECT id, 'a transaction and a time' AS expected, 'none' AS found FROM app.payments
    WHERE state = 'settled' AND (settled_at IS NULL OR (tx_hash IS NULL AND method <> 'tempo/session'))`,
}

/** A job's charge is what its payment brought, and from whom. */
const ofCharges: RowRule = {
  table: 'app.jobs',
  broken: sql`
    SELECT * FROM (
      SELECT j.id::text AS id,
        CASE WHEN p.id IS NULL THEN 'no settled payment'
          ELSE concat_ws(' ', 'payer', ${hex('p.payer')}, ${moneyOf('p.chain_id', 'p.currency', sql`p.amount`)}) END AS expected,
        concat_ws(' ', 'payer', ${hex('j.payer')}, ${moneyOf('j.chain_id', 'j.token', sql`j.charged_amount`)}) AS found
      FROM app.jobs j
      LEFT JOIN app.payments p ON p.id = j.payment_id AND p.state = 'settled' AND p.scope = 'jobs'
      WHERE j.payment_id IS NOT NULL
    ) AS charges WHERE expected <> found`,
}

/** Every payment for a job has one. */
const ofOrphans: RowRule = {
  table: 'app.payments',
  broken: sql`
    SELECT p.id, 'one job' AS expected, 'none' AS found FROM app.payments p
    WHERE p.state = 'settled' AND p.scope = 'jobs' AND p.owed_at IS NULL AND p.proof IS DISTINCT FROM 'reversed'
      AND NOT EXISTS (SELECT FROM app.jobs j WHERE j.payment_id = p.id)`,
}

/** An amount in other decimals, rounded up, without a division that rounds. */
const rescaled = (amount: ReturnType<typeof sql>, from: string, to: string) => sql`
  CASE WHEN ${sql.ref(from)} <= ${sql.ref(to)} THEN ${amount} * (10::numeric ^ (${sql.ref(to)} - ${sql.ref(from)}))::numeric(78)
    ELSE div(${amount} + (10::numeric ^ (${sql.ref(from)} - ${sql.ref(to)}))::numeric(78) - 1, (10::numeric ^ (${sql.ref(from)} - ${sql.ref(to)}))::numeric(78)) END`

/** The cost of a job's calls, by job. */
const costs = sql`(SELECT job_id, sum(paid_units) AS units FROM app.job_attempts WHERE paid_units IS NOT NULL GROUP BY job_id)`

/** A job ends with its calls' cost, times its multiplier, and their fees, at most with what was charged. */
const ofClosings: RowRule = {
  table: 'app.jobs',
  broken: sql`
    SELECT id::text AS id, concat_ws(' ', 'units', units, 'amount', amount) AS expected,
      concat_ws(' ', 'units', committed_units, 'amount', committed_amount) AS found
    FROM (
      SELECT *, CASE WHEN charged_amount IS NULL THEN NULL
        ELSE least(${rescaled(sql`units`, 'decimals', 'token_decimals')}, charged_amount) END AS amount
      FROM (
        SELECT j.*, p.proof, least(ceil(coalesce(c.units, 0) * j.cost_multiplier::numeric) + j.fee_units, j.charged_units) AS units
        FROM app.jobs j LEFT JOIN ${costs} AS c ON c.job_id = j.id LEFT JOIN app.payments p ON p.id = j.payment_id
        WHERE j.ended_at IS NOT NULL
      ) AS counted
    ) AS closings
    WHERE units IS DISTINCT FROM committed_units OR (amount IS DISTINCT FROM committed_amount
      AND NOT (committed_amount IS NULL AND proof IS NOT DISTINCT FROM 'reversed'))`,
}

/** An end counts fees of calls as they are; one that was not known yet at most as it was stated. */
const ofFees: RowRule = {
  table: 'app.jobs',
  broken: sql`
    SELECT id::text AS id, concat_ws(' ', 'fees', least(greatest(fee_units, coalesce(low, 0)), coalesce(high, 0))) AS expected,
      concat_ws(' ', 'fees', fee_units) AS found
    FROM app.jobs j LEFT JOIN (
      SELECT a.job_id, sum(least(s.fee_units, s.stated_fee_units)) AS low, sum(greatest(s.fee_units, s.stated_fee_units)) AS high
      FROM app.job_attempts a JOIN app.spends s
        ON s.job_id = a.job_id::text AND s.node_id = a.node_id AND s.state IN ('sending', 'settled')
      WHERE a.paid_units IS NOT NULL GROUP BY a.job_id
    ) AS f ON f.job_id = j.id
    WHERE ended_at IS NOT NULL AND (fee_units < coalesce(low, 0) OR fee_units > coalesce(high, 0))`,
}

/** Refunds owed, by payment: the part that a job did not cost, and payments for nothing. */
const owedRefunds = sql`
  SELECT payment_id AS reference, payer, chain_id, token AS currency, charged_amount - committed_amount AS amount,
    true AS is_due
  FROM app.jobs WHERE payment_id IS NOT NULL AND ended_at IS NOT NULL AND committed_amount < charged_amount
  UNION ALL
  SELECT id, payer, chain_id, currency, amount, false FROM app.payments WHERE owed_at IS NOT NULL`

/** Refunds by payment: one that is owed for a call that cost less is its job's. */
const refunds = sql`
  SELECT min(o.id) AS id, coalesce(j.payment_id, o.reference) AS reference, o.chain_id, o.currency, o.recipient,
    sum(o.amount) AS amount, bool_or(o.state = 'withdrawn') AS is_withdrawn
  FROM app.payouts o LEFT JOIN app.spends s ON s.id = o.reference LEFT JOIN app.jobs j ON j.id = s.job_id::uuid
  WHERE o.kind = 'refund' GROUP BY 2, 3, 4, 5`

/**
 * A refund is exactly what is owed, to who paid; what a job owes is refunded unless the chain took its
 * payment back. Only then is a debt withdrawn.
 */
const ofRefunds: RowRule = {
  table: 'app.payouts',
  broken: sql`
    SELECT * FROM (
      SELECT coalesce(o.id, 'refund of ' || d.reference) AS id,
        CASE WHEN d.reference IS NULL THEN 'nothing is owed' WHEN o.is_withdrawn AND p.proof IS DISTINCT FROM 'reversed' THEN 'it is owed'
          ELSE concat_ws(' ', 'to', ${hex('d.payer')}, ${moneyOf('d.chain_id', 'd.currency', sql`d.amount`)}) END AS expected,
        CASE WHEN o.id IS NULL THEN 'none'
          ELSE concat_ws(' ', 'to', ${hex('o.recipient')}, ${moneyOf('o.chain_id', 'o.currency', sql`o.amount`)}) END AS found,
        o.id IS NOT NULL OR (d.is_due AND p.proof IS DISTINCT FROM 'reversed') AS is_asked
      FROM (${refunds}) AS o
      FULL JOIN (${owedRefunds}) AS d ON d.reference = o.reference
      LEFT JOIN app.payments p ON p.id = coalesce(o.reference, d.reference)
    ) AS refunds WHERE is_asked AND expected <> found`,
}

/** A reward and its part of a fee are no more than its job earned, to who paid for it. */
const ofRewards: RowRule = {
  table: 'app.payouts',
  broken: sql`
    SELECT * FROM (
      SELECT o.id,
        CASE WHEN j.id IS NULL THEN 'no job' WHEN o.state = 'withdrawn' AND p.proof IS DISTINCT FROM 'reversed' THEN 'it is owed'
          ELSE concat_ws(' ', 'to', ${hex('j.payer')}, ${moneyOf(
            'j.chain_id',
            'j.token',
            sql`least(o.amount, j.committed_amount - coalesce(o.fee_part, 0) - ${rescaled(sql`(coalesce(c.units, 0) + j.fee_units)`, 'j.decimals', 'j.token_decimals')})`,
          )}) END AS expected,
        concat_ws(' ', 'to', ${hex('o.recipient')}, ${moneyOf('o.chain_id', 'o.currency', sql`o.amount`)}) AS found
      FROM app.payouts o LEFT JOIN app.jobs j ON j.id::text = o.reference
      LEFT JOIN ${costs} AS c ON c.job_id = j.id LEFT JOIN app.payments p ON p.id = j.payment_id
      WHERE o.kind = 'reward'
    ) AS rewards WHERE expected <> found`,
}

/** A paid payout has the transaction that paid it. */
const ofPaid: RowRule = {
  table: 'app.payouts',
  broken: sql`
    SELECT o.id, 'a transaction, a block and a time' AS expected, 'not all of them' AS found
    FROM app.payouts o JOIN app.payouts w ON w.id = coalesce(o.sent_with, o.id)
    LEFT JOIN app.payout_transactions t ON t.payout_id = w.id AND t.attempt = w.attempt AND t.chain_id = o.chain_id
    WHERE o.state = 'paid' AND (t.tx_hash IS NULL OR o.block_number IS NULL OR o.paid_at IS NULL)`,
}

/** A call costs what the wallet spent for it; nothing else does. */
const ofCalls: RowRule = {
  table: 'app.job_attempts',
  broken: sql`
    SELECT * FROM (
      SELECT concat_ws(' ', a.job_id, a.node_id, a.attempt) AS id,
        coalesce(concat_ws(' ', ${moneyOf('s.chain_id', 's.currency', sql`s.amount`)}, CASE WHEN a.paid_reference IN (${hex('s.tx_hash')}, ${hex('s.reference')})
          THEN a.paid_reference ELSE coalesce(${hex('s.tx_hash')}, ${hex('s.reference')}) END), 'no spend') AS expected,
        concat_ws(' ', ${moneyOf('a.paid_chain_id', 'a.paid_token', sql`a.paid_amount`)}, a.paid_reference) AS found
      FROM app.job_attempts a LEFT JOIN app.spends s
        ON s.job_id = a.job_id::text AND s.node_id = a.node_id AND s.state IN ('sending', 'settled')
      WHERE a.paid_reference IS NOT NULL
    ) AS calls WHERE expected <> found`,
}

/** A spend that the wallet has paid is known by its transaction. */
const ofSpends: RowRule = {
  table: 'app.spends',
  broken: sql`
    SELECT id, 'a transaction and a time' AS expected, 'not both' AS found FROM app.spends
    WHERE state = 'settled' AND (tx_hash IS NULL OR ended_at IS NULL)`,
}

/** A channel has spent what its payments sum to, and paid out what its captures do. */
const ofChannels: RowRule = {
  table: 'app.channels',
  broken: sql`
    SELECT * FROM (
      SELECT ${hex('c.id')} AS id,
        concat_ws(' ', 'spent', coalesce(p.amount, 0), 'settled', coalesce(x.amount, 0), 'captures', coalesce(x.is_whole, true)) AS expected,
        concat_ws(' ', 'spent', c.spent, 'settled', c.settled, 'captures', true) AS found
      FROM app.channels c
      LEFT JOIN (
        SELECT split_part(identity, ':', 1) AS id, sum(amount) AS amount FROM app.payments
        WHERE method = 'tempo/session' AND (state = 'settled' OR taken_at IS NOT NULL) GROUP BY 1
      ) AS p ON p.id = ${hex('c.id')}
      LEFT JOIN (
        SELECT channel_id, sum(amount) AS amount, bool_and(settled = so_far) AS is_whole
        FROM (SELECT *, sum(amount) OVER (PARTITION BY channel_id ORDER BY settled) AS so_far FROM app.channel_captures) AS captures
        GROUP BY channel_id
      ) AS x ON x.channel_id = c.id
    ) AS channels WHERE expected <> found`,
}

const rules: readonly RowRule[] = [
  ...[ofPayments, ofCharges, ofOrphans, ofClosings, ofFees, ofRefunds],
  ...[ofRewards, ofPaid, ofCalls, ofSpends, ofChannels],
]

/** The first of each rule that break it. The database reads all rows of money once. */
export async function compareRows(app: AppDatabase, limit: number): Promise<readonly RowDifference[]> {
  const found: RowDifference[] = []
  for (const { table, broken } of rules) {
    const { rows } = await sql<Omit<RowDifference, 'table'>>`
      SELECT id, expected, found FROM (${broken}) AS broken ORDER BY id LIMIT ${limit}`.execute(app)
    found.push(...rows.map((row) => ({ table, ...row })))
  }
  return found
}
