/** How a person or a supervisor ends the program. */
import { failure } from '#errors.ts'
import type { Clock } from '#runtime/runtime.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * One Ctrl-C can arrive several times: the terminal sends it to the whole group, and npm passes its
 * own on. What comes this soon after the first is the first.
 */
const SAME_MS = 1_000

/** The source of signals and the process that ends at once: `process`. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown
  removeAllListeners(signal: NodeJS.Signals): unknown
  exit(code: number): void
}

/**
 * Ends the process by a signal that comes before a command listens. The first process of a
 * container is not ended by a signal that it does not listen to.
 */
export function endOnSignal(source: SignalSource): void {
  for (const signal of signals) source.on(signal, () => source.exit(1))
}

/**
 * Aborted by the first signal; the program then finishes what it has begun. A second one, a second
 * or more later, ends it at once: the next start cleans up, as after `kill -9`.
 */
export function createStopSignal(source: SignalSource, clock: Clock): AbortSignal {
  const stop = new AbortController()
  let askedMs: number | null = null
  const ask = () => {
    askedMs ??= clock.monotonic()
    if (clock.monotonic() - askedMs >= SAME_MS) source.exit(1)
    stop.abort()
  }
  for (const signal of signals) {
    source.removeAllListeners(signal)
    source.on(signal, ask)
  }
  return stop.signal
}

/** @throws InterruptedError once the program was asked to end */
export function assertNotInterrupted(stop: AbortSignal): void {
  if (stop.aborted) throw new InterruptedError()
}

/** The result of the work, unless the program is asked to end first. @throws InterruptedError */
export function unlessInterrupted<T>(stop: AbortSignal, work: Promise<T>): Promise<T> {
  const interrupted = aborted(stop).then(() => Promise.reject(new InterruptedError()))
  return Promise.race([work, interrupted])
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** The program was asked to end before a command was done. */
export class InterruptedError extends failure('InterruptedError', 'interrupted', 'retry') {
  constructor() {
    super('interrupted before it was done; the same command again goes on from here')
  }
}
