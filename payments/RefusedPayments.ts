/**
 * Payments and proofs that were refused, counted by caller, whichever door they came to: a look at each
 * asks a node, and costs whoever sends it nothing.
 */
import { ApiError } from '#http/errors.ts'
import { BoundedMap } from '#runtime/BoundedMap.ts'
import type { Clock } from '#runtime/runtime.ts'
import { PaymentRefusedError } from './methods/PaymentMethod.ts'

/** Units a minute, over all processes. */
export interface MinuteQuotas {
  take(
    quotas: readonly { readonly subject: string; readonly limit: number }[],
    units: number,
  ): Left | Promise<Left>
}

interface Left {
  readonly remaining: number
  /** Milliseconds until all are back. */
  readonly leftMs: number
}

/** Payments of one caller that are refused in a minute; no more are looked at until the next one. */
const REFUSED_MAX = 60
/** Callers that are remembered here; the oldest leave. Those that look on are counted by the quotas still. */
const CALLERS_MAX = 10_000
/** Payments of one caller that wait for a look; as many as connections of one address. */
const WAITING_MAX = 500

/** Looks of one caller that are under way. */
interface Looking {
  count: number
  waiting: number
  /** One of them ends. */
  ended: PromiseWithResolvers<void>
}

export class RefusedPayments {
  readonly #quotas: MinuteQuotas
  readonly #clock: Clock
  /** Refusals of this minute, by caller. */
  readonly #refused: BoundedMap<string, { readonly count: number; readonly endsMs: number }>
  readonly #looking = new Map<string, Looking>()

  constructor(quotas: MinuteQuotas, clock: Clock) {
    this.#quotas = quotas
    this.#clock = clock
    this.#refused = new BoundedMap({ max: CALLERS_MAX, now: () => clock.monotonic() })
  }

  /** @throws ApiError rate_limit_exceeded where the caller had too many refused in this minute */
  assertLeft(caller: string): void {
    const known = this.#refused.get(caller)
    if (known && known.count >= REFUSED_MAX) throw tooMany(known.endsMs - this.#clock.monotonic())
  }

  /**
   * Looks at one payment, and counts it if it is refused. At most so many looks of a caller are under way
   * as it may have refused still; others wait.
   * @throws ApiError rate_limit_exceeded, and what `look` throws
   */
  async look<Told extends { readonly kind: string }>(
    caller: string,
    look: () => Promise<Told>,
  ): Promise<Told> {
    this.assertLeft(caller)
    const looking = this.#looking.get(caller) ?? newLooking()
    this.#looking.set(caller, looking)
    try {
      await this.#turn(caller, looking)
      try {
        return await this.counted(caller, look())
      } finally {
        looking.count--
        looking.ended.resolve()
        looking.ended = Promise.withResolvers()
      }
    } finally {
      if (looking.count + looking.waiting === 0) this.#looking.delete(caller)
    }
  }

  /** Counts what was refused, or failed for that, without a turn. @throws what is awaited throws */
  async counted<Told extends { readonly kind: string }>(
    caller: string,
    telling: Promise<Told>,
  ): Promise<Told> {
    let isRefused = true
    try {
      const told = await telling
      isRefused = told.kind === 'challenged'
      return told
    } catch (error) {
      isRefused = error instanceof Error && error.cause instanceof PaymentRefusedError
      throw error
    } finally {
      if (isRefused) await this.#count(caller)
    }
  }

  /** @throws ApiError rate_limit_exceeded */
  async #turn(caller: string, looking: Looking): Promise<void> {
    if (looking.waiting >= WAITING_MAX) throw tooMany()
    looking.waiting++
    try {
      while (looking.count + (this.#refused.get(caller)?.count ?? 0) >= REFUSED_MAX) {
        this.assertLeft(caller)
        await looking.ended.promise
      }
      looking.count++
    } finally {
      looking.waiting--
    }
  }

  /** A refusal that cannot be counted now is told all the same. */
  async #count(caller: string): Promise<void> {
    const quota = { subject: `unpaid:${caller}`, limit: REFUSED_MAX }
    const left = await Promise.resolve(this.#quotas.take([quota], 1)).catch(() => null)
    if (!left) return
    const endsMs = this.#clock.monotonic() + left.leftMs
    this.#refused.set(caller, { count: REFUSED_MAX - left.remaining, endsMs }, endsMs)
  }
}

const newLooking = (): Looking => ({ count: 0, waiting: 0, ended: Promise.withResolvers() })

const tooMany = (leftMs = 60_000): ApiError =>
  new ApiError('rate_limit_exceeded', 'Too many of your payments were not accepted within a minute.', {
    headers: { 'Retry-After': `${Math.max(1, Math.ceil(leftMs / 1_000))}` },
  })
