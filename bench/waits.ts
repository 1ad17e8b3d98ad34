/** Waits of requests that come at a rate. */
import { median, quantile } from './harness.ts'

/** The waits of one round, in milliseconds. */
export interface Waits {
  readonly p50: number
  readonly p99: number
}

/** Asks at a rate that answers do not slow down. A wait counts from the moment its request was due. */
export async function atRate(
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
  ask: (index: number) => Promise<void>,
): Promise<Waits> {
  const waits: number[] = []
  const asked: Promise<void>[] = []
  const begun = performance.now()
  while (asked.length < rate * seconds) {
    const due = begun + (asked.length * 1_000) / rate
    if (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, 1))
    else asked.push(ask(asked.length).then(() => void waits.push(performance.now() - due)))
  }
  await Promise.all(asked)
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) }
}

/** Medians, and the range of what was worst. */
export const show = (rounds: readonly Waits[]): string => {
  const p99s = rounds.map(({ p99 }) => p99)
  return `p50 ${median(rounds.map(({ p50 }) => p50)).toFixed(1)} ms, p99 ${Math.min(...p99s).toFixed(0)} to ${Math.max(...p99s).toFixed(0)} ms`
}
