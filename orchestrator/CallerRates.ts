/**
 * How much each caller may ask for in a minute: searches, messages and plans by their size, and
 * calls of sellers made for it.
 */
import { ApiError } from '#api/http/errors.ts'
import type { Clock } from '#runtime.ts'

const WINDOW_MS = 60_000
/** Callers remembered; a full table forgets those whose window is over, then refuses new ones. */
const CALLERS_MAX = 50_000

interface Window {
  readonly startedMs: number
  used: number
}

export class CallerRates {
  readonly #clock: Clock
  readonly #unitsMax: number
  readonly #windows = new Map<string, Window>()

  constructor(clock: Clock, unitsMax: number) {
    this.#clock = clock
    this.#unitsMax = unitsMax
  }

  /** @throws ApiError rate_limit_exceeded */
  take(caller: string, units = 1): void {
    const now = this.#clock.monotonic()
    const window = this.#windowOf(caller, now)
    if (!window || window.used + units > this.#unitsMax)
      throw tooMany(window ? WINDOW_MS - (now - window.startedMs) : WINDOW_MS)
    window.used += units
  }

  /** Undefined when there is no room for one more. */
  #windowOf(caller: string, now: number): Window | undefined {
    const isOver = ({ startedMs }: Window) => now - startedMs >= WINDOW_MS
    const known = this.#windows.get(caller)
    if (known && !isOver(known)) return known
    if (!known && this.#windows.size >= CALLERS_MAX)
      for (const [other, window] of this.#windows) if (isOver(window)) this.#windows.delete(other)
    if (!known && this.#windows.size >= CALLERS_MAX) return undefined
    const begun = { startedMs: now, used: 0 }
    this.#windows.set(caller, begun)
    return begun
  }
}

/** Units of one request: a message, and each 64 KiB of its text. */
export const unitsOf = (characters: number, messages = 1): number =>
  messages + Math.floor(characters / UNIT_CHARACTERS)

const UNIT_CHARACTERS = 64 * 1_024

const tooMany = (leftMs: number): ApiError =>
  new ApiError('rate_limit_exceeded', undefined, {
    headers: { 'Retry-After': `${Math.max(1, Math.ceil(leftMs / 1_000))}` },
  })
