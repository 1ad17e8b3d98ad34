/**
 * Notices that a chain has changed its rules while it is followed: its blocks are refused whoever
 * tells them. Then what they prove is learned again, as at a start.
 */
import { messageOf } from '#errors.ts'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { Batch, Decode } from '#ingest/sink.ts'
import type { RawRange } from '#ingest/source.ts'
import { isKnownChain } from '#ingest/verify/knownChains.ts'
import { RefutedError } from '#ingest/verify/RefutedError.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { ChainProfile } from '#transform/profile.ts'
import { describeRules, joined, looseAround, witnessesOf } from './chainRules.ts'
import { Refusals, type RefusedAnswer } from './Refusals.ts'

export interface RuleWatchOptions {
  readonly source: Pick<RpcSource, 'head' | 'fetch' | 'answering' | 'endpoints'>
  /** The rules in force. */
  readonly profile: () => ChainProfile
  /** Puts wider rules into the store and in force. False when this process does not write now. */
  readonly keep: (loose: NonNullable<ChainProfile['loose']>) => Promise<boolean>
  readonly clock: Clock
  readonly log: Logger
  /** Ends learning with the chain; a lane that gives up a range must not. */
  readonly stop: AbortSignal
}

/** A chain forks once in months; more often is somebody playing with us. */
const LEARN_AGAIN_MS = 600_000

export class RuleWatch {
  readonly #options: RuleWatchOptions
  readonly #refusals: Refusals
  #learnedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: RuleWatchOptions) {
    this.#options = options
    this.#refusals = new Refusals(options.source, options.clock)
  }

  /** The same decoding of nodes' answers, watched. */
  watching<B extends Batch>(decode: Decode<B, RawRange>): Decode<B, RawRange> {
    return async (raw, signal) => {
      try {
        const batch = await decode(raw, signal)
        this.#refusals.taken(raw.range)
        return batch
      } catch (error) {
        const refused = signal?.aborted ? null : refusedIn(raw, error)
        if (refused) await this.#refused(refused)
        throw error
      }
    }
  }

  async #refused(answer: RefusedAnswer): Promise<void> {
    const { profile, clock, log, stop } = this.#options
    const { chainId, checks } = profile()
    this.#refusals.add(answer)
    if (isKnownChain(chainId) || checks === 'links') return
    const nowMs = clock.monotonic()
    if (nowMs < this.#learnedAtMs + LEARN_AGAIN_MS || !this.#refusals.isEverybodys(answer.blockNumber)) return
    this.#learnedAtMs = nowMs
    const { blockNumber, reason } = answer
    const found = await this.#learn(blockNumber).catch(messageOf)
    if (found !== null && !stop.aborted) log.warn({ chainId, blockNumber, reason }, found)
  }

  /** The result in words; null if another process writes. */
  async #learn(blockNumber: number): Promise<string | null> {
    const { source, profile, keep, clock, stop: signal } = this.#options
    const { headerRule, loose: held = [] } = profile()
    const witnesses = witnessesOf(source)
    const shown = await looseAround(source, blockNumber, { headerRule, witnesses, clock, signal })
    const loose = joined(held, shown)
    if (loose.length === held.length)
      return 'every endpoint tells a block that is refused, and no rule of the chain was found that would take it'
    if (!(await keep(loose))) return null
    this.#refusals.clear()
    return `the chain changed its rules at or before this block: ${describeRules({ headerRule, loose })}`
  }
}

/** Null for what says nothing of the chain, such as a lost worker. */
function refusedIn({ endpoint, range }: RawRange, error: unknown): RefusedAnswer | null {
  if (!(error instanceof RefutedError || error instanceof NodeAnswerError)) return null
  return { blockNumber: error.blockNumber ?? range.from, endpoint, reason: error.code }
}
