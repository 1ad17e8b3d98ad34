/** Whether channels can settle: what the chain itself does not confirm is not offered. */
import { Session } from 'mppx/tempo'
import { createClient, type Transport } from 'viem'
import { getCode, readContract } from 'viem/actions'
import { Abis } from 'viem/tempo'
import { messageOf } from '#errors.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Currency } from '../charge/TempoCharges.ts'

const CHECK_MS = 3_600_000
/** While something is missing. */
const AGAIN_MS = 10_000

export interface ChannelOffersOptions {
  /** Those that are settled in now. */
  readonly currencies: () => readonly Currency[]
  /** Pays for what settles. */
  readonly operator: `0x${string}`
  readonly transport: Transport
  readonly clock: Clock
}

export class ChannelOffers {
  readonly #options: ChannelOffersOptions
  #funded: ReadonlySet<string> = new Set()
  #problems: readonly string[] = []

  constructor(options: ChannelOffersOptions) {
    this.#options = options
  }

  /** Those that channels settle in now. */
  readonly current = (): readonly Currency[] =>
    this.#options.currencies().filter(({ address }) => this.#funded.has(address))

  /** Why others do not, a sentence each. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** Asks the chain once. */
  async check(): Promise<void> {
    const { currencies, operator, transport } = this.#options
    const client = createClient({ transport })
    const escrow = Session.Precompile.Constants.tip20ChannelEscrow
    try {
      if (!(await getCode(client, { address: escrow })))
        return this.#close('the chain has no payment channels')
      const asked = { abi: Abis.tip20, functionName: 'balanceOf', args: [operator] } as const
      const found = await Promise.all(
        currencies().map(async ({ address }) => ({
          address,
          balance: await readContract(client, { address, ...asked }),
        })),
      )
      this.#funded = new Set(found.filter(({ balance }) => balance > 0n).map(({ address }) => address))
      this.#problems = found.flatMap(({ address, balance }) =>
        balance > 0n ? [] : `sessions in ${address} are not offered: the sponsor ${operator} has none of it`,
      )
    } catch (error) {
      this.#close(messageOf(error).split('\n')[0] ?? '')
    }
  }

  #close(problem: string): void {
    this.#funded = new Set()
    this.#problems = [`sessions are not offered: ${problem}`]
  }

  /** Asks again every hour, sooner while something is missing; until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const pauseMs = () => (this.#problems.length > 0 ? AGAIN_MS : CHECK_MS)
    await repeat({ clock: this.#options.clock, signal, firstMs: pauseMs() }, async () => {
      await this.check()
      return pauseMs()
    })
  }
}
