/**
 * The endpoints of a chain, as a watch of its finality sees them. All are asked at a time, and none
 * holds up the others: what comes late counts at the next look, and whoever does not answer, is false
 * or sends too much is asked less often.
 */
import type { Hash } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import {
  type CertificatePart,
  CertificateRefusedError,
} from '../../finality/certificate/CertificateRefusedError.ts'
import { bytesOfHex, readCertificate } from '../../finality/certificate/certificate.ts'
import type { RecomputedHeader } from '../../finality/certificate/recomputedHeader.ts'
import type { FinalityNetwork, GivenCertificates } from '../../finality/watch/finalityNetwork.ts'
import type { Admission } from '../endpoints/Admission.ts'
import type { Endpoint } from '../endpoints/Endpoint.ts'
import type { FinalizationOf } from '../finalizations.ts'
import { AskedEndpoint, type Question, WAITED_MS, type Word } from './AskedEndpoint.ts'

/** Parsed at the price of 1.5 % of a core, for all endpoints together. */
const BYTES_PER_MS = 1_000

export interface FinalityPool {
  readonly endpoints: readonly Endpoint[]
  readonly admission: Admission
}

export const finalityNetwork = ({ endpoints, admission }: FinalityPool, clock: Clock): FinalityNetwork => {
  const share = BYTES_PER_MS / endpoints.length
  return new FinalityEndpoints(
    endpoints.map((endpoint) => new AskedEndpoint(endpoint, admission, clock, share)),
    clock,
  )
}

interface Asked<Answer> {
  readonly one: AskedEndpoint
  readonly question: Question<Answer>
}

class FinalityEndpoints implements FinalityNetwork {
  readonly #all: readonly AskedEndpoint[]
  readonly #clock: Clock
  /** Each one's newest certificate whose header is still waited for. */
  readonly #headerless = new Map<AskedEndpoint, { readonly text: string; readonly digest: Hash }>()

  constructor(all: readonly AskedEndpoint[], clock: Clock) {
    this.#all = all
    this.#clock = clock
  }

  async certificates(of: FinalizationOf, signal: AbortSignal): Promise<GivenCertificates> {
    const asked = this.#all
      .filter((one) => this.#isDue(one, of))
      .map((one) => ({ one, question: this.#wordOf(one, of, signal) }))
    await this.#within(asked, allAnswered(prompt(asked)), signal)
    const given = new Map<string, string[]>()
    const without: string[] = []
    for (const { one, question } of asked) {
      if (!question.answer) continue
      one.wordTaken(of)
      const { text, isWithout } = question.answer.value
      if (isWithout) without.push(one.name)
      if (text === null) continue
      if (of === 'latest') this.#note(one, text)
      given.set(text, [...(given.get(text) ?? []), one.name])
    }
    return {
      given: [...given].map(([text, endpoints]) => ({ bytes: bytesOfHex(`0x${text}`), endpoints })),
      without,
      isPart: asked.length < this.#all.length && this.#all.some((one) => !one.isPaused && one.isInDebt),
    }
  }

  async headerOf(
    digest: Hash,
    endpoints: readonly string[] | null,
    signal: AbortSignal,
  ): Promise<RecomputedHeader | null> {
    const asked = this.#all
      .filter((one) => (endpoints ? endpoints.includes(one.name) : !one.isPaused))
      .map((one) => ({ one, question: one.header(digest, signal) }))
    const found = Promise.any(
      asked.map(async ({ question }) => {
        await question.answered
        if (!question.answer?.value) throw nothingFound
      }),
    ).catch(() => {})
    await this.#within(asked, Promise.race([found, allAnswered(prompt(asked))]), signal)
    const header = asked.find(({ question }) => question.answer?.value)?.question.answer?.value ?? null
    for (const { one, question } of asked) if (header || question.answer) one.headerTaken(digest)
    return header
  }

  refused(endpoints: readonly string[], part: CertificatePart): void {
    for (const one of this.#all) if (endpoints.includes(one.name)) one.refused(part !== 'key')
  }

  /** An answer to an earlier question counts whenever it comes. */
  #isDue(one: AskedEndpoint, of: FinalizationOf): boolean {
    if (one.isAskedFor(of)) return true
    if (of !== 'latest') return !one.isPaused
    return this.#isHeaderless(one) || !(one.isPaused || one.isInDebt)
  }

  /** Its earlier answer, as long as the header of that has not come: else a slow one would never count. */
  #wordOf(one: AskedEndpoint, of: FinalizationOf, signal: AbortSignal): Question<Word> {
    const earlier = of === 'latest' && this.#isHeaderless(one) ? this.#headerless.get(one) : undefined
    if (!earlier) return one.word(of, signal)
    const value = { text: earlier.text, isWithout: false }
    return { answer: { value }, answered: Promise.resolve() }
  }

  #isHeaderless(one: AskedEndpoint): boolean {
    const earlier = this.#headerless.get(one)
    return earlier !== undefined && one.isAskedForHeader(earlier.digest)
  }

  #note(one: AskedEndpoint, text: string): void {
    try {
      this.#headerless.set(one, { text, digest: readCertificate(bytesOfHex(`0x${text}`)).digest })
    } catch (error) {
      if (!(error instanceof CertificateRefusedError)) throw error
      this.#headerless.delete(one)
    }
  }

  /** One that has not answered by then is late. */
  async #within(
    asked: readonly Asked<unknown>[],
    answered: Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted()
    const ended = new AbortController()
    const end = () => ended.abort()
    signal.addEventListener('abort', end, { once: true })
    const waited = this.#clock.sleep(WAITED_MS, ended.signal).then(
      () => true,
      () => false,
    )
    const isOver = await Promise.race([answered.then(() => false), waited])
    signal.removeEventListener('abort', end)
    end()
    signal.throwIfAborted()
    if (isOver) for (const { one, question } of asked) if (!question.answer) one.isLate = true
  }
}

const nothingFound = new Error('no endpoint has it')

/** Those that answer in time; where none does, all. */
function prompt<Answer>(asked: readonly Asked<Answer>[]): readonly Asked<Answer>[] {
  const some = asked.filter(({ one }) => !one.isLate)
  return some.length > 0 ? some : asked
}

async function allAnswered(asked: readonly Asked<unknown>[]): Promise<void> {
  await Promise.all(asked.map(({ question }) => question.answered))
}
