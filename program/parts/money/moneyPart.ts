/** Money as the operator's endpoints read it. */
import { operatorEndpoints } from '#api/routes/index.ts'
import type { MoneyServices } from '#api/routes/operator/services.ts'
import { appDatabase } from '#rows/database.ts'
import { besideDevChain, tokenKey } from '#wallet/currencies.ts'
import type { WalletReport } from '#wallet/spend/walletReport.ts'
import { type Base, definePart, type Part } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'
import type { WalletPart } from '../wallet/walletPart.ts'

interface BesideMoney {
  readonly payments: Pick<PaymentsPart, 'till'>
  readonly wallet: Pick<WalletPart, 'report'>
}

export const moneyPart = definePart({
  name: 'money',
  endpoints: operatorEndpoints,
  open: (base, beside: BesideMoney): Part<MoneyServices> => ({ services: { money: moneyOf(base, beside) } }),
})

function moneyOf(
  { config, program }: Base,
  { payments: { till }, wallet: { report } }: BesideMoney,
): MoneyServices['money'] {
  const [local] = program.localIds
  const { atPar } = besideDevChain(config.quoteTerms, local ?? null)
  return {
    app: appDatabase({ pool: program.engines.postgres.reads }),
    wallet: report && (async () => mutable(await report())),
    sellingProblem: till.problem,
    books: till.books,
    decimalsOf: (chainId, currency) => {
      const sold = till.tokens().find((one) => one.chainId === chainId && one.address === currency)
      return sold?.decimals ?? atPar.get(tokenKey(`eip155:${chainId}`, currency)) ?? null
    },
  }
}

const mutable = ({ balances, spent, ...told }: WalletReport) => ({
  ...told,
  balances: [...balances],
  spent: [...spent],
})
