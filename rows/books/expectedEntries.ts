/**
 * Entries that the ledger should have, told by the rows that money moved with: each movement goes from one
 * account to another. A change of a rule of booking is a change here.
 */
import { sql } from 'kysely'
import { refundsOfJob } from '../jobs/refunds.ts'

const accountOf = (column: string) => sql`'payer:0x' || encode(${sql.ref(column)}, 'hex')`

/** A channel pays for its payer. */
const paying = sql`CASE method WHEN 'tempo/session' THEN 'channel:' || split_part(identity, ':', 1) ELSE ${accountOf('payer')} END`

const ofPayments = sql`
  SELECT id AS transaction_id, ${paying} AS source,
    'revenue:' || scope AS target, chain_id, currency, amount
  FROM app.payments WHERE state = 'settled'
  UNION ALL
  SELECT id || '/owed', 'revenue:' || scope, 'refunds', chain_id, currency, amount
  FROM app.payments WHERE owed_at IS NOT NULL
  UNION ALL
  SELECT p.id || '/reversed',
    CASE WHEN p.owed_at IS NULL THEN 'revenue:' || p.scope WHEN ${isSent('refund', sql`p.id`)} THEN 'costs:reversed' ELSE 'refunds' END,
    ${paying}, p.chain_id, p.currency, p.amount
  FROM app.payments p WHERE p.proof = 'reversed'`

/** Whether a debt left, or may have, before what it was owed for was taken back. */
function isSent(kind: 'refund' | 'reward', reference: ReturnType<typeof sql>) {
  return sql`EXISTS (SELECT FROM app.payouts o WHERE o.kind = ${sql.lit(kind)} AND o.reference = ${reference} AND o.state <> 'withdrawn')`
}

const ofJobs = sql`
  SELECT 'job:' || payment_id || '/held' AS transaction_id, 'revenue:jobs' AS source, 'escrow:jobs' AS target,
    chain_id, token AS currency, charged_amount AS amount
  FROM app.jobs WHERE payment_id IS NOT NULL
  UNION ALL
  SELECT 'job:' || payment_id || '/closed', 'escrow:jobs', 'revenue:jobs', chain_id, token, committed_amount
  FROM app.jobs WHERE payment_id IS NOT NULL AND ended_at IS NOT NULL AND committed_amount > 0
  UNION ALL
  SELECT 'job:' || payment_id || '/closed', 'escrow:jobs', 'refunds', chain_id, token, charged_amount - committed_amount
  FROM app.jobs WHERE payment_id IS NOT NULL AND ended_at IS NOT NULL AND committed_amount < charged_amount`

/** Jobs whose payment the chain took back: one that had not ended committed nothing. */
const ofReversedJobs = sql`
  SELECT 'job:' || j.payment_id || '/reversed' AS transaction_id, m.source, 'revenue:jobs' AS target,
    j.chain_id, j.token AS currency, m.amount
  FROM app.jobs j JOIN app.payments p ON p.id = j.payment_id AND p.proof = 'reversed'
  LEFT JOIN app.payouts r ON r.kind = 'reward' AND r.reference = j.id::text AND j.committed_amount IS NOT NULL,
  LATERAL (SELECT coalesce(sum(amount), 0) AS sent FROM app.payouts
    WHERE kind = 'refund' AND state <> 'withdrawn' AND reference = ANY(${refundsOfJob('j')})) AS o,
  LATERAL (VALUES
    ('escrow:jobs', CASE WHEN j.committed_amount IS NULL THEN j.charged_amount END),
    ('costs:reversed', o.sent),
    ('refunds', j.charged_amount - j.committed_amount - o.sent),
    (CASE WHEN r.state <> 'withdrawn' THEN 'costs:reversed' ELSE 'rewards' END, r.amount)
  ) AS m (source, amount)
  WHERE m.amount > 0`

const ofCalls = sql`
  SELECT 'cost:' || paid_chain_id || ':' || paid_reference AS transaction_id, 'wallet' AS source,
    CASE WHEN outcome = 'answered' AND error_code IS NULL THEN 'cost:jobs' ELSE 'cost:undelivered' END AS target,
    paid_chain_id AS chain_id, paid_token AS currency, paid_amount AS amount
  FROM app.job_attempts WHERE paid_reference IS NOT NULL`

const ofFees = sql`
  SELECT 'fee:' || id AS transaction_id, 'wallet' AS source, 'costs:fees' AS target, chain_id, fee_currency AS currency, fee AS amount
  FROM app.spends WHERE fee > 0`

const ofPayouts = sql`
  SELECT 'reward:' || reference AS transaction_id, 'revenue:jobs' AS source, 'rewards' AS target, chain_id, currency, amount
  FROM app.payouts WHERE kind = 'reward'
  UNION ALL
  SELECT id, kind || 's', ${accountOf('recipient')}, chain_id, currency, amount
  FROM app.payouts WHERE state = 'paid'
  UNION ALL
  SELECT '0x' || encode(c.id, 'hex') || ':' || x.settled, ${accountOf('c.payer')}, 'channel:0x' || encode(c.id, 'hex'),
    c.chain_id, c.token, x.amount
  FROM app.channel_captures x JOIN app.channels c ON c.id = x.channel_id`

/** Rows of `transaction_id, account, chain_id, currency, amount`. */
export const expectedEntries = sql`
  SELECT m.transaction_id, e.account, m.chain_id, m.currency, sum(e.amount) AS amount
  FROM (${ofPayments} UNION ALL ${ofJobs} UNION ALL ${ofReversedJobs} UNION ALL ${ofCalls} UNION ALL ${ofFees} UNION ALL ${ofPayouts}) AS m,
  LATERAL (VALUES (m.source, -m.amount), (m.target, m.amount)) AS e (account, amount)
  GROUP BY m.transaction_id, e.account, m.chain_id, m.currency
  HAVING sum(e.amount) <> 0`
