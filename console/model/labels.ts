/** Labels on the axes of a chart: short enough to stand beside each other. */

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Time of a tick in UTC, as fine as its step. */
export function timeLabel(ms: number, stepMs: number): string {
  const text = new Date(ms).toISOString()
  if (stepMs >= DAY_MS) return text.slice(0, 10)
  const clock = text.slice(11, stepMs >= MINUTE_MS ? 16 : 19)
  return ms % DAY_MS === 0 ? text.slice(5, 10) : clock
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })

export const numberLabel = (value: number): string =>
  Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(1)
    : compact.format(value)

/** Both ends, because hashes and addresses differ in both. */
export function shortened(text: string, characters: number): string {
  if (text.length <= characters) return text
  const kept = Math.max(1, Math.floor((characters - 1) / 2))
  return `${text.slice(0, kept)}…${text.slice(-kept)}`
}
