/** `millrace payments`: what was paid, and whether every unit of it is accounted for. */
import { appDatabase } from '#rows/database.ts'
import { findUnbalanced, readBalances } from '#rows/payments/ledger.ts'
import { listPayments, sumSettled } from '#rows/payments/payments.ts'
import type { Runtime } from '#runtime/runtime.ts'
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
    ({ id, state, scope, payer, currency, amount, txHash, isAnswered, settledAt }) => ({
      ...{ id, state, scope, payer, currency, amount: `${amount}`, txHash, isAnswered },
      settledAt: settledAt?.toISOString() ?? null,
    }),
  )
  if (json) process.stdout.write(`${JSON.stringify(told)}\n`)
  else
    for (const { settledAt, state, amount, currency, payer, scope } of told)
      process.stdout.write(
        `${settledAt ?? '-'.padEnd(24)}  ${state.padEnd(7)}  ${amount} of ${currency}  ${payer}  ${scope}\n`,
      )
}

/**
 * Compares the entries of revenue with the payments that settled. False where they differ by a
 * single unit.
 */
export async function auditPayments(
  config: Config,
  json: boolean,
  runtime: Runtime,
  log: Logger,
): Promise<boolean> {
  const { balances, settled, unbalanced } = await withDatabases(
    config,
    runtime,
    log,
    async ({ postgres }) => {
      const app = appDatabase(postgres)
      return {
        balances: await readBalances(app),
        settled: await sumSettled(app),
        unbalanced: await findUnbalanced(app),
      }
    },
  )
  const revenue = balances.filter(({ account }) => account.startsWith('revenue:'))
  const keys = new Set([...revenue, ...settled].map(keyOf))
  const lines = [...keys].map((key) => {
    const ofLedger = revenue.find((entry) => keyOf(entry) === key)?.amount ?? 0n
    const ofPayments = settled.find((entry) => keyOf(entry) === key)?.amount ?? 0n
    const [account, chainId, currency] = key.split(' ')
    return { account, chainId: Number(chainId), currency, ledger: `${ofLedger}`, payments: `${ofPayments}` }
  })
  const isRight = unbalanced.length === 0 && lines.every(({ ledger, payments }) => ledger === payments)
  if (json) process.stdout.write(`${JSON.stringify({ isRight, lines, unbalanced })}\n`)
  else {
    for (const { account, currency, ledger, payments } of lines)
      process.stdout.write(
        `${account}  ${currency}  ${ledger}${ledger === payments ? '' : `, but payments sum to ${payments}`}\n`,
      )
    for (const id of unbalanced) process.stdout.write(`the entries of ${id} do not sum to 0\n`)
    process.stdout.write(isRight ? 'every unit is accounted for\n' : 'ledger and payments differ\n')
  }
  return isRight
}

const keyOf = ({ account, chainId, currency }: { account: string; chainId: number; currency: string }) =>
  `${account} ${chainId} ${currency}`
