/**
 * Whether something answers, looked at once a second at most: whoever asks meanwhile gets the same
 * outcome, so that asking costs what is looked at nothing.
 */
import type { Clock } from './runtime.ts'

const KEPT_MS = 1_000

export class RecentLook {
  readonly #clock: Pick<Clock, 'monotonic'>
  #last: Promise<void> | null = null
  #untilMs = 0

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** @param ask bounded in time. @throws what it throws, for as long as its outcome is kept */
  look(ask: () => Promise<void>): Promise<void> {
    if (this.#last && this.#clock.monotonic() < this.#untilMs) return this.#last
    const asked = ask()
    this.#last = asked
    // While it is under way nobody else looks.
    this.#untilMs = Infinity
    const ended = () => {
      this.#untilMs = this.#clock.monotonic() + KEPT_MS
    }
    asked.then(ended, ended)
    return asked
  }
}
