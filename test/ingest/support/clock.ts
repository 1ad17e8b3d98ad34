import type { Clock, Runtime } from '#runtime/runtime.ts'
import { seededRandom } from './random.ts'

interface Sleeper {
  readonly atMs: number
  readonly wake: () => void
}

/** Time that moves only when told to. Sleepers wake in order of their deadlines. */
export class ManualClock implements Clock {
  #nowMs = 0
  #sleepers: Sleeper[] = []

  now(): number {
    return 1_767_225_600_000 + this.#nowMs
  }

  monotonic(): number {
    return this.#nowMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const leave = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const sleeper = { atMs: this.#nowMs + ms, wake }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** Moves time on, letting whoever wakes run before the next one does. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms
    for (;;) {
      await settled()
      const due = this.#sleepers.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs)[0]
      if (!due) break
      this.#sleepers = this.#sleepers.filter((other) => other !== due)
      this.#nowMs = Math.max(this.#nowMs, due.atMs)
      due.wake()
    }
    this.#nowMs = end
    await settled()
  }
}

/** Time that jumps: a sleep is over at once, and the clock has moved by it. */
class JumpingClock implements Clock {
  #nowMs = 0

  now(): number {
    return 1_767_225_600_000 + this.#nowMs
  }

  monotonic(): number {
    return this.#nowMs
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.#nowMs += ms
    await settled()
  }
}

/** A runtime that never waits, for tests of what happens rather than when. */
export const jumpingRuntime = (seed = 1): Runtime => ({
  clock: new JumpingClock(),
  random: seededRandom(seed),
  failpoint: () => {},
})

/** After every promise that can settle without input has done so. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
