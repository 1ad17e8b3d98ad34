/** The wallet: what jobs buy with. Beside a dev chain it needs no setting. */
import { lowercased } from '#primitives.ts'
import { appDatabase } from '#rows/database.ts'
import type { WalletBudget } from '#wallet/budget.ts'
import type { Buyer } from '#wallet/buyer.ts'
import { besideDevChain, tokensAtPar } from '#wallet/currencies.ts'
import { askAny } from '#wallet/payChain.ts'
import { Budget } from '#wallet/spend/Budget.ts'
import { Spender } from '#wallet/spend/Spender.ts'
import { SpendReconciler } from '#wallet/spend/SpendReconciler.ts'
import { WalletWatch } from '#wallet/spend/WalletWatch.ts'
import { readWalletReport, type WalletReport } from '#wallet/spend/walletReport.ts'
import { type Base, definePart, type Part } from '../part.ts'
import { watchOutflows } from '../watchOutflows.ts'
import { walletKeysOf } from './walletKeys.ts'

export interface WalletPart extends Part {
  /** Null where there is no wallet. */
  readonly buyer: Buyer | null
  /** Null where there is no wallet. */
  readonly budget: WalletBudget | null
  /** Resolved once what left the wallet on every chain is known. */
  readonly looked: Promise<void>
  /** Balances, spends and limits; null where there is no wallet. */
  readonly report: (() => Promise<WalletReport>) | null
}

export const walletPart = definePart({
  name: 'wallet',
  alarms: [
    { code: 'wallet_low', passesMs: 0 },
    { code: 'spend_unknown', passesMs: 0 },
  ],
  open: openWalletPart,
})

/** @throws SettingError */
async function openWalletPart(base: Base): Promise<WalletPart> {
  const { config, program, egress, secrets, runtime, log } = base
  const keys = walletKeysOf(config, program.reachable)
  if (!keys)
    return {
      ...{ services: {}, buyer: null, budget: null, looked: Promise.resolve(), report: null },
      notes: ['no job can be bought: WALLET_FILE is not set'],
    }
  const { account, chains, limits, lowUnits } = keys
  const { clock, failpoint } = runtime
  // The protocols' libraries are large, and a program without a wallet has no use for them.
  const [{ TempoChargePaying }, { X402ExactPaying }] = await Promise.all([
    import('#wallet/protocols/TempoChargePaying.ts'),
    import('#wallet/protocols/X402ExactPaying.ts'),
  ])
  const app = appDatabase(program.engines.postgres)
  const [local] = program.localIds
  const terms = besideDevChain(config.quoteTerms, local ?? null)
  const paying = [
    new TempoChargePaying({ account, chains, clock }),
    new X402ExactPaying({ account, chains, clock }),
  ]
  const looking = { app, paying, terms, clock, log }
  const sealer = await secrets.sealer()
  const reconciler = new SpendReconciler(looking)
  const outflows = watchOutflows(
    base,
    chains.map((chain) => ({
      ...{ chainId: chain.chainId, account: lowercased(account.address), ask: askAny(chain) },
      tokens: () => tokensAtPar(terms, chain.chainId).map(([token]) => token),
    })),
  )
  const { mayPay } = outflows
  const { address } = account
  const watch = new WalletWatch({ app, address, chains, terms, lowUnits, clock, log })
  const reported = { app: appDatabase({ pool: program.engines.postgres.reads }), address, terms, limits }
  return {
    services: {},
    budget: new Budget({ ...looking, address, chains, limits, mayPay }),
    buyer: new Spender({ ...looking, egress, sealer, limits, mayPay, failpoint }),
    looked: outflows.looked,
    problems: () => watch.problems(),
    report: async () => readWalletReport(reported, await watch.balances()),
    notes: [
      `calls of jobs are paid by ${lowercased(account.address)} on ${chains.map(({ chainId }) => chainId).join(', ')}`,
    ],
    run: ({ answered }) => Promise.all([reconciler, watch, outflows].map((part) => part.run(answered))),
  }
}
