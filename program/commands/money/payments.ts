/** `millrace payments`: what was paid, and whether every unit of it is accounted for. */
import { type AuditReport, auditBooks } from '#payments/books/audit.ts'
import { appDatabase } from '#rows/database.ts'
import { listPayments } from '#rows/payments/payments.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { bookedChains } from '../../parts/payments/bookedChains.ts'
import { withDatabases } from '../../stores.ts'

/** Payments shown at once. */
const SHOWN = 1_000

export async function printPayments(
  config: Config,
  json: boolean,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const payments = await withDatabases(config, runtime, log, ({ postgres }) =>
    listPayments(appDatabase(postgres), SHOWN),
  )
  const told = payments.map(
    ({ id, state, scope, payer, currency, amount, txHash, isAnswered, isReversed, settledAt }) => ({
      ...{
        id,
        state: isReversed ? 'reversed' : state,
        scope,
        payer,
        currency,
        amount: `${amount}`,
        txHash,
        isAnswered,
      },
      settledAt: settledAt?.toISOString() ?? null,
    }),
  )
  if (json) process.stdout.write(`${JSON.stringify(told)}\n`)
  else
    for (const { settledAt, state, amount, currency, payer, scope } of told)
      process.stdout.write(
        `${settledAt ?? '-'.padEnd(24)}  ${state.padEnd(8)}  ${amount} of ${currency}  ${payer}  ${scope}\n`,
      )
}

/**
 * Compares books, payments and the indexed transfers to the payee. False where they differ by a
 * single unit.
 */
export async function auditPayments(
  config: Config,
  json: boolean,
  runtime: Runtime,
  log: Logger,
): Promise<boolean> {
  const report = await withDatabases(config, runtime, log, async ({ postgres }) =>
    auditBooks(appDatabase(postgres), (await bookedChains(config, postgres)).indexed),
  )
  const text = json
    ? JSON.stringify(report, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    : null
  process.stdout.write(text === null ? auditLines(report).join('') : `${text}\n`)
  return report.isRight
}

/** @param unchecked chains, or blocks of them, that nobody told of */
export const auditLines = (
  { isRight, revenue, received, unbalanced, differing, open }: AuditReport,
  unchecked: readonly string[] = [],
): readonly string[] => [
  ...revenue.map(
    ({ account, currency, ledger, payments }) =>
      `${account}  ${currency}  ${ledger}${ledger === payments ? '' : `, but payments sum to ${payments}`}\n`,
  ),
  ...received.map(
    ({ recipient, currency, transfers, payments, others }) =>
      `${recipient} received ${transfers} of ${currency} for payments${transfers === payments ? '' : ` of ${payments}`}; ${others.amount} more in ${others.count} transfers of others\n`,
  ),
  ...unbalanced.map((id) => `the entries of ${id} do not sum to 0\n`),
  ...differing.map(({ payment, problem }) => `${payment}: ${problem}\n`),
  open === 0 ? '' : `${open} payments are in no final block yet\n`,
  ...unchecked.map((what) => `not checked: ${what}\n`),
  isRight
    ? unchecked.length === 0
      ? 'every unit is accounted for\n'
      : 'nothing differs in what was checked\n'
    : 'books, payments and chain differ\n',
]
