/** Whether the sponsor has money, of which fees are paid and channels settled. */
import { createClient, type Transport } from 'viem'
import { readContract } from 'viem/actions'
import { Abis } from 'viem/tempo'
import { messageOf } from '#errors.ts'
import { lowercased } from '#primitives.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'

export interface SponsorFundsOptions {
  /** Tokens that are looked at, as lowercase addresses. */
  readonly tokens: () => readonly `0x${string}`[]
  readonly account: `0x${string}`
  readonly transport: Transport
  readonly clock: Clock
}

/** Fees empty an account slowly. */
const CHECK_MS = 60_000
/** While something is missing, or the chain does not answer. */
const AGAIN_MS = 10_000

export class SponsorFunds {
  readonly #options: SponsorFundsOptions
  #funded: ReadonlySet<string> = new Set()
  #problems: readonly string[] = []

  constructor(options: SponsorFundsOptions) {
    this.#options = options
  }

  /** Whether it has any of the token, as the chain last said. */
  has(token: string): boolean {
    return this.#funded.has(token)
  }

  /** Whether it can pay fees, which it does in whichever token it has. */
  get isThere(): boolean {
    return this.#funded.size > 0
  }

  /** The account's shortages, a sentence each. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** Asks the chain once. */
  async check(): Promise<void> {
    const { tokens, account, transport } = this.#options
    const client = createClient({ transport })
    const asked = { abi: Abis.tip20, functionName: 'balanceOf', args: [account] } as const
    try {
      const found = await Promise.all(
        tokens().map(async (address) => ({
          address,
          balance: await readContract(client, { address, ...asked }),
        })),
      )
      this.#funded = new Set(found.flatMap(({ address, balance }) => (balance > 0n ? address : [])))
      this.#problems = found.flatMap(({ address, balance }) =>
        balance > 0n ? [] : `the sponsor ${lowercased(account)} has none of ${address}`,
      )
    } catch (error) {
      this.#funded = new Set()
      this.#problems = [`the sponsor's balances are not known: ${messageOf(error).split('\n')[0]}`]
    }
  }

  /** Asks again, sooner while something is missing; until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const pauseMs = () => (this.#problems.length > 0 ? AGAIN_MS : CHECK_MS)
    await repeat({ clock: this.#options.clock, signal, firstMs: pauseMs() }, async () => {
      await this.check()
      return pauseMs()
    })
  }
}
