/** Seconds since the epoch, as the API writes them: without a fraction. */
export const isoSeconds = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`
