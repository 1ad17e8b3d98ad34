/** Matches a chain whenever its lease is ours. */
import type { LeaseHolder } from '#runtime/lease.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Stream } from '#store/read/pieces.ts'
import { whileLeased } from '../whileLeased.ts'
import { Matcher, type MatcherOptions } from './Matcher.ts'

export interface KeepMatchingOptions extends Omit<MatcherOptions, 'fence' | 'clock' | 'failpoint'> {
  readonly runtime: Runtime
  /** This program, to others on the same database. */
  readonly holder: LeaseHolder
}

export class MatcherKeeper {
  readonly #options: KeepMatchingOptions
  #matcher: Matcher | null = null
  #problem: string | null = null

  constructor(options: KeepMatchingOptions) {
    this.#options = options
  }

  isOf(chainId: number, stream: Stream): boolean {
    return this.#options.chain.chainId === chainId && this.#options.stream === stream
  }

  get problem(): string | null {
    return this.#matcher?.problem ?? this.#problem
  }

  run(signal: AbortSignal): Promise<void> {
    const { runtime, holder, ...options } = this.#options
    const { clock, failpoint } = runtime
    const { postgres, chain, stream, log } = options
    const name = `webhooks:${chain.chainId}:${stream}`
    const told = (problem: string | null) => {
      this.#problem = problem
    }
    return whileLeased({ postgres, name, holder, runtime, log, told }, signal, async (fence, held) => {
      const matcher = new Matcher({ ...options, fence, clock, failpoint })
      try {
        await matcher.begin()
        this.#matcher = matcher
        await matcher.run(held)
      } finally {
        this.#matcher = null
      }
    })
  }
}
