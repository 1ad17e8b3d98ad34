/** Money as the operator's endpoints read it. */
import type { MoneyServices } from '#api/routes/operator/services.ts'
import { appDatabase } from '#rows/database.ts'
import { besideDevChain, tokenKey } from '#wallet/currencies.ts'
import type { WalletReport } from '#wallet/spend/walletReport.ts'
import type { Base, Part } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'
import type { WalletPart } from '../wallet/walletPart.ts'

export function openMoneyPart(
  { config, program }: Pick<Base, 'config' | 'program'>,
  { till }: Pick<PaymentsPart, 'till'>,
  { report }: Pick<WalletPart, 'report'>,
): Part<MoneyServices> {
  const [local] = program.localIds
  const { atPar } = besideDevChain(config.quoteTerms, local ?? null)
  return {
    services: {
      money: {
        app: appDatabase({ pool: program.engines.postgres.reads }),
        wallet: report && (async () => mutable(await report())),
        sellingProblem: till.problem,
        books: till.books,
        decimalsOf: (chainId, currency) => {
          const sold = till.tokens().find((one) => one.chainId === chainId && one.address === currency)
          return sold?.decimals ?? atPar.get(tokenKey(`eip155:${chainId}`, currency)) ?? null
        },
      },
    },
  }
}

const mutable = ({ balances, spent, ...told }: WalletReport) => ({
  ...told,
  balances: [...balances],
  spent: [...spent],
})
