/** Whether channels can settle: what the chain itself does not confirm is not offered. */
import { Session } from 'mppx/tempo'
import { createClient, type Transport } from 'viem'
import { getCode } from 'viem/actions'
import { messageOf } from '#errors.ts'
import type { SponsorFunds } from '../../chain/SponsorFunds.ts'
import type { Currency } from '../charge/TempoChargeMethod.ts'
import type { Checked } from '../recheck.ts'

export interface ChannelOffersOptions {
  /** Those that are settled in now. */
  readonly currencies: () => readonly Currency[]
  /** Its account pays for what settles. */
  readonly funds: Pick<SponsorFunds, 'has' | 'problems'>
  readonly transport: Transport
}

/** The chain gets its channels by a fork. */
const LOOK_MS = 60_000

export class ChannelOffers implements Checked {
  readonly everyMs = LOOK_MS
  readonly #options: ChannelOffersOptions
  #problem: string | null = 'the chain was not asked yet'

  constructor(options: ChannelOffersOptions) {
    this.#options = options
  }

  /** Those that channels settle in now. */
  readonly current = (): readonly Currency[] => {
    const { currencies, funds } = this.#options
    return this.#problem === null ? currencies().filter(({ address }) => funds.has(address)) : []
  }

  get isOpen(): boolean {
    return this.#problem === null
  }

  /** Why others do not, a sentence each. */
  get problems(): readonly string[] {
    if (this.#problem !== null) return [`sessions are not offered: ${this.#problem}`]
    return this.#options.funds.problems.map(
      (problem) => `sessions are not offered in each currency: ${problem}`,
    )
  }

  /** Asks the chain once. */
  async check(): Promise<void> {
    const client = createClient({ transport: this.#options.transport })
    try {
      const code = await getCode(client, { address: Session.Precompile.Constants.tip20ChannelEscrow })
      this.#problem = code ? null : 'the chain has no payment channels'
    } catch (error) {
      this.#problem = messageOf(error).split('\n')[0] ?? ''
    }
  }
}
