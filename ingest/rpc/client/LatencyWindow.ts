/**
 * Durations of an endpoint's recent range requests: enough for a 95th percentile, forgotten as new
 * ones come.
 */
const SAMPLES_MAX = 64

/** Fewer say nothing about the slowest twentieth. */
const SAMPLES_MIN = 16

export class LatencyWindow {
  readonly #durationsMs: number[] = []
  #next = 0

  add(durationMs: number): void {
    this.#durationsMs[this.#next] = durationMs
    this.#next = (this.#next + 1) % SAMPLES_MAX
  }

  /** Undefined until there are enough samples. */
  p95(): number | undefined {
    if (this.#durationsMs.length < SAMPLES_MIN) return undefined
    const sorted = this.#durationsMs.toSorted((a, b) => a - b)
    return sorted[Math.floor(sorted.length * 0.95)]
  }
}
