/**
 * Quotas of one process: units reserved in the database and handed out from memory. The sum over
 * all processes never passes a quota, because only what the database granted is handed out, and
 * only before its window ends. Requests that wait for units share a statement; a spent window is
 * remembered, so that refusing costs one a second.
 */

import type { QuotaGrant, QuotaReturn, QuotaWish } from '#rows/access/quotas.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'

/** The database's side (rows/access/quotas.ts). */
export interface QuotaStore {
  reserve(wishes: readonly QuotaWish[]): Promise<readonly QuotaGrant[]>
  giveBack(returns: readonly QuotaReturn[]): Promise<void>
  /** Removes some past windows; false when none is left. */
  removePast(): Promise<boolean>
}

/** One quota that a request counts against. */
export interface Quota {
  readonly subject: string
  /** Units a minute. */
  readonly limit: number
}

export interface Taken {
  readonly granted: boolean
  readonly limit: number
  readonly remaining: number
  /** Unix seconds at which the window ends. */
  readonly resetSeconds: number
  /** Milliseconds until then. */
  readonly leftMs: number
}

interface Waiter {
  readonly units: number
  /** With the start of the window the units are of, or null for none. */
  readonly resolve: (startedAt: Date | null) => void
  readonly reject: (cause: unknown) => void
}

/** A subject's use in its present window. */
interface Window {
  readonly subject: string
  limit: number
  /** Granted to us and not handed out. */
  available: number
  /** Units out of the window when we last asked. */
  used: number
  /** The quota had no more left when we last asked. */
  spent: boolean
  /** Monotonic: when we last asked. */
  askedMs: number
  /** Monotonic; 0 before the first grant. */
  endsMs: number
  startedAt: Date
  lastTakenMs: number
  readonly waiting: Waiter[]
}

/**
 * Share of a quota that one process may hold unused: with eight processes 4 % of a window are out of
 * reach of one of them at most, and those only until they are given back.
 */
const BLOCK_SHARE = 1 / 200
/**
 * Share of what is left that one reservation takes ahead, so that blocks shrink to one unit at the
 * end.
 */
const REST_SHARE = 1 / 8
/** Subjects of one statement. */
const WISHES_MAX = 500
/**
 * Subjects remembered; a full table forgets those whose window is over, then refuses new subjects
 * until some end.
 */
const SUBJECTS_MAX = 50_000
/** Requests that wait for one subject; more than any quota's worth would be refused anyhow. */
const WAITING_MAX = 10_000
/** A spent window is asked about again after this long: other processes may have given units back. */
const SPENT_MS = 1_000
/** Unused units go back after this long without a request. */
const IDLE_MS = 500
/** Windows that ended are removed from the database this often. */
const REMOVAL_MS = 30_000

export class Quotas {
  readonly #store: QuotaStore
  readonly #clock: Clock
  readonly #windows = new Map<string, Window>()
  readonly #wanting = new Set<Window>()
  #asking = false

