/**
 * The outside world as values: time, chance and named places to fail. Core code takes these by
 * argument, so that a simulation can drive them; nothing in ingest, transform or store calls
 * Date.now, Math.random or setTimeout itself.
 */

/**
 * Time. `now` is the wall clock, `monotonic` never goes back and is what deadlines and leases use.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds since some fixed moment; never decreases. */
  monotonic(): number
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Uniform in [0, 1). */
export type Random = () => number

/**
 * A named place where a test may crash or throw. Does nothing in production unless
 * FAILPOINT=name:nth is set, in which case the nth visit kills the process with SIGKILL.
 */
export type Failpoint = (name: string) => void

export interface Runtime {
  readonly clock: Clock
  readonly random: Random
  readonly failpoint: Failpoint
}

const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const stop = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal?.addEventListener('abort', stop, { once: true })
    }),
}

/** The real world. `failpoints` is the FAILPOINT setting, `name:nth`, comma separated. */
export function systemRuntime(failpoints = ''): Runtime {
  return { clock: systemClock, random: Math.random, failpoint: killingFailpoint(failpoints) }
}

function killingFailpoint(setting: string): Failpoint {
  const remaining = new Map<string, number>()
  for (const entry of setting.split(',').filter(Boolean)) {
    const [name = '', nth = '1'] = entry.split(':')
    remaining.set(name, Number(nth))
  }
  if (remaining.size === 0) return () => {}
  return (name) => {
    const left = remaining.get(name)
    if (left === undefined) return
    remaining.set(name, left - 1)
    if (left <= 1) process.kill(process.pid, 'SIGKILL')
  }
}
