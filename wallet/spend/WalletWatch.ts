/** News of the wallet for its operator: its balance on each chain, and whatever is not known yet. */
import { decimalText, rescaled } from '#money/amounts.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type OpenSpends, sumOpenSpends } from '#rows/jobs/spends.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { balanceOf } from '../balance.ts'
import { type QuoteTerms, tokensAtPar } from '../currencies.ts'
import { askAny, type PayChain } from '../payChain.ts'

export interface WalletWatchOptions {
  readonly app: AppDatabase
  readonly address: `0x${string}`
  readonly chains: readonly PayChain[]
  readonly terms: QuoteTerms
  /** In the smallest unit of quotes. */
  readonly lowUnits: bigint
  readonly clock: Clock
  readonly log: Logger
}

export interface Balance {
  readonly chainId: number
  readonly token: string
  readonly decimals: number
  /** In the token's smallest unit; null where no node answers. */
  readonly amount: bigint | null
}

export interface WalletProblem {
  readonly chainId: number
  readonly code: 'wallet_low' | 'spend_unknown'
  readonly problem: string
}

const LOOK_MS = 30_000
/** A payment is mined or void within half a minute. */
const UNKNOWN_MS = 60_000

export class WalletWatch {
  readonly #options: WalletWatchOptions
  #balances: readonly Balance[] = []
  #open: readonly OpenSpends[] = []

  constructor(options: WalletWatchOptions) {
    this.#options = options
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const failed = { log, ms: LOOK_MS, message: 'the wallet could not be looked at' }
    await repeat({ clock, signal, failed }, async () => {
      await this.look()
      return LOOK_MS
    })
  }

  /** Once, at every chain. */
  async look(): Promise<readonly Balance[]> {
    this.#open = await sumOpenSpends(this.#options.app)
    this.#balances = await readBalances(this.#options)
    return this.#balances
  }

  /** As of the last look; asked of the chains where there was none. */
  async balances(): Promise<readonly Balance[]> {
    return this.#balances.length > 0 ? this.#balances : this.look()
  }

  /** The problems of the last look. */
  problems(): readonly WalletProblem[] {
    return [...this.#low(), ...this.#unknown()]
  }

  #low(): readonly WalletProblem[] {
    const { chains, terms, lowUnits } = this.#options
    return chains.flatMap(({ chainId }) => {
      const told = this.#balances.filter((one) => one.chainId === chainId && one.amount !== null)
      if (told.length === 0) return []
      const units = told.reduce(
        (sum, { amount, decimals }) => sum + rescaled(amount ?? 0n, decimals, terms.decimals),
        0n,
      )
      if (units >= lowUnits) return []
      const dollars = (value: bigint) => decimalText(value, terms.decimals)
      const problem = `the wallet has ${dollars(units)}, less than ${dollars(lowUnits)}`
      return [{ chainId, code: 'wallet_low', problem } as const]
    })
  }

  #unknown(): readonly WalletProblem[] {
    return this.#open
      .filter(({ oldestMs }) => oldestMs > UNKNOWN_MS)
      .map(({ chainId, count }) => ({
        ...{ chainId, code: 'spend_unknown' },
        problem: `what became of ${count} payments of the wallet is not known, of the oldest for longer than a minute`,
      }))
  }
}

/** Balances of every token at par. */
export async function readBalances({
  address,
  chains,
  terms,
}: Pick<WalletWatchOptions, 'address' | 'chains' | 'terms'>): Promise<readonly Balance[]> {
  const asked = chains.flatMap((chain) =>
    tokensAtPar(terms, chain.chainId).map(([token, decimals]) => ({ chain, token, decimals })),
  )
  return Promise.all(
    asked.map(async ({ chain, token, decimals }) => {
      const amount = await balanceOf(askAny(chain), token, address).catch(() => null)
      return { chainId: chain.chainId, token, decimals, amount }
    }),
  )
}
