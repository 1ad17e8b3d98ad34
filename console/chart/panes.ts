/** Which series of a chart share a scale. */
import type { Point } from './points.ts'
import type { Series } from './series.ts'

/** A line that is lower than this share of another cannot be read beside it. */
const SHARE_MIN = 1 / 20
/** More charts one below another are too low to be read. */
const PANES_MAX = 3

/**
 * The series in groups, each a chart of its own, one below another. Within a group no series is
 * lower than a twentieth of the highest one; the last group of three holds all that are lower still.
 * Series that are zero throughout are in the last group.
 */
export function panesOf(series: readonly Series[]): readonly (readonly Series[])[] {
  const heights = new Map(series.map((one) => [one, heightOf(one)]))
  const height = (one: Series) => heights.get(one) ?? 0
  const panes: Series[][] = []
  for (const one of series.toSorted((a, b) => height(b) - height(a))) {
    const pane = panes.at(-1)
    const [highest] = pane ?? []
    const isLow = highest !== undefined && height(one) < SHARE_MIN * height(highest)
    const fits = !isLow || height(one) === 0 || panes.length === PANES_MAX
    if (pane && fits) pane.push(one)
    else panes.push([one])
  }
  const place = ([first]: readonly Series[]) => (first ? series.indexOf(first) : 0)
  return panes.map((pane) => series.filter((one) => pane.includes(one))).sort((a, b) => place(a) - place(b))
}

/** The distance from zero of the value that is farthest from it. */
const heightOf = ({ points, open }: Series): number =>
  [...points, ...open].reduce((most, { y }: Point) => Math.max(most, Math.abs(y ?? 0)), 0)
