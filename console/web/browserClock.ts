/** The browser's time. Everything else in the console waits and measures by it. */

export const browserClock = {
  /** Milliseconds since the Unix epoch, as this machine has them. */
  now: (): number => Date.now(),
  /** Milliseconds since the page began; never decreases. */
  monotonic: (): number => performance.now(),
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
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
