/**
 * One endpoint that is asked for certificates. What it does wrong costs it its turns: it is paused for
 * a while that is bounded, so that its truth counts later, too.
 */
import type { Hash } from '#primitives.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type RecomputedHeader, recomputedHeader } from '../../finality/certificate/recomputedHeader.ts'
import { RpcError, type RpcFailure } from '../client/errors.ts'
import type { Admission } from '../endpoints/Admission.ts'
import type { Endpoint } from '../endpoints/Endpoint.ts'
import {
  type FinalizationOf,
  finalizationMethod,
  HEADER_BYTES_MAX,
  readFinalization,
} from '../finalizations.ts'
import { Pause } from './Pause.ts'

/** Milliseconds that a look waits for an answer; a later one counts at the next look. */
export const WAITED_MS = 2_000
/** A check of some 44 ms in vain, or an answer of some megabytes. */
const FALSE_MS_MAX = 60_000
/** Nothing is known to be wrong with it: its epoch's key is not known. */
const UNPROVED_MS_MAX = 10_000
/** It costs next to nothing to ask one that is away. */
const FAILED_MS_MAX = 15_000
/** The answer may hold a whole block, of which none so far had more than 2 MB. */
const FINALIZATION_BYTES_MAX = 8 * 1_024 * 1_024
/** Answers that nobody has taken. */
const KEPT_MAX = 16

/** The node has said something, of which nothing is wrong with the endpoint. */
const words: ReadonlySet<RpcFailure> = new Set(['method_missing', 'block_missing', 'pruned', 'node_error'])

/** An endpoint's answer about a certificate. */
export interface Word {
  /** Digits of a certificate; null for none. */
  readonly text: string | null
  /** It says that it does not have the method. */
  readonly isWithout: boolean
}

/** A question that goes on when nobody waits for it any more. */
export interface Question<Answer> {
  /** Null until it is answered. */
  answer: { readonly value: Answer } | null
  /** Never rejects. */
  readonly answered: Promise<void>
}

export class AskedEndpoint {
  readonly endpoint: Endpoint
  readonly #admission: Admission
  readonly #clock: Clock
  readonly #bytesPerMs: number
  readonly #false = new Pause(FALSE_MS_MAX)
  readonly #unproved = new Pause(UNPROVED_MS_MAX)
  readonly #failed = new Pause(FAILED_MS_MAX)
  /** The bytes that it sent are paid for until then. */
  #paidUntilMs = Number.NEGATIVE_INFINITY
  readonly #words = new BoundedMap<string, Question<Word>>({ max: KEPT_MAX })
  readonly #headers = new BoundedMap<Hash, Question<RecomputedHeader | null>>({ max: KEPT_MAX })
  /** Its last answer took longer than is waited for, or has not come yet. */
  isLate = false

  /** @param bytesPerMs what it may send of newest certificates and their headers, in the long run */
  constructor(endpoint: Endpoint, admission: Admission, clock: Clock, bytesPerMs: number) {
    this.endpoint = endpoint
    this.#admission = admission
    this.#clock = clock
    this.#bytesPerMs = bytesPerMs
  }

  get name(): string {
    return this.endpoint.name
  }

  get isPaused(): boolean {
    const nowMs = this.#clock.monotonic()
    return [this.#false, this.#unproved, this.#failed].some(({ untilMs }) => untilMs > nowMs)
  }

  /** It sent so much that others would lack the time. */
  get isInDebt(): boolean {
    return this.#paidUntilMs > this.#clock.monotonic()
  }

  /** A certificate of it proves nothing. @param isFalse and no other key would change that */
  refused(isFalse: boolean): void {
    const pause = isFalse ? this.#false : this.#unproved
    pause.add(this.#clock.monotonic())
  }

  word(of: FinalizationOf, signal: AbortSignal): Question<Word> {
    return this.#question(this.#words, nameOf(of), () => this.#askWord(of, signal))
  }

  header(digest: Hash, signal: AbortSignal): Question<RecomputedHeader | null> {
    return this.#question(this.#headers, digest, () => this.#askHeader(digest, signal))
  }

  isAskedFor(of: FinalizationOf): boolean {
    return this.#words.has(nameOf(of))
  }

  isAskedForHeader(digest: Hash): boolean {
    return this.#headers.has(digest)
  }

  wordTaken(of: FinalizationOf): void {
    this.#words.delete(nameOf(of))
  }

  headerTaken(digest: Hash): void {
    this.#headers.delete(digest)
  }

  #question<Key, Answer>(
    asked: BoundedMap<Key, Question<Answer>>,
    key: Key,
    ask: () => Promise<Answer>,
  ): Question<Answer> {
    const known = asked.get(key)
    if (known) return known
    const startedAtMs = this.#clock.monotonic()
    const answered = ask().then((value) => {
      question.answer = { value }
      this.isLate = this.#clock.monotonic() - startedAtMs >= WAITED_MS
    })
    const question: Question<Answer> = { answer: null, answered }
    asked.set(key, question)
    return question
  }

  async #askWord(of: FinalizationOf, signal: AbortSignal): Promise<Word> {
    try {
      const told = await this.#ask(finalizationMethod, [of], FINALIZATION_BYTES_MAX, signal)
      return { text: readFinalization(told), isWithout: false }
    } catch (error) {
      return { text: null, isWithout: error instanceof RpcError && error.failure === 'method_missing' }
    }
  }

  /** Null where it has none, or tells another one than the one that was asked for. */
  async #askHeader(digest: Hash, signal: AbortSignal): Promise<RecomputedHeader | null> {
    try {
      const told = await this.#ask('eth_getBlockByHash', [digest, false], HEADER_BYTES_MAX, signal)
      if (told === null) return null
      const header = recomputedHeader(told)
      if (header?.hash === digest) return header
      this.refused(true)
      return null
    } catch {
      return null
    }
  }

  async #ask(method: string, params: readonly unknown[], bytesMax: number, signal: AbortSignal) {
    const spend = (bytes: number) => {
      this.#paidUntilMs = Math.max(this.#paidUntilMs, this.#clock.monotonic()) + bytes / this.#bytesPerMs
    }
    try {
      const told = await this.#admission.askBeside(this.endpoint, method, params, { bytesMax, signal, spend })
      this.#failed.forget()
      return told
    } catch (error) {
      const failure = error instanceof RpcError ? error.failure : 'unreachable'
      if (signal.aborted) throw error
      if (words.has(failure)) this.#failed.forget()
      else if (failure === 'too_large') this.refused(true)
      else this.#failed.add(this.#clock.monotonic())
      throw error
    }
  }
}

const nameOf = (of: FinalizationOf): string => (of === 'latest' ? of : String(of.height))
