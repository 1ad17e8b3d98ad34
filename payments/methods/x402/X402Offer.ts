/** Whether exact payments can settle now: what chain, token and facilitator themselves say. */
import { messageOf } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'
import { NotOfferedError } from '../PaymentMethod.ts'
import type { Checked } from '../recheck.ts'
import type { Sends } from '../Sends.ts'
import type { Facilitator } from './Facilitator.ts'
import type { PaymentToken, TokenChain } from './TokenChain.ts'

export interface X402OfferOptions {
  readonly chainId: number
  /** Lowercase address. */
  readonly recipient: `0x${string}`
  readonly chain: Pick<TokenChain, 'token' | 'receives'>
  readonly facilitator: Pick<Facilitator, 'problem'>
  readonly sends: Pick<Sends, 'areFailing' | 'doubted'>
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Chain and facilitator are asked so often. */
const LOOK_MS = 10_000
/** Name and version of a token, by which payers sign, change with its contract. */
const TOKEN_MS = 3_600_000

export class X402Offer implements Checked {
  readonly everyMs = LOOK_MS
  readonly doubted: Sends['doubted']
  readonly #options: X402OfferOptions
  #known: { readonly token: PaymentToken; readonly askedMs: number } | null = null
  #settles = false
  #problems: readonly string[] = ['the chain of x402 payments has not been asked yet']

  constructor(options: X402OfferOptions) {
    this.#options = options
    this.doubted = options.sends.doubted
  }

  /** Null while nothing can settle. */
  readonly token = (): PaymentToken | null =>
    this.isOpen && !this.#options.sends.areFailing ? this.known() : null

  /** The token as the chain last described it, whether payments in it can settle now or not. */
  readonly known = (): PaymentToken | null => this.#known?.token ?? null

  /** Null while the facilitator settles nothing: whatever may be received, nothing is sent. */
  readonly settling = (): PaymentToken | null => (this.#settles ? this.known() : null)

  get isOpen(): boolean {
    return this.#problems.length === 0
  }

  get problems(): readonly string[] {
    const failing = `x402 on chain ${this.#options.chainId} is not offered for a moment: none of the last payments could be sent`
    return this.#options.sends.areFailing ? [...this.#problems, failing] : this.#problems
  }

  async check(): Promise<void> {
    const { chainId, recipient, chain, facilitator } = this.#options
    let settles = false
    try {
      const { token } = await this.#asked()
      const problem = await facilitator.problem(`eip155:${chainId}`)
      if (problem !== null) throw new NotOfferedError(`its facilitator cannot: ${problem}`)
      settles = true
      if (!(await chain.receives(recipient)))
        throw new NotOfferedError(`${recipient} cannot receive ${token.name}`)
      this.#problems = []
    } catch (error) {
      this.#problems = [`x402 on chain ${chainId} is not offered: ${messageOf(error).split('\n')[0]}`]
    }
    this.#settles = settles
  }

  async #asked() {
    const { chain, clock } = this.#options
    const nowMs = clock.monotonic()
    if (this.#known && nowMs - this.#known.askedMs < TOKEN_MS) return this.#known
    this.#known = { token: await chain.token(), askedMs: nowMs }
    return this.#known
  }
}
