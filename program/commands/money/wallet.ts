/** `millrace wallet`: what the wallet has and spends, and its pause. */
import { SettingError } from '#errors.ts'
import { appDatabase } from '#rows/database.ts'
import { pause, resumeWallet } from '#rows/payments/pauses.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { besideDevChain } from '#wallet/currencies.ts'
import { readBalances } from '#wallet/spend/WalletWatch.ts'
import { readWalletReport, type WalletReport } from '#wallet/spend/walletReport.ts'
import { openBeside } from '../../beside.ts'
import type { Config } from '../../config.ts'
import { walletKeysOf } from '../../parts/wallet/walletKeys.ts'
import { withDatabases } from '../../stores.ts'

/** @throws SettingError where there is no wallet */
export async function printWallet(config: Config, json: boolean, runtime: Runtime, log: Logger) {
  const report = await readReport(config, runtime, log)
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : `${linesOf(report).join('\n')}\n`)
}

async function readReport(config: Config, runtime: Runtime, log: Logger): Promise<WalletReport> {
  const { engines, reachable, close } = await openBeside(config, runtime, log)
  try {
    const keys = walletKeysOf(config, reachable)
    if (!keys) throw new SettingError('WALLET_FILE', 'is not set, and there is no local dev chain')
    const { account, chains, limits } = keys
    const { address } = account
    const local = reachable.find(({ devChain }) => devChain !== null)
    const terms = besideDevChain(config.quoteTerms, local?.chainId ?? null)
    const balances = await readBalances({ address, chains, terms })
    return await readWalletReport({ app: appDatabase(engines.postgres), address, terms, limits }, balances)
  } finally {
    await close()
  }
}

function linesOf(report: WalletReport): readonly string[] {
  const { address, paused, pauseReason, awaitsReconciliation, balances, reserved, day, spent } = report
  const { held, left, limits } = report
  const told = (text: string | null) => text ?? 'no node answers, or no such token'
  return [
    `address   ${address}`,
    `state     ${paused === null ? 'pays' : `paused since ${paused}: ${pauseReason}`}${awaitsReconciliation ? ', and looks for what was paid before its database was restored' : ''}`,
    ...balances.map(
      ({ chainId, token, amount }) => `has       ${told(amount)} of ${token} on chain ${chainId}`,
    ),
    `reserved  ${reserved}, and ${held} by jobs of today that run`,
    `left      ${left} of ${limits.day} on ${day}`,
    ...spent.map(
      ({ kind, subject, dollars }) =>
        `${day}  ${dollars} ${kind === 'all' ? 'altogether' : `${kind === 'payer' ? 'for' : 'to'} ${kind} ${subject}`}`,
    ),
    `limits    ${limits.job} a job; a day ${limits.day}, ${limits.service} to a service, ${limits.payee} to a payee, ${limits.payer} for jobs of a payer`,
  ]
}

/** Every process heeds it from its next payment on. */
export async function pauseWallet(config: Config, runtime: Runtime, log: Logger): Promise<void> {
  await withDatabases(config, runtime, log, ({ postgres }) =>
    pause(appDatabase(postgres), 'wallet', 'by the operator'),
  )
  process.stdout.write('the wallet is paused; what was sent before is still followed\n')
}

/** Payouts that stand for the same restore go on, too. */
export async function resumePaying(config: Config, runtime: Runtime, log: Logger): Promise<void> {
  const was = await withDatabases(config, runtime, log, ({ postgres }) => resumeWallet(appDatabase(postgres)))
  process.stdout.write(was ? 'the wallet pays from now on\n' : 'the wallet was not paused\n')
}
