/** Points of a line: gaps where a scale has none, and as many as a screen shows. */

export interface Point {
  readonly x: number
  /** Null is a gap. */
  readonly y: number | null
  /** Rows of the result that it shows; none for a gap that no row tells of. */
  readonly rows: readonly number[]
}

/** Steps of a scale are regular where at least this share of them is the same. */
const REGULAR_SHARE = 0.5
const REGULAR_POINTS_MIN = 4

/** A place that a regular scale skips is a gap, for a line through it would tell of values there. */
export function withGaps(points: readonly Point[]): Point[] {
  const step = regularStep(points)
  if (step === null) return [...points]
  return points.flatMap((point, index): Point[] => {
    const before = points[index - 1]
    if (!before || point.x - before.x < 1.5 * step) return [point]
    return [{ x: before.x + step, y: null, rows: [] }, point]
  })
}

function regularStep(points: readonly Point[]): number | null {
  if (points.length < REGULAR_POINTS_MIN) return null
  const times = new Map<number, number>()
  for (const [index, { x }] of points.entries()) {
    const step = x - (points[index - 1]?.x ?? x)
    if (step > 0) times.set(step, (times.get(step) ?? 0) + 1)
  }
  const [step, seen] = [...times].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])
  return seen >= REGULAR_SHARE * (points.length - 1) ? step : null
}

/**
 * The lowest and highest point of each stretch: a spike stays one, however many points there are,
 * and a stretch without values a gap.
 */
export function thin(points: readonly Point[], pointsMax: number): Point[] {
  if (points.length <= pointsMax) return [...points]
  const size = Math.ceil(points.length / Math.max(1, Math.floor(pointsMax / 2)))
  const kept: Point[] = []
  for (let start = 0; start < points.length; start += size) {
    const stretch = points.slice(start, start + size)
    const values = stretch.filter(({ y }) => y !== null)
    const heightOf = ({ y }: Point) => y ?? 0
    const lowest = values.reduce<Point | undefined>(
      (a, b) => (a && heightOf(a) <= heightOf(b) ? a : b),
      undefined,
    )
    const highest = values.reduce<Point | undefined>(
      (a, b) => (a && heightOf(a) >= heightOf(b) ? a : b),
      undefined,
    )
    kept.push(
      ...[...new Set([lowest, highest, ...(lowest ? [] : stretch.slice(0, 1))])].filter(
        (point) => point !== undefined,
      ),
    )
  }
  return kept.sort((a, b) => a.x - b.x)
}
