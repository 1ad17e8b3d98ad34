/**
 * Buckets of time, as `date_trunc` and its kind make them. They are told from other times by the
 * data: all lie on one grid of whole minutes, or at the first of months.
 */

const MINUTE_MS = 60_000

/**
 * The newest bucket, if one of the moments lies in it: its rows were not all there yet.
 * @param times starts of buckets in Unix milliseconds, in any order
 * @param moments Unix milliseconds up to which the rows tell
 * @returns its start; null where the times are no buckets, or all of them are over
 */
export function openBucket(times: readonly number[], moments: readonly number[]): number | null {
  const starts = [...new Set(times)].sort((a, b) => a - b)
  const [newest, end] = [starts.at(-1), endOfNewest(starts)]
  if (newest === undefined || end === null) return null
  return moments.some((moment) => moment >= newest && moment < end) ? newest : null
}

/** Whether the times are starts of buckets. */
export const areBuckets = (times: readonly number[]): boolean =>
  endOfNewest([...new Set(times)].sort((a, b) => a - b)) !== null

/** Blocks come at seconds: only by chance are two of them at whole minutes, and more never. */
function endOfNewest(starts: readonly number[]): number | null {
  const newest = starts.at(-1)
  if (newest === undefined || starts.length < 2 || starts.some((start) => start % MINUTE_MS !== 0))
    return null
  if (starts.every((start) => startOfMonth(monthOf(start)) === start)) {
    const months = starts.map(monthOf)
    return startOfMonth((months.at(-1) ?? 0) + gridStep(months))
  }
  return newest + gridStep(starts)
}

/** Widest step of which all distances are a multiple: buckets without rows leave out places of the grid. */
const gridStep = (places: readonly number[]): number =>
  places.reduce((step, place, index) => greatestDivisor(step, place - (places[index - 1] ?? place)), 0)

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))

/** Months since the year 0, in UTC. */
const monthOf = (ms: number): number => new Date(ms).getUTCFullYear() * 12 + new Date(ms).getUTCMonth()

const startOfMonth = (month: number): number => Date.UTC(Math.floor(month / 12), month % 12)
