/**
 * `millrace payments refunds|refund|settle|unpaid|pause|resume`: what is owed to payers, and the way it
 * goes back.
 */
import { http } from 'viem'
import { SettingError } from '#errors.ts'
import { askOf } from '#money/node.ts'
import { settleByHand } from '#payments/payouts/paidElsewhere.ts'
import { appDatabase } from '#rows/database.ts'
import { declareUnpaid } from '#rows/payments/forgotten.ts'
import { type Liability, listLiabilities, queueRefund } from '#rows/payments/liabilities.ts'
import { listPayouts } from '#rows/payments/listedPayouts.ts'
import { pause, resume } from '#rows/payments/pauses.ts'
import { findPayoutById } from '#rows/payments/payouts.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { withDatabases } from '../../stores.ts'
import { findDevChain } from '../operator/devchain.ts'

/** Shown, or queued, at once. */
const ROWS_MAX = 10_000

export async function printRefunds(
  config: Config,
  json: boolean,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const { owed, payouts } = await withDatabases(config, runtime, log, async ({ postgres }) => {
    const app = appDatabase(postgres)
    return { owed: await listLiabilities(app, ROWS_MAX), payouts: await listPayouts(app, ROWS_MAX) }
  })
  const told = {
    owed: owed.map(({ amount, owedAt, ...one }) => ({
      ...one,
      amount: `${amount}`,
      owedAt: owedAt.toISOString(),
    })),
    payouts: payouts.map(
      ({ id, kind, reference, state, to, currency, amount, attempt, problem, ...one }) => ({
        ...{ id, kind, reference, state, to, currency, amount: `${amount}`, attempt, problem },
        txHash: one.transaction?.txHash ?? null,
        paidAt: one.paidAt?.toISOString() ?? null,
      }),
    ),
  }
  if (json) return void process.stdout.write(`${JSON.stringify(told)}\n`)
  for (const { id, owedAt, amount, currency, payer, refund } of told.owed)
    process.stdout.write(
      `${owedAt}  ${id}  ${amount} of ${currency} to ${payer}  ${refund ?? 'no refund queued'}\n`,
    )
  for (const { id, kind, state, amount, currency, to, problem } of told.payouts)
    process.stdout.write(`${id}  ${kind} ${state}  ${amount} of ${currency} to ${to}  ${problem ?? ''}\n`)
}

/** Queues the refund of one payment that is owed, or of all. @throws SettingError for another one */
export async function queueRefunds(
  config: Config,
  asked: { readonly id: unknown; readonly all: boolean },
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const id = typeof asked.id === 'string' ? asked.id : null
  if ((id === null) !== asked.all)
    throw new SettingError('payment', 'name one payment that is owed, or --all')
  const queued = await withDatabases(config, runtime, log, async ({ postgres }) => {
    const app = appDatabase(postgres)
    const wanted = id === null ? owedIds(await listLiabilities(app, ROWS_MAX)) : [id]
    let count = 0
    for (const one of wanted) {
      const became = await queueRefund(app, one, runtime.clock.now())
      if (became === 'not owed') throw new SettingError('payment', `${one} is not owed to its payer`)
      if (became === 'queued') count++
    }
    return count
  })
  process.stdout.write(`${queued} refunds queued: a running program sends them\n`)
}

/**
 * Takes a transfer for a payout: the operator's own on the chain of x402, or one that the database lost.
 * @throws SettingError that says why not
 */
export async function settleRefund(
  config: Config,
  asked: { readonly id: unknown; readonly txHash: unknown },
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const { id, txHash } = asked
  if (typeof id !== 'string') throw new SettingError('payout', 'name one, as `refunds` tells it')
  if (typeof txHash !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(txHash))
    throw new SettingError('transaction', 'expected 0x and 64 hexadecimal digits')
  const problem = await withDatabases(config, runtime, log, async ({ postgres }) => {
    const app = appDatabase(postgres)
    const payout = await findPayoutById(app, id)
    if (!payout) throw new SettingError('payout', `there is no ${id}`)
    const { chainId } = payout
    const nodes = (await urlsOf(config, chainId)).map((url) => askOf(http(url)))
    return settleByHand(app, nodes, { id, txHash: txHash.toLowerCase(), chainId })
  })
  if (problem !== null) throw new SettingError('transaction', problem)
  process.stdout.write(`${id} is paid by ${txHash}\n`)
}

/** Sends a payout that no transfer of before a restore has paid. @throws SettingError */
export async function sendUnpaid(config: Config, id: unknown, runtime: Runtime, log: Logger): Promise<void> {
  if (typeof id !== 'string') throw new SettingError('payout', 'name one, as `refunds` tells it')
  const isSent = await withDatabases(config, runtime, log, ({ postgres }) =>
    declareUnpaid(appDatabase(postgres), id),
  )
  if (!isSent) throw new SettingError('payout', `${id} does not wait for a transfer of before a restore`)
  process.stdout.write(`${id} is sent by a running program\n`)
}

/** Nodes of a chain that payouts are owed on. @throws SettingError where none is known */
async function urlsOf(config: Config, chainId: number): Promise<readonly string[]> {
  const x402 = config.access.payments?.x402
  if (x402?.chainId === chainId) return [x402.rpcUrl]
  const chain = config.chains.find((one) => one.chainId === chainId || one.chainId === null)
  const urls = chain?.rpcUrls.filter((url) => url.startsWith('http')) ?? []
  return urls.length > 0 ? urls : [(await findDevChain(config)).rpcUrl]
}

const owedIds = (owed: readonly Liability[]): readonly string[] =>
  owed.filter(({ refund }) => refund === null).map(({ id }) => id)

/** Refunds and rewards stay queued, in every process, until they are resumed. */
export async function pausePayouts(
  config: Config,
  reason: unknown,
  runtime: Runtime,
  log: Logger,
): Promise<void> {
  const why = typeof reason === 'string' && reason !== '' ? reason : 'by the operator'
  await withDatabases(config, runtime, log, ({ postgres }) => pause(appDatabase(postgres), 'payouts', why))
  process.stdout.write('payouts are paused; what was sent before is still followed\n')
}

export async function resumePayouts(config: Config, runtime: Runtime, log: Logger): Promise<void> {
  const was = await withDatabases(config, runtime, log, ({ postgres }) =>
    resume(appDatabase(postgres), 'payouts'),
  )
  process.stdout.write(was ? 'payouts go on\n' : 'payouts were not paused\n')
}
