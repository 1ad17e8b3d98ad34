/** A wallet on a dev chain, with its rows in a database of the test's own. */
import { randomBytes, randomUUID } from 'node:crypto'
import { http, toHex } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { Egress } from '#egress/Egress.ts'
import type { AppDatabase } from '#rows/database.ts'
import { adoptHistory, type WalletLimits } from '#rows/jobs/wallet.ts'
import { sealerOf } from '#rows/sealing.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import type { Purchase } from '#wallet/buyer.ts'
import { besideDevChain, parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { TempoChargePaying } from '#wallet/protocols/TempoChargePaying.ts'
import { Spender, type SpenderOptions } from '#wallet/spend/Spender.ts'
import { SpendReconciler } from '#wallet/spend/SpendReconciler.ts'

const { clock } = systemRuntime()

/** More than any test spends. */
export const ample: WalletLimits = {
  jobUnits: 10n ** 12n,
  dayUnits: 10n ** 12n,
  serviceUnits: 10n ** 12n,
  payeeUnits: 10n ** 12n,
  payerUnits: 10n ** 12n,
}

export interface TestWallet {
  readonly account: LocalAccount
  readonly spender: Spender
  readonly reconciler: SpendReconciler
  readonly options: SpenderOptions
}

interface WalletGiven extends Partial<SpenderOptions> {
  readonly app: AppDatabase
  readonly chain: { readonly rpcUrl: string; readonly chainId: number }
  readonly account?: LocalAccount
  /** Origins that may be called. */
  readonly origins: readonly string[]
}

export async function openWallet({ chain, origins, ...given }: WalletGiven): Promise<TestWallet> {
  const { app, account = privateKeyToAccount(toHex(randomBytes(32))) } = given
  const chains = [{ chainId: chain.chainId, endpoints: [http(chain.rpcUrl, { retryCount: 0 })] }]
  await adoptHistory(app, 0)
  const options: SpenderOptions = {
    egress: new Egress({ isLocalOrigin: (origin) => origins.includes(origin) }),
    paying: [new TempoChargePaying({ account, chains, clock })],
    sealer: sealerOf([randomBytes(32)]),
    limits: ample,
    mayPay: () => true,
    terms: besideDevChain(quoteTerms('1', parTokensDefault), chain.chainId),
    ...{ clock, log: silentLogger, failpoint: () => {} },
    ...given,
  }
  return { account, options, spender: new Spender(options), reconciler: new SpendReconciler(options) }
}

/** A purchase of a dollar at most, of a job of its own. */
export const purchaseOf = (url: string, more: Partial<Purchase> = {}): Purchase => ({
  jobId: randomUUID(),
  nodeId: 'node',
  attempt: 1,
  serviceId: 'some-service',
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: '{}',
  idempotencyKey: randomUUID(),
  unitsMax: 1_000_000n,
  recipientPolicy: { mode: 'origin' },
  bytesMax: 64 * 1_024,
  deadlineMs: clock.now() + 60_000,
  ...more,
})
