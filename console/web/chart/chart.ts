/** Draws a result: lines where the x axis has a scale, bars where it has names. */
import { type Axes, isOrdered } from '../../chart/axes.ts'
import { panesOf } from '../../chart/panes.ts'
import { barSeries, type Lines, lineSeries, type Series } from '../../chart/series.ts'
import { cellText } from '../../model/cells.ts'
import type { QueryAnswer } from '../../model/queryAnswer.ts'
import { type Across, namedAcross, orderedAcross } from './across.ts'
import { type DrawnLine, type Inks, inkOf, roomPx } from './look.ts'
import { drawPane, type Pane } from './pane.ts'

export interface ChartOptions {
  readonly answer: QueryAnswer
  readonly axes: Axes
  readonly width: number
  readonly height: number
  readonly inks: Inks
  /** Unix milliseconds up to which the rows tell. */
  readonly moments: readonly number[]
  /** Told at which place of the chart the reader points; null for none. */
  readonly pointed: (place: ChartPlace | null) => void
}

/** The rows at one place across, of each series that has a value there. */
export interface ChartPlace {
  readonly x: number
  /** A bucket of time whose rows are not all there yet. */
  readonly isOpen: boolean
  readonly told: readonly { readonly series: Series; readonly rows: readonly number[] }[]
}

export interface Chart {
  readonly series: readonly Series[]
  /** From left to right. */
  readonly places: readonly ChartPlace[]
  /** Points at one of them, as a pointer would. */
  pointAt(index: number): void
  remove(): void
}

/** About two points per three pixels of a wide screen. */
const POINTS_MAX = 1_200
/** More bars than this cannot be told apart or named. */
const BARS_MAX = 60
/** Share of its place that the bars of several series fill together. */
const BARS_SHARE = 0.8

export function drawChart(host: HTMLElement, options: ChartOptions): Chart {
  const { answer, axes, width, height, inks, moments, pointed } = options
  const type = answer.columnTypes[axes.x] ?? ''
  const hasScale = isOrdered(type)
  const { series, openAt }: Lines = hasScale
    ? lineSeries(answer, axes, POINTS_MAX, moments)
    : { series: barSeries(answer, axes, BARS_MAX), openAt: null }
  const panes = panesOf(series).map((pane) => {
    const placed = hasScale ? pane : sideBySide(pane)
    return { placed, inks: pane.map((one) => inkOf(inks, series.indexOf(one))) }
  })
  const places = placesOf(
    panes.flatMap(({ placed }) => placed),
    openAt,
  )
  const xs = places.map(({ x }) => x)
  const across = hasScale ? orderedAcross(type) : namedAcross(namesOf(answer, axes, places), width)
  const heights = paneHeights(height, panes.length)
  const plots = panes.map(({ placed, inks: seriesInks }, index) =>
    drawPane(host, {
      ...{ width, height: heights[index] ?? height, inks, hasScale, xs },
      across: index === panes.length - 1 ? across : unlabelled(across),
      lines: drawnLines(placed, seriesInks),
      label: `${placed.map(({ label }) => label).join(', ')} by ${answer.columns[axes.x]}`,
      pointed: (at) => pointed(places[at ?? -1] ?? null),
    }),
  )
  return {
    series,
    places,
    pointAt: (index) => each(plots, (plot) => plot.pointAt(index)),
    remove: () => each(plots, (plot) => plot.remove()),
  }
}

function each(plots: readonly Pane[], act: (plot: Pane) => void): void {
  for (const plot of plots) act(plot)
}

/** Heights of equal plots; below the last one stand the labels of the axis across. */
function paneHeights(height: number, count: number): number[] {
  const plot = Math.floor((height - roomPx.bottom - (count - 1) * roomPx.between) / count)
  return Array.from(
    { length: count },
    (_, index) => plot + (index === count - 1 ? roomPx.bottom : roomPx.between),
  )
}

const unlabelled = ({ scale, axis }: Across): Across => ({
  scale,
  axis: { ...axis, size: roomPx.between, values: (_chart, ticks) => ticks.map(() => '') },
})

/** Bars of several series stand beside each other at their place. */
const sideBySide = (series: readonly Series[]): Series[] =>
  series.map((one, index) => {
    const offset = ((index - (series.length - 1) / 2) * BARS_SHARE) / series.length
    return { ...one, points: one.points.map((point) => ({ ...point, x: point.x + offset })) }
  })

function drawnLines(series: readonly Series[], inks: readonly DrawnLine['ink'][]): DrawnLine[] {
  const inked = series.flatMap((one, index) => {
    const ink = inks[index]
    return ink ? [{ ...one, ink }] : []
  })
  return [
    ...inked.map(({ points, ink }) => ({ points, ink, isOpen: false })),
    ...inked.flatMap(({ open, ink }) => (open.length > 0 ? [{ points: open, ink, isOpen: true }] : [])),
  ]
}

function placesOf(series: readonly Series[], openAt: number | null): ChartPlace[] {
  const all = series.flatMap((one) =>
    [...one.points, ...one.open.slice(-1)].map(({ x, rows }) => ({ x, rows, series: one })),
  )
  return [...Map.groupBy(all, ({ x }) => x)]
    .sort(([a], [b]) => a - b)
    .map(([x, found]) => ({ x, isOpen: x === openAt, told: found.filter(({ rows }) => rows.length > 0) }))
}

/** The names of the places where bars stand. */
const namesOf = (
  answer: QueryAnswer,
  axes: Axes,
  places: readonly ChartPlace[],
): ReadonlyMap<number, string> =>
  new Map(
    places.flatMap(({ x, told: [first] }) => {
      const [row] = first?.rows ?? []
      return row === undefined ? [] : [[Math.round(x), cellText(answer.rows[row]?.[axes.x] ?? null)] as const]
    }),
  )
