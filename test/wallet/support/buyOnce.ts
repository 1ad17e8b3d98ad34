/**
 * One purchase in a process of its own, which a failpoint may kill: its argument is JSON. The last
 * line of its output is what the purchase came to.
 */
import { http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { Egress } from '#egress/Egress.ts'
import { appDatabase } from '#rows/database.ts'
import { sealerOf } from '#rows/sealing.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import type { Purchase } from '#wallet/buyer.ts'
import { besideDevChain, parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { TempoChargePaying } from '#wallet/protocols/TempoChargePaying.ts'
import { Spender } from '#wallet/spend/Spender.ts'

export interface BuyOnce {
  readonly databaseUrl: string
  readonly rpcUrl: string
  readonly chainId: number
  readonly key: `0x${string}`
  readonly sealingKey: string
  readonly purchase: Omit<Purchase, 'unitsMax'> & { readonly unitsMax: string }
}

const given: BuyOnce = JSON.parse(process.argv[2] ?? '')
const { clock, failpoint } = systemRuntime(process.env['FAILPOINT'])
const postgres = openPostgres({ url: given.databaseUrl, applicationName: 'buyer', log: silentLogger })
const limit = 10n ** 12n
const spender = new Spender({
  app: appDatabase(postgres),
  egress: new Egress({ isLocalOrigin: () => true }),
  paying: [
    new TempoChargePaying({
      account: privateKeyToAccount(given.key),
      chains: [{ chainId: given.chainId, endpoints: [http(given.rpcUrl)] }],
      clock,
    }),
  ],
  sealer: sealerOf([Buffer.from(given.sealingKey, 'hex')]),
  mayPay: () => true,
  limits: {
    ...{ jobUnits: limit, dayUnits: limit },
    ...{ serviceUnits: limit, payeeUnits: limit, payerUnits: limit },
  },
  terms: besideDevChain(quoteTerms('1', parTokensDefault), given.chainId),
  ...{ clock, failpoint, log: silentLogger },
})
const { signal } = new AbortController()
const bought = await spender.buy({ ...given.purchase, unitsMax: BigInt(given.purchase.unitsMax) }, signal)
process.stdout.write(`${bought.kind}\n`)
await postgres.close()
process.exit()