  constructor(store: QuotaStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Takes units of every quota, or of none. Answers at once where memory knows the answer; rejects
   * with what the store throws. The result tells of the quota that refused, else of the first one.
   */
  take(quotas: readonly Quota[], units: number): Taken | Promise<Taken> {
    const nowMs = this.#clock.monotonic()
    const windows = quotas.map((quota) => this.#windowOf(quota, nowMs))
    const refusing = windows.find(
      (window) => window.spent && window.available < units && nowMs - window.askedMs < SPENT_MS,
    )
    if (refusing) return this.#told(refusing, false, nowMs)
    if (windows.every(({ available }) => available >= units)) {
      for (const window of windows) window.available -= units
      return this.#told(windows[0], true, nowMs)
    }
    return this.#takeWaiting(windows, units)
  }

  /** Whether nothing is left of a quota, as far as memory knows. */
  isSpent({ subject }: Quota): boolean {
    const window = this.#windows.get(subject)
    return window !== undefined && this.#isRunning(window) && window.spent && window.available < 1
  }

  /** The first quota that nothing was left of a moment ago; null if there is none. */
  spentOf(quotas: readonly Quota[]): Taken | null {
    const nowMs = this.#clock.monotonic()
    const spent = quotas.find((quota) => this.isSpent(quota))
    const window = spent && this.#windows.get(spent.subject)
    // Then it is asked again: other processes may have given units back.
    return window && nowMs - window.askedMs < SPENT_MS ? this.#told(window, false, nowMs) : null
  }

  /** Gives back what nobody takes, and removes what is over, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    let removedMs = this.#clock.monotonic()
    // Units that cannot be given back are lost for the rest of their minute: too few are admitted, never too
    // many.
    const giveBack = (idleMs: number) => this.giveBack(idleMs).catch(() => {})
    await repeat({ clock: this.#clock, signal, firstMs: IDLE_MS }, async () => {
      await giveBack(IDLE_MS)
      if (this.#clock.monotonic() - removedMs < REMOVAL_MS) return IDLE_MS
      const isMore = await this.#store.removePast().catch(() => false)
      if (!isMore) removedMs = this.#clock.monotonic()
      return IDLE_MS
    })
    await giveBack(0)
  }

  /** Gives back the units of subjects that nobody asked for during this time. */
  async giveBack(idleMs: number): Promise<void> {
    const nowMs = this.#clock.monotonic()
    const returns: QuotaReturn[] = []
    for (const window of this.#windows.values()) {
      const { subject, startedAt, available, lastTakenMs } = window
      if (nowMs >= window.endsMs) {
        if (window.waiting.length === 0) this.#windows.delete(subject)
      } else if (available > 0 && nowMs - lastTakenMs >= idleMs && returns.length < WISHES_MAX) {
        returns.push({ subject, startedAt, units: available })
        // Units that were given back may be asked for again.
        Object.assign(window, { available: 0, spent: false })
      }
    }
    if (returns.length > 0) await this.#store.giveBack(returns)
  }

  async #takeWaiting(windows: readonly Window[], units: number): Promise<Taken> {
    const outcomes = await Promise.allSettled(windows.map((window) => this.#takeOne(window, units)))
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    const refused = outcomes.findIndex((outcome) => outcome.status === 'fulfilled' && outcome.value === null)
    const nowMs = this.#clock.monotonic()
    if (!failed && refused < 0) return this.#told(windows[0], true, nowMs)
    for (const [index, outcome] of outcomes.entries()) {
      const window = windows[index]
      // Units of a window that ended meanwhile are not units of the next one.
      if (window && outcome.status === 'fulfilled' && outcome.value === window.startedAt)
        window.available += units
    }
    if (failed) throw failed.reason
    return this.#told(windows[refused], false, nowMs)
  }

  /** The window's start when the units were taken from it, null when they were not. */
  #takeOne(window: Window, units: number): Date | null | Promise<Date | null> {
    if (window.waiting.length === 0 && window.available >= units) {
      window.available -= units
      return window.startedAt
    }
    if (units > window.limit || window.waiting.length >= WAITING_MAX) return null
    const { promise, resolve, reject } = Promise.withResolvers<Date | null>()
    window.waiting.push({ units, resolve, reject })
    this.#wanting.add(window)
    if (!this.#asking) void this.#ask()
    return promise
  }

  /** One statement at a time: what comes in meanwhile shares the next one. */
  async #ask(): Promise<void> {
    this.#asking = true
    // Requests of the same tick go into the first statement too.
    await Promise.resolve()
    while (this.#wanting.size > 0) {
      const asked = [...this.#wanting].slice(0, WISHES_MAX)
      for (const window of asked) this.#wanting.delete(window)
      const sentMs = this.#clock.monotonic()
      try {
        const wishes = asked.map(wishOf)
        const grants = await this.#store.reserve(wishes)
        const bySubject = new Map(grants.map((grant) => [grant.subject, grant]))
        for (const [index, window] of asked.entries())
          this.#settle(window, wishes[index]?.units ?? 0, bySubject.get(window.subject), sentMs)
      } catch (error) {
        for (const { waiting } of asked) for (const { reject } of waiting.splice(0)) reject(error)
      }
    }
    this.#asking = false
  }

  #settle(window: Window, wished: number, grant: QuotaGrant | undefined, sentMs: number): void {
    const endsMs = sentMs + (grant?.leftMs ?? 0)
    // Counted from before the statement was sent, so our end of the window is never after the
    // database's.
    if (!grant || this.#clock.monotonic() >= endsMs) return void this.#wanting.add(window)
    if (window.startedAt.getTime() !== grant.startedAt.getTime())
      Object.assign(window, { startedAt: grant.startedAt, available: 0 })
    Object.assign(window, { endsMs, used: grant.used, askedMs: sentMs })
    window.available += grant.granted
    // Fewer than wished for is all there was; who came since is no part of the wish.
    window.spent = grant.used >= window.limit || grant.granted < wished
    window.lastTakenMs = this.#clock.monotonic()
    for (const waiter of window.waiting.splice(0)) {
      const { units, resolve } = waiter
      const granted = window.available >= units
      if (granted) window.available -= units
      if (granted || window.spent) resolve(granted ? window.startedAt : null)
      else window.waiting.push(waiter)
    }
    if (window.waiting.length > 0) this.#wanting.add(window)
  }

  #windowOf({ subject, limit }: Quota, nowMs: number): Window {
    const known = this.#windows.get(subject)
    if (known) {
      if (nowMs >= known.endsMs) Object.assign(known, { available: 0, used: 0, spent: false })
      Object.assign(known, { limit, lastTakenMs: nowMs })
      return known
    }
    const window = newWindow(subject, limit, nowMs)
    if (this.#windows.size >= SUBJECTS_MAX) this.#forgetPast(nowMs)
    if (this.#windows.size < SUBJECTS_MAX) this.#windows.set(subject, window)
    return window
  }

  #forgetPast(nowMs: number): void {
    for (const [subject, { endsMs, waiting }] of this.#windows)
      if (nowMs >= endsMs && waiting.length === 0) this.#windows.delete(subject)
  }

  #isRunning({ endsMs }: Window): boolean {
    return this.#clock.monotonic() < endsMs
  }

  #told(window: Window | undefined, granted: boolean, nowMs: number): Taken {
    const { limit, used, available, endsMs } = window ?? newWindow('', 0, nowMs)
    const leftMs = Math.max(0, endsMs - nowMs)
    const resetSeconds = Math.ceil((this.#clock.now() + leftMs) / 1000)
    return { granted, limit, remaining: Math.max(0, limit - used + available), resetSeconds, leftMs }
  }
}

const newWindow = (subject: string, limit: number, nowMs: number): Window => ({
  subject,
  limit,
  available: 0,
  used: 0,
  spent: false,
  askedMs: 0,
  endsMs: 0,
  startedAt: new Date(0),
  lastTakenMs: nowMs,
  waiting: [],
})

/** Units that the waiting requests lack. */
const neededOf = ({ waiting, available, limit }: Window): number =>
  Math.min(limit, Math.max(0, waiting.reduce((sum, { units }) => sum + units, 0) - available))

/** The units needed now, and a block ahead while much is left. */
function wishOf(window: Window): QuotaWish {
  const { subject, limit, used } = window
  const ahead = Math.min(limit * BLOCK_SHARE, (limit - used) * REST_SHARE)
  return { subject, quota: limit, units: Math.max(1, neededOf(window), Math.floor(ahead)) }
}
