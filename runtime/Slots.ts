/**
 * How much runs at once; the rest waits in a short queue, for a short time. A slot that becomes
 * free goes to the party that holds the fewest, so that one that asks for much waits behind others
 * that ask for little. Not p-queue: it gives a slot back when a running task's signal is aborted,
 * though the engine still works on the statement, and it serves in the order of arrival.
 */

import { failure } from '#errors.ts'
import type { Clock } from './runtime.ts'

export interface SlotLimits {
  readonly running: number
  readonly waiting: number
  readonly waitMs: number
  /**
   * A party holds at most so many slots for each one that is free: its share shrinks as slots are
   * used, so that however many parties keep theirs, another finds one. Default: half of all slots.
   */
  readonly perFree?: number
}

/** No slot became free in time, or too many wait already. */
export class SlotBusyError extends failure('SlotBusyError', 'slot_busy', 'retry') {}

/** The party went away while it waited; `cause` is the signal's reason. */
export class SlotLeftError extends failure('SlotLeftError', 'slot_left', 'retry') {}

/** The errors that tell a party that it has no slot, in words of the work that slots are for. */
export interface SlotErrors {
  readonly busy: (problem: string) => Error
  readonly left: (reason: unknown) => Error
}

export const slotErrors: SlotErrors = {
  busy: (problem) => new SlotBusyError(problem),
  left: (reason) => new SlotLeftError('the caller went away', { cause: reason }),
}

/** A piece is some hundred rows. A reader that takes longer for one is gone or means harm. */
const PIECE_MS_MAX = 5_000

/**
 * The program itself, and callers that cannot be told apart: they have no share of their own to
 * keep to.
 */
export const everybody = ''

interface Waiting {
  readonly party: string
  readonly enter: () => void
}

export class Slots {
  readonly #limits: SlotLimits
  readonly #clock: Clock
  readonly #errors: SlotErrors
  readonly #usedBy: (party: string) => number
  readonly #waiting = new Set<Waiting>()
  /** Running, by party; `everybody` is not counted. */
  readonly #held = new Map<string, number>()
  #running = 0

  /**
   * @param errors what tells why there is no turn
   * @param usedBy what a party has had so far: of those that hold as few, the least goes first
   */
  constructor(
    limits: SlotLimits,
    clock: Clock,
    errors: SlotErrors = slotErrors,
    usedBy: (party: string) => number = () => 0,
  ) {
    this.#limits = limits
    this.#clock = clock
    this.#errors = errors
    this.#usedBy = usedBy
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Runs `work` when a slot is free; the slot is given back whatever happens.
   * @throws what `errors` make: `busy` when the queue is full or the wait too long, `left` when
   * aborted first
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal, party = everybody): Promise<T> {
    await this.#enter(signal, party)
    try {
      return await work()
    } finally {
      this.#leave(party)
    }
  }

  /**
   * The same for work that gives its result piece by piece: the slot is held until the loop over it
   * ends. A reader that leaves a piece for too long loses the slot, and the work is aborted: it
   * would be kept from others for nothing.
   */
  async *hold<T>(
    work: (signal: AbortSignal) => AsyncIterable<T>,
    signal?: AbortSignal,
    party = everybody,
  ): AsyncGenerator<T, void, undefined> {
    await this.#enter(signal, party)
    const slow = new AbortController()
    let isHeld = true
    const giveBack = () => {
      if (isHeld) this.#leave(party)
      isHeld = false
    }
    const late = () => {
      giveBack()
      slow.abort(this.#errors.busy(`the result was not read for ${PIECE_MS_MAX} ms`))
    }
    try {
      for await (const piece of work(signal ? AbortSignal.any([signal, slow.signal]) : slow.signal)) {
        const taken = new AbortController()
        this.#clock.sleep(PIECE_MS_MAX, taken.signal).then(late, () => {})
        yield piece
        taken.abort()
        slow.signal.throwIfAborted()
      }
    } finally {
      giveBack()
    }
  }

  /** Takes nothing. @throws what `errors.busy` makes, where work would be refused now without a wait */
  assertRoom(party = everybody): void {
    if (this.#isFree(party)) return
    if (this.#waiting.size >= this.#limits.waiting) throw this.#errors.busy('too many queries are waiting')
    if (this.#waitingOf(party) >= shareOf(this.#limits.waiting))
      throw this.#errors.busy('too many of your queries are waiting')
  }

  async #enter(signal: AbortSignal | undefined, party: string): Promise<void> {
    if (signal?.aborted) throw this.#errors.left(signal.reason)
    this.assertRoom(party)
    if (this.#isFree(party)) this.#start(party)
    else await this.#wait(signal, party)
  }

  /** A slot that becomes free is handed over, never returned in between, so nobody can overtake. */
  async #wait(signal: AbortSignal | undefined, party: string): Promise<void> {
    const { promise: turn, resolve } = Promise.withResolvers<'turn'>()
    const waiting = { party, enter: () => resolve('turn') }
    this.#waiting.add(waiting)
    const stopWaiting = new AbortController()
    const either = signal ? AbortSignal.any([signal, stopWaiting.signal]) : stopWaiting.signal
    const late = this.#clock.sleep(this.#limits.waitMs, either).then(
      () => 'late' as const,
      () => 'aborted' as const,
    )
    const outcome = await Promise.race([turn, late])
    stopWaiting.abort()
    const hasTurn = !this.#waiting.delete(waiting)
    if (outcome === 'turn') return
    if (hasTurn) this.#leave(party)
    if (signal?.aborted) throw this.#errors.left(signal.reason)
    throw this.#errors.busy(`no slot became free within ${this.#limits.waitMs} ms`)
  }

  #start(party: string): void {
    this.#running++
    if (party !== everybody) this.#held.set(party, this.#heldBy(party) + 1)
  }

  #leave(party: string): void {
    this.#running--
    const left = this.#heldBy(party) - 1
    if (left > 0) this.#held.set(party, left)
    else this.#held.delete(party)
    for (let next = this.#next(); next; next = this.#next()) {
      this.#waiting.delete(next)
      this.#start(next.party)
      next.enter()
    }
  }

  /** The one that waits longest of those whose party holds the fewest slots, and has had the least. */
  #next(): Waiting | undefined {
    let next: Waiting | undefined
    for (const waiting of this.#waiting) {
      if (!this.#isFree(waiting.party)) continue
      if (!next || this.#isBefore(waiting.party, next.party)) next = waiting
    }
    return next
  }

  #isBefore(party: string, other: string): boolean {
    const held = this.#heldBy(party) - this.#heldBy(other)
    return held < 0 || (held === 0 && this.#usedBy(party) < this.#usedBy(other))
  }

  #isFree(party: string): boolean {
    return this.#running < this.#limits.running && this.#mayRun(party)
  }

  #mayRun(party: string): boolean {
    const { running, perFree } = this.#limits
    const share = perFree === undefined ? shareOf(running) : perFree * (running - this.#running)
    return this.#heldBy(party) < share
  }

  #heldBy(party: string): number {
    return this.#held.get(party) ?? 0
  }

  #waitingOf(party: string): number {
    if (party === everybody) return 0
    let count = 0
    for (const waiting of this.#waiting) if (waiting.party === party) count++
    return count
  }
}

/** One party's share: half, so that another is always served beside it. */
const shareOf = (limit: number): number => Math.ceil(limit / 2)
