/** Income and cost of a day, by service and payer. */
import { sql } from 'kysely'
import { PAYEE } from '#money/accounts.ts'
import { toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { revertedPayouts } from './moneySent.ts'

/**
 * - `payment`: of a payer, for a scope;
 * - `reversed`: what the chain took back of them;
 * - `refund`, `reward`: to a payer;
 * - `cost`: of a payer's jobs, to a service;
 * - `fee`: of chains, for a call of a service, a refund or a reward.
 */
export const moneyKinds = ['payment', 'reversed', 'refund', 'reward', 'cost', 'fee'] as const
export type MoneyKind = (typeof moneyKinds)[number]

export interface MoneyLine {
  readonly kind: MoneyKind
  /** The thing paid for: a scope such as `data:read`, or the id of a service. */
  readonly service: string
  /** Lowercase addresses. */
  readonly payer: string
  readonly chainId: number
  readonly currency: string
  /** In the currency's smallest unit; what left is negative. */
  readonly amount: bigint
  readonly count: number
}

interface LineRow {
  readonly kind: MoneyKind
  readonly service: string
  readonly payer: Buffer
  readonly chain_id: number
  readonly currency: Buffer
  readonly amount: string
  readonly count: number
}

/** The first and last day (UTC, as 2026-11-26) that anything moved on; null where nothing ever did. */
export async function daysWithMoney(app: AppDatabase): Promise<{ first: string; last: string } | null> {
  const { first, last } = await app
    .selectFrom('app.ledger_entries')
    .select([dayOf('min').as('first'), dayOf('max').as('last')])
    .executeTakeFirstOrThrow()
  return first === null || last === null ? null : { first, last }
}

const dayOf = (which: 'min' | 'max') =>
  sql<string | null>`to_char(${sql.raw(which)}(recorded_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`

/** @param day UTC, as 2026-11-26 */
export async function readMoneyOf(app: AppDatabase, day: string): Promise<readonly MoneyLine[]> {
  const { rows } = await sql<LineRow>`
    SELECT kind, service, payer, chain_id, currency, sum(amount) AS amount, count(*)::int AS count
    FROM (${movedFrom(day, day)}) AS moved
    GROUP BY kind, service, payer, chain_id, currency ORDER BY kind, service, payer, chain_id, currency`.execute(
    app,
  )
  return rows.map((row) => ({
    ...sumOf(row),
    service: row.service,
    payer: toHex(row.payer),
  }))
}

/** All services and payers together. */
export interface MoneyDay extends Omit<MoneyLine, 'service' | 'payer'> {
  /** UTC, as 2026-11-26. */
  readonly day: string
}

/** @param first, last UTC, as 2026-11-26, both inclusive */
export async function sumMoneyByDay(
  app: AppDatabase,
  { first, last }: { readonly first: string; readonly last: string },
): Promise<readonly MoneyDay[]> {
  const { rows } = await sql<Omit<LineRow, 'service' | 'payer'> & { readonly day: string }>`
    SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, kind, chain_id, currency,
      sum(amount) AS amount, count(*)::int AS count
    FROM (${movedFrom(first, last)}) AS moved
    GROUP BY day, kind, chain_id, currency ORDER BY day, kind, chain_id, currency`.execute(app)
  return rows.map((row) => ({ day: row.day, ...sumOf(row) }))
}

const sumOf = (row: Omit<LineRow, 'service' | 'payer'>) => ({
  kind: row.kind,
  chainId: Number(row.chain_id),
  currency: toHex(row.currency),
  amount: BigInt(row.amount),
  count: row.count,
})

/** Each movement of the days, both inclusive. */
function movedFrom(first: string, last: string) {
  const [from, to] = [first, last].map((day) => sql`(${day}::date)::timestamp AT TIME ZONE 'UTC'`)
  const within = (column: string) =>
    sql`${sql.ref(column)} >= ${from} AND ${sql.ref(column)} < ${to} + interval '1 day'`
  return sql`
      SELECT 'payment' AS kind, settled_at AS at, scope AS service, payer, chain_id, currency, amount
      FROM app.payments WHERE state = 'settled' AND ${within('settled_at')}
      UNION ALL
      SELECT 'reversed', l.recorded_at, p.scope, p.payer, p.chain_id, p.currency, -p.amount
      FROM app.payments p JOIN app.ledger_entries l
        ON l.transaction_id = p.id || '/reversed' AND l.amount > 0 AND ${within('l.recorded_at')}
      WHERE p.proof = 'reversed'
      UNION ALL
      SELECT o.kind, o.paid_at, coalesce(p.scope, 'jobs'), o.recipient, o.chain_id, o.currency, -o.amount
      FROM app.payouts o LEFT JOIN app.payments p ON p.id = o.reference
      WHERE o.state = 'paid' AND ${within('o.paid_at')}
      UNION ALL
      SELECT 'cost', a.ended_at, n.service_id, j.payer, a.paid_chain_id, a.paid_token, -a.paid_amount
      FROM app.job_attempts a JOIN app.job_nodes n USING (job_id, node_id) JOIN app.jobs j ON j.id = a.job_id
      WHERE a.paid_reference IS NOT NULL AND ${within('a.ended_at')}
      UNION ALL
      SELECT 'fee', s.ended_at, s.service_id, j.payer, s.chain_id, s.fee_currency, -s.fee
      FROM app.spends s JOIN app.jobs j ON j.id = s.job_id::uuid WHERE s.fee > 0 AND ${within('s.ended_at')}
      UNION ALL
      SELECT 'fee', o.paid_at, coalesce(p.scope, 'jobs'), o.recipient, l.chain_id, l.currency, l.amount
      FROM app.payouts o JOIN app.ledger_entries l ON l.transaction_id = o.id AND l.account = ${PAYEE}
        LEFT JOIN app.payments p ON p.id = o.reference
      WHERE o.state = 'paid' AND ${within('o.paid_at')}
      UNION ALL
      SELECT 'fee', l.recorded_at, coalesce(p.scope, 'jobs'), o.recipient, l.chain_id, l.currency, l.amount
      FROM app.ledger_entries l JOIN (${revertedPayouts}) AS t USING (transaction_id) JOIN app.payouts o ON o.id = t.payout_id
        LEFT JOIN app.payments p ON p.id = o.reference
      WHERE l.account = ${PAYEE} AND ${within('l.recorded_at')}`
}
