/** `millrace payments`: what was paid, and whether every unit of it is accounted for. */
import { type AuditedChain, type AuditReport, auditBooks } from '#payments/books/audit.ts'
import { appDatabase } from '#rows/database.ts'
import { listPayments } from '#rows/payments/payments.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { listChainIds } from '#store/maintain/heldChains.ts'
import type { Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
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

/** All that are indexed here. */
export const auditedChains = async (postgres: Postgres): Promise<readonly AuditedChain[]> =>
  (await listChainIds(postgres)).map((chainId) => ({
    ...{ chainId, schema: schemaOf(chainId), reads: postgres.reads },
  }))

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
    auditBooks(appDatabase(postgres), await auditedChains(postgres)),
  )
  const text = json
    ? JSON.stringify(report, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    : null
  process.stdout.write(text === null ? auditLines(report).join('') : `${text}\n`)
  return report.isRight
}

export const auditLines = ({
  isRight,
  revenue,
  received,
  unbalanced,
  differing,
  open,
}: AuditReport): readonly string[] => [
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
  isRight ? 'every unit is accounted for\n' : 'books, payments and chain differ\n',
]
