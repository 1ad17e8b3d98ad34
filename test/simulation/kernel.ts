/**
 * Virtual time. Everything a simulated process waits for is an event in one queue, ordered by time
 * and, at equal times, by the seed; a seed therefore replays identically, and the trace's hash
 * proves it.
 */
import { createHash, type Hash } from 'node:crypto'
import type { Clock, Random } from '#runtime/runtime.ts'
import { seededRandom } from '../ingest/support/random.ts'

interface Event {
  readonly atMs: number
  readonly tie: number
  readonly label: string
  readonly act: () => void
  cancelled: boolean
}

/** An operating-system process: it can be killed, and stopped for a while as SIGSTOP does. */
export interface SimProcess {
  readonly name: string
  alive: boolean
  /** When it was killed. */
  diedAtMs?: number
  /** The moment before which no message reaches the process. */
  stoppedUntilMs: number
}

/** How long a call takes to arrive, and its answer to come back. */
export interface Travel {
  readonly thereMs: number
  readonly backMs: number
}

const HANG_UP_MS = 1_000

/** A line to something outside: how slow it is, and how long a rare request takes. */
export interface Line {
  readonly latencyMs: readonly [number, number]
  readonly tailMs: number
}

/**
 * A run that does not come to rest is a bug of the simulation or a busy loop of what it simulates.
 */
const EVENTS_MAX = 400_000

export class Kernel {
  readonly random: Random
  nowMs = 0
  events = 0
  readonly #heap: Event[] = []
  readonly #trace: Hash = createHash('sha256')
  readonly #keep: ((line: string) => void) | undefined
  readonly #settle: () => Promise<void>

  /** @param settle lets all go on that needs no time to pass */
  constructor(seed: number, keep?: (line: string) => void, settle = settled) {
    this.random = seededRandom(seed)
    this.#keep = keep
    this.#settle = settle
  }

  /** The history so far, as one hash. */
  traceHash(): string {
    return this.#trace.copy().digest('hex').slice(0, 16)
  }

  note(line: string): void {
    this.#trace.update(`${this.nowMs.toFixed(3)} ${line}\n`)
    this.#keep?.(`${this.nowMs.toFixed(1).padStart(9)} ${line}`)
  }

  /** A whole number in [min, max]. */
  between(min: number, max: number): number {
    return min + Math.floor(this.random() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return probability > 0 && this.random() < probability
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.random() * items.length)]
    if (item === undefined) throw new RangeError('nothing to pick from')
    return item
  }

  /** How long one call over a line takes. */
  travel({ latencyMs: [min, max], tailMs }: Line): Travel {
    const half = () => min / 2 + (this.random() * (max - min)) / 2
    const tail = this.chance(0.01) ? this.random() * tailMs : 0
    return { thereMs: half() + tail, backMs: half() }
  }

  /** Runs `act` later; the answer cancels it. */
  after(ms: number, label: string, act: () => void): () => void {
    const event: Event = {
      atMs: this.nowMs + Math.max(0, ms),
      tie: this.random(),
      label,
      act,
      cancelled: false,
    }
    this.#push(event)
    return () => {
      event.cancelled = true
    }
  }

  /** Runs `act` when the process can take it in; never when it is dead by then. */
  deliver(process: SimProcess, ms: number, label: string, act: () => void): () => void {
    return this.after(ms, label, () => {
      if (!process.alive) return
      const stoppedMs = process.stoppedUntilMs - this.nowMs
      if (stoppedMs > 0) this.deliver(process, stoppedMs, label, act)
      else act()
    })
  }

  /**
   * A call to something outside the process. `serve` runs there when the call arrives, whatever has
   * become of the caller; the answer comes back only to a caller that still lives. Throwing is an
   * answer.
   */
  call<T>(process: SimProcess, label: string, { thereMs, backMs }: Travel, serve: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      // A stopped process sends nothing.
      this.deliver(process, 0, `${label} send`, () => {
        this.after(thereMs, label, () => {
          if (this.#hungUp(process)) return
          try {
            const answer = serve()
            this.deliver(process, backMs, `${label} ok`, () => resolve(answer))
          } catch (error) {
            this.deliver(process, backMs, `${label} failed`, () => reject(error))
          }
        })
      })
    })
  }

  /** A dead process's connections are closed: what it had sent arrives within a moment or never. */
  #hungUp({ alive, diedAtMs }: SimProcess): boolean {
    return !alive && this.nowMs - (diedAtMs ?? 0) > HANG_UP_MS
  }

  /** Runs events until `done` says so or time is over. True when it was done. */
  async run(untilMs: number, done: () => boolean, afterEach: () => void): Promise<boolean> {
    await this.#settle()
    while (!done()) {
      const event = this.#pop()
      if (!event || event.atMs > untilMs) {
        if (event) this.#push(event)
        this.nowMs = untilMs
        return false
      }
      if (event.cancelled) continue
      if (++this.events > EVENTS_MAX) throw new Error(`more than ${EVENTS_MAX} events by ${this.nowMs} ms`)
      this.nowMs = event.atMs
      this.note(event.label)
      event.act()
      await this.#settle()
      afterEach()
    }
    return true
  }

  #push(event: Event): void {
    const heap = this.#heap
    let at = heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#before(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #pop(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last || heap.length === 0) return first
    heap[0] = last
    for (let at = 0; ; ) {
      let least = at
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && this.#before(child, least)) least = child
      if (least === at) return first
      this.#swap(at, least)
      at = least
    }
  }

  #before(a: number, b: number): boolean {
    const [left, right] = [this.#heap[a], this.#heap[b]]
    if (!left || !right) return false
    return left.atMs < right.atMs || (left.atMs === right.atMs && left.tie < right.tie)
  }

  #swap(a: number, b: number): void {
    const [left, right] = [this.#heap[a], this.#heap[b]]
    if (!left || !right) return
    this.#heap[a] = right
    this.#heap[b] = left
  }
}

/**
 * A process's clock. Its wall clock may be wrong, and be set while it runs; its monotonic clock is
 * not.
 */
export class ProcessClock implements Clock {
  readonly #kernel: Kernel
  readonly #process: SimProcess
  #stepMs = 0
  #driftShare = 0
  #steppedAtMs = 0

  constructor(kernel: Kernel, process: SimProcess) {
    this.#kernel = kernel
    this.#process = process
  }

  now(): number {
    const { nowMs } = this.#kernel
    return (
      1_767_225_600_000 + nowMs + this.#stepMs + Math.round((nowMs - this.#steppedAtMs) * this.#driftShare)
    )
  }

  /**
   * Sets the wall clock wrong by so much, and from then on it runs too fast or too slow by a share
   * of the time that passes.
   */
  stepWall(stepMs: number, driftShare: number): void {
    this.#stepMs = stepMs
    this.#driftShare = driftShare
    this.#steppedAtMs = this.#kernel.nowMs
  }

  monotonic(): number {
    return this.#kernel.nowMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const leave = () => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = this.#kernel.deliver(this.#process, ms, `${this.#process.name} wakes`, () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      })
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
}

/** Lets everything that can go on without time passing go on. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
