/** What is sent out: refunds and rewards, out of a key of the operator's, or of a dev chain's payee. */
import { privateKeyToAccount } from 'viem/accounts'
import type { PaymentSettings } from '#api/access/paymentSettings.ts'
import { amountOf } from '#money/amounts.ts'
import type { Ask } from '#money/node.ts'
import type { Offers } from '#payments/methods/charge/Offers.ts'
import { PayoutChain } from '#payments/payouts/PayoutChain.ts'
import { Payouts } from '#payments/payouts/Payouts.ts'
import { appDatabase } from '#rows/database.ts'
import { readKeyFile } from '../../settings/keyFile.ts'
import { devKey } from '../devKey.ts'
import type { Base } from '../part.ts'

export interface OpenedPayouts {
  /** Null where no key is there to send with. */
  readonly payouts: Payouts | null
  /** What may be sent out within a day, by currency, in its smallest unit. */
  readonly budgets: () => ReadonlyMap<string, bigint>
  readonly notes: readonly string[]
}

/** Dollars that a dev chain's payee sends out in a day. */
const DEV_DOLLARS_PER_DAY = '100'

/** @throws SettingError */
export function openPayouts(
  { config, program, runtime, log }: Pick<Base, 'config' | 'program' | 'runtime' | 'log'>,
  { chainId, currencies, payouts: settings }: PaymentSettings,
  offers: Offers,
  nodes: readonly Ask[],
): OpenedPayouts {
  const isDev = program.reachable.some((chain) => chain.chainId === chainId && chain.devChain !== null)
  if (!settings && !isDev)
    return {
      payouts: null,
      budgets: () => new Map(),
      notes: ['refunds stay queued: payments.payouts names no key to send them with'],
    }
  const key = settings
    ? readKeyFile('ACCESS_FILE', 'payments.payouts.keyFile', settings.keyFile)
    : devKey(config, 'payee')
  const dollars = settings?.dollarsPerDay ?? DEV_DOLLARS_PER_DAY
  const account = privateKeyToAccount(key)
  const budgets = () =>
    new Map(
      offers.current().map(({ address, decimals }) => [address as string, amountOf(dollars, 1, decimals)]),
    )
  const payouts = new Payouts({
    app: appDatabase(program.engines.postgres),
    chain: new PayoutChain({
      ...{ chainId, account, feeTokens: currencies, nodes, clock: runtime.clock },
    }),
    budgetOf: (currency) => budgets().get(currency) ?? null,
    ...{ runtime, log },
  })
  const note = `refunds are sent by ${account.address} on chain ${chainId}, for at most ${dollars} dollars a day and currency, beside one debt that is more`
  return { payouts, budgets, notes: [note] }
}
