/** Linear scales of a chart: round ticks, places in pixels, short numbers. */

export interface Scale {
  readonly min: number
  readonly max: number
  readonly ticks: readonly number[]
  /** Pixels of a value. */
  readonly at: (value: number) => number
}

/** Covers `min` to `max` with about `ticksWanted` round ticks. `from` and `to` are the pixels of its ends. */
export function roundScale(
  domain: { readonly min: number; readonly max: number },
  pixels: { readonly from: number; readonly to: number },
  ticksWanted: number,
): Scale {
  const span = domain.max - domain.min || Math.abs(domain.max) || 1
  const step = roundStep(span / Math.max(1, ticksWanted))
  const min = Math.floor(domain.min / step) * step
  const max = Math.max(min + step, Math.ceil(domain.max / step) * step)
  const count = Math.round((max - min) / step)
  const ticks = Array.from({ length: count + 1 }, (_, index) => exactly(min + index * step))
  return { min, max, ticks, at: place(min, max, pixels) }
}

/** Covers exactly `min` to `max`; ticks are the round values within. */
export function tightScale(
  { min, max }: { readonly min: number; readonly max: number },
  pixels: { readonly from: number; readonly to: number },
  step: number,
): Scale {
  const ticks: number[] = []
  for (let tick = Math.ceil(min / step) * step; tick <= max; tick += step) ticks.push(exactly(tick))
  return { min, max, ticks, at: place(min, max, pixels) }
}

/** 1, 2 or 5 times a power of ten, at least `step`. */
export function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= step * (1 - 1e-9)) ?? 10
  return factor * power
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const timeSteps = [1, 2, 5, 10, 15, 30]
  .map((count) => count * second)
  .concat([1, 2, 5, 10, 15, 30].map((count) => count * minute))
  .concat([1, 2, 3, 6, 12].map((count) => count * hour))
  .concat([1, 2, 7, 14, 30, 90, 365].map((count) => count * day))

/** The shortest span of the calendar that is at least `ms`. */
export const timeStep = (ms: number): number =>
  timeSteps.find((step) => step >= ms) ?? Math.ceil(ms / (365 * day)) * 365 * day

/** Time of a tick in UTC, as fine as its step. */
export function timeLabel(ms: number, stepMs: number): string {
  const text = new Date(ms).toISOString()
  if (stepMs >= day) return text.slice(0, 10)
  const clock = text.slice(11, stepMs >= minute ? 16 : 19)
  return ms % day === 0 ? text.slice(5, 10) : clock
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })

/** Short enough for an axis. */
export const numberLabel = (value: number): string =>
  Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(1)
    : compact.format(value)

const place =
  (min: number, max: number, { from, to }: { readonly from: number; readonly to: number }) =>
  (value: number): number =>
    from + ((value - min) / (max - min || 1)) * (to - from)

/** Without the dust of binary fractions: 0.1 + 0.2 is 0.3. */
const exactly = (value: number): number => Number(value.toPrecision(12))
