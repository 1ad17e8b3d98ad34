/** The purchases of a wallet on Tempo's chain, without one: its node is a function. */
import { custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { TempoChargePaying } from '#wallet/protocols/TempoChargePaying.ts'
import { X402ExactPaying } from '#wallet/protocols/X402ExactPaying.ts'
import { Budget, type BudgetOptions } from '#wallet/spend/Budget.ts'
import { ample } from './wallet.ts'

/**
 * @param balance what the node says that it has of every token; null for a node that is silent
 * @param gasPrice of a unit, in attodollars
 */
export function budgetOf(
  balance: bigint | null,
  options: Pick<BudgetOptions, 'app' | 'clock'> & Partial<BudgetOptions>,
  gasPrice = 0n,
): Budget {
  const { clock } = options
  const account = privateKeyToAccount(`0x${'01'.repeat(32)}`)
  const request = async ({ method }: { readonly method: string }) => {
    if (balance === null) throw new Error('no answer')
    if (method === 'eth_gasPrice') return `0x${gasPrice.toString(16)}`
    return `0x${balance.toString(16).padStart(64, '0')}`
  }
  const chains = [{ chainId: 4217, endpoints: [custom({ request })] }]
  return new Budget({
    ...{ address: account.address, chains, limits: ample, mayPay: () => true },
    terms: quoteTerms('1', parTokensDefault),
    paying: [
      new TempoChargePaying({ account, chains, clock }),
      new X402ExactPaying({ account, chains, clock }),
    ],
    ...options,
  })
}
