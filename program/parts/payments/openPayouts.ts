/**
 * Payments that are sent out: refunds and rewards, out of a key of the operator's, or of a dev chain's
 * payee.
 */
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { PaymentSettings } from '#api/access/paymentSettings.ts'
import { amountOf } from '#money/amounts.ts'
import type { Ask } from '#money/node.ts'
import { PayoutRefusedError, type PayoutSender } from '#payments/payouts/PayoutSender.ts'
import { Payouts } from '#payments/payouts/Payouts.ts'
import { UnsentDebts } from '#payments/payouts/UnsentDebts.ts'
import { lowercased } from '#primitives.ts'
import { appDatabase } from '#rows/database.ts'
import { readKeyFile } from '../../settings/keyFile.ts'
import { devKey } from '../devKey.ts'
import type { Base } from '../part.ts'
import { watchOutflows } from '../watchOutflows.ts'

/** The account that debts are paid from, on every chain. */
export interface PayoutAccount {
  readonly account: PrivateKeyAccount
  /** Sent out in each currency within a day, as decimal text. */
  readonly dollarsPerDay: string
}

/** Dollars that a dev chain's payee sends out in a day. */
const DEV_DOLLARS_PER_DAY = '100'

/** Null without a key: nothing that is paid could be given back. @throws SettingError */
export function payoutAccountOf(
  { config, program }: Pick<Base, 'config' | 'program'>,
  { chainId, payouts }: PaymentSettings,
): PayoutAccount | null {
  const isDev = program.reachable.some((chain) => chain.chainId === chainId && chain.devChain !== null)
  if (payouts) {
    const key = readKeyFile('ACCESS_FILE', 'payments.payouts.keyFile', payouts.keyFile)
    return { account: privateKeyToAccount(key), dollarsPerDay: payouts.dollarsPerDay }
  }
  if (!isDev) return null
  const account = privateKeyToAccount(devKey(config, 'payee'))
  return { account, dollarsPerDay: DEV_DOLLARS_PER_DAY }
}

/** A token that debts are owed in. */
export interface OwedToken {
  /** Lowercase address. */
  readonly address: string
  readonly decimals: number
}

/**
 * The most that a transfer to an account costs now, in the token's smallest unit. Rejects where nobody
 * tells it.
 */
export type TransferFee = (
  token: { readonly chainId: number; readonly token: string },
  to: string,
) => Promise<bigint>

export interface OpenedPayouts {
  /** Those that can be paid and sent now, or could before. */
  readonly tokens: () => readonly (OwedToken & { readonly chainId: number })[]
  /** The spending limits of a day, by currency, in its smallest unit. */
  readonly budgets: () => ReadonlyMap<string, bigint>
  readonly notes: readonly string[]
  readonly transferFee: TransferFee
  run(signal: AbortSignal): Promise<unknown>
}

/** A chain that debts are paid on. */
export interface PayoutRoute {
  readonly sender: PayoutSender
  /** A node of it. */
  readonly ask: Ask
  /** Those that can be sent now. */
  readonly tokens: () => readonly OwedToken[]
}

export function openPayouts(
  base: Pick<Base, 'program' | 'runtime' | 'log'>,
  { account, dollarsPerDay }: PayoutAccount,
  routes: readonly PayoutRoute[],
): OpenedPayouts {
  const { program, runtime, log } = base
  const budgets = () =>
    new Map(
      routes
        .flatMap(({ tokens }) => tokens())
        .map(({ address, decimals }) => [address, amountOf(dollarsPerDay, 1, decimals)]),
    )
  const app = appDatabase(program.engines.postgres)
  const budgetOf = (currency: string) => budgets().get(currency) ?? null
  const outflows = watchOutflows(
    base,
    routes.map(({ sender: { chainId }, ask, tokens }) => ({
      ...{ chainId, ask, account: lowercased(account.address) },
      tokens: () => tokens().map(({ address }) => address),
    })),
  )
  const all = routes.map(({ sender: chain }) => {
    const mayPay = () => outflows.mayPay(chain.chainId)
    return new Payouts({ app, chain, budgetOf, mayPay, runtime, log })
  })
  const transferFee: TransferFee = async ({ chainId, token: currency }, to) => {
    const sender = routes.map((route) => route.sender).find((one) => one.chainId === chainId)
    if (!sender) throw new PayoutRefusedError(`nothing is sent on chain ${chainId}`)
    return (await sender.feeTo({ currency, to })).most
  }
  const sendsOn = routes.map(({ sender }) => sender.chainId)
  const unsent = new UnsentDebts({ app, sendsOn, clock: runtime.clock, log })
  const chains = sendsOn.join(' and ')
  return {
    budgets,
    tokens: () =>
      routes.flatMap(({ sender, tokens }) =>
        tokens().map((token) => ({ ...token, chainId: sender.chainId })),
      ),
    transferFee,
    get notes() {
      return [
        `refunds are sent by ${lowercased(account.address)} on chain ${chains}, for at most ${dollarsPerDay} dollars a day and currency, beside one debt that is more`,
        ...unsent.notes,
      ]
    },
    run: (signal) => Promise.all([outflows, unsent, ...all].map((part) => part.run(signal))),
  }
}
