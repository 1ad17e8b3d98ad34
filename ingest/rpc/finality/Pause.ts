/** The first of a series; each further one is twice as long. */
const FIRST_MS = 1_000
/** Without a cause for so long it is the first again. */
const FORGOTTEN_MS = 600_000

/** Time in which somebody is not asked: longer with each cause, and bounded. */
export class Pause {
  readonly #maxMs: number
  #untilMs = Number.NEGATIVE_INFINITY
  #times = 0

  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  /** On the monotonic clock. */
  get untilMs(): number {
    return this.#untilMs
  }

  /** Several causes at a time are one. */
  add(nowMs: number): void {
    if (nowMs < this.#untilMs) return
    if (nowMs >= this.#untilMs + FORGOTTEN_MS) this.#times = 0
    // 2^20 seconds are past every maximum, and keep the power finite.
    this.#untilMs = nowMs + Math.min(FIRST_MS * 2 ** Math.min(this.#times++, 20), this.#maxMs)
  }

  /** The next pause is the first again. */
  forget(): void {
    this.#times = 0
  }
}
