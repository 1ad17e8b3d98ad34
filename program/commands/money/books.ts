/** `millrace books`: the operator's proof, and his accounts. */
import { type BooksReport, checkBooks, unnamedText } from '#payments/books/checkBooks.ts'
import type { NodeCheck, UnnamedTransfers } from '#payments/books/nodeChain.ts'
import { daysWithMoney, readMoneyOf } from '#rows/books/moneyByDay.ts'
import { appDatabase } from '#rows/database.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { bookedChains } from '../../parts/payments/bookedChains.ts'
import { withDatabases } from '../../stores.ts'
import { auditLines } from './payments.ts'

/** The exit code if there is no difference, and not all was checked. */
const UNCHECKED_EXIT_CODE = 2

/** The exit code: 1 where a single unit is not accounted for, 2 where a chain did not tell of all of it. */
export async function printBooks(
  config: Config,
  { json, all }: { readonly json: boolean; readonly all: boolean },
  runtime: Runtime,
  log: Logger,
): Promise<number> {
  const report = await withDatabases(config, runtime, log, async ({ postgres }) =>
    checkBooks(appDatabase(postgres), await bookedChains(config, postgres), all),
  )
  const text = json
    ? `${JSON.stringify(report, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}\n`
    : linesOf(report).join('')
  process.stdout.write(text)
  if (!report.isRight) return 1
  return uncheckedIn(report).length > 0 ? UNCHECKED_EXIT_CODE : 0
}

/** A sentence each. */
const uncheckedIn = ({ unchecked, unnamed }: BooksReport): readonly string[] => [
  ...unchecked,
  ...unnamed.map(unnamedText),
]

const linesOf = (report: BooksReport): readonly string[] => [
  ...report.differences.map(
    ({ transactionId, account, currency, expected, ledger }) =>
      `${transactionId}  ${account}  ${ledger ?? 'nothing'} of ${currency}, but its rows say ${expected ?? 'nothing'}\n`,
  ),
  ...report.rows.map(
    ({ table, id, expected, found }) => `${table} ${id}: ${found}, but other rows say ${expected}\n`,
  ),
  ...report.unbooked.map(
    ({ id, amount, currency, to }) => `${id}: ${amount} of ${currency} left to ${to}, and no books have it\n`,
  ),
  ...report.missent.map(({ id, problem }) => `${id}: ${problem}\n`),
  ...report.paidUnknown.map(
    ({ id, txHash }) =>
      `${id} is owed by its row, but paid by ${txHash}: \`millrace payments settle ${id} ${txHash}\`\n`,
  ),
  ...report.left.flatMap(({ account, currency, count, amount, first }) => [
    `${account} sent ${amount} of ${currency} in ${count} transfers that no row names\n`,
    ...first.map(({ txHash, to, amount: one }) => `  ${txHash}  ${one} to ${to}\n`),
  ]),
  ...report.elsewhere.flatMap(elsewhereLines),
  report.open === 0 ? '' : `${report.open} of what was sent is in no final block of an indexed chain\n`,
  ...auditLines({ ...report.payments, isRight: report.isRight }, uncheckedIn(report)),
]

function elsewhereLines({ chainId, blocks, received, left, open }: NodeCheck): readonly string[] {
  const tell = (what: string, { count, first }: UnnamedTransfers) =>
    count === 0
      ? []
      : [
          `${count} transfers ${what} on chain ${chainId} that no row names\n`,
          ...first.map(
            ({ txHash, from, to, amount, token }) =>
              `  ${txHash}  ${amount} of ${token} from ${from} to ${to}\n`,
          ),
        ]
  return [
    blocks ? `chain ${chainId}: blocks ${blocks.from} to ${blocks.to} were asked of its nodes\n` : '',
    ...tell('came in', received),
    ...tell('left', left),
    open === 0 ? '' : `${open} of what moved on chain ${chainId} is in no final block yet\n`,
  ]
}

/** CSV, a line for each day, kind, service, payer and currency. */
export async function exportBooks(config: Config, runtime: Runtime, log: Logger): Promise<void> {
  await withDatabases(config, runtime, log, async ({ postgres }) => {
    const app = appDatabase(postgres)
    process.stdout.write('day,kind,service,payer,chain_id,currency,amount,count\n')
    const days = await daysWithMoney(app)
    for (let day = days?.first; days && day && day <= days.last; day = dayAfter(day))
      for (const { kind, service, payer, chainId, currency, amount, count } of await readMoneyOf(app, day))
        process.stdout.write(`${[day, kind, service, payer, chainId, currency, amount, count].join(',')}\n`)
  })
}

const DAY_MS = 24 * 3_600_000
const dayAfter = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10)
