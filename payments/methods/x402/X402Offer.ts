/** Whether exact payments can settle now: what chain, token and facilitator themselves say. */
import { messageOf } from '#errors.ts'
import type { Checked } from '../recheck.ts'
import type { Facilitator } from './Facilitator.ts'
import type { Token, TokenChain } from './TokenChain.ts'

export interface X402OfferOptions {
  readonly chainId: number
  readonly chain: Pick<TokenChain, 'token'>
  readonly facilitator: Pick<Facilitator, 'problem'>
}

export class X402Offer implements Checked {
  readonly #options: X402OfferOptions
  #token: Token | null = null
  #problems: readonly string[] = ['the chain of x402 payments has not been asked yet']

  constructor(options: X402OfferOptions) {
    this.#options = options
  }

  /** Null while nothing can settle. */
  readonly token = (): Token | null => this.#token

  get problems(): readonly string[] {
    return this.#problems
  }

  async check(): Promise<void> {
    const { chainId, chain, facilitator } = this.#options
    try {
      const token = await chain.token()
      const problem = await facilitator.problem(`eip155:${chainId}`)
      if (problem !== null) throw new Error(`its facilitator cannot: ${problem}`)
      this.#token = token
      this.#problems = []
    } catch (error) {
      this.#token = null
      this.#problems = [`x402 on chain ${chainId} is not offered: ${messageOf(error).split('\n')[0]}`]
    }
  }
}
