/** Draws a result with uPlot: a line where the x axis has a scale, bars where it has names. */
import uPlot from 'uplot'
import { type Axes, isOrdered } from '../../chart/axes.ts'
import { barSeries, lineSeries, type Point, type Series } from '../../chart/series.ts'
import { cellText } from '../../model/cells.ts'
import { numberLabel, shortened, timeLabel } from '../../model/labels.ts'
import type { QueryAnswer } from '../../model/queryAnswer.ts'

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

/** Colours as a canvas takes them. */
export interface Inks {
  /** One for each line or row of bars, in their order. */
  readonly series: readonly string[]
  readonly fill: string
  readonly line: string
  readonly edge: string
  readonly text: string
  readonly surface: string
  readonly font: string
}

/** The rows at one place across: one of each series that has a value there. */
export interface ChartPlace {
  readonly x: number
  /** A bucket of time whose rows are not all there yet. */
  readonly isOpen: boolean
  readonly rows: readonly { readonly series: Series; readonly row: number }[]
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
/** Lines of more points are drawn without a dot on each; values between two gaps keep theirs. */
const DOTS_MAX = 60
const tickPx = { x: 96, y: 44 }
/** Room for the labels of the value axis, of the axis across, and for half a label at the right. */
const roomPx = { left: 64, bottom: 34, right: 20, top: 16 }
/** Width of a character of an axis label, on the wide side. */
const LABEL_CHARACTER_PX = 7.4
/** Share of its place that a bar fills, and the most pixels it is wide. */
const barSize = [0.72, 72] as const
/** Share of its place that the bars of several series fill together. */
const BARS_SHARE = 0.8
/** Heights and counts are whole: ticks between them would carry the same number twice. */
const wholeSteps = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((count) => count * 10 ** power),
).flat()

export function drawChart(host: HTMLElement, options: ChartOptions): Chart {
  const { answer, axes, width, height, inks, moments, pointed } = options
  const hasScale = isOrdered(answer.columnTypes[axes.x] ?? '')
  const { series, openAt } = hasScale
    ? lineSeries(answer, axes, POINTS_MAX, moments)
    : { series: sideBySide(barSeries(answer, axes, BARS_MAX)), openAt: null }
  const drawn = drawnLines(series, inks)
  const places = placesOf(series, openAt)
  const xs = places.map(({ x }) => x)
  const across = hasScale
    ? orderedAxis(answer.columnTypes[axes.x] ?? '')
    : namedAxis(answer, axes, places, width)
  const chart = new uPlot(
    {
      width,
      height,
      ms: 1,
      padding: [roomPx.top, roomPx.right, 0, 0],
      tzDate: (ms) => uPlot.tzDate(new Date(ms), 'Etc/UTC'),
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false },
        // On the value that is read, not between two of them.
        move: (plot, left, top) => [left < 0 ? left : plot.valToPos(xs[plot.posToIdx(left)] ?? 0, 'x'), top],
        points: { size: 11, width: 2, fill: (_plot, index) => drawn[index - 1]?.ink ?? '', stroke: inks.surface },
      },
      scales: { x: across.scale, y: { range: (_chart, min, max) => fromZero(min, max) } },
      axes: [
        { ...axisLook(inks), ...acrossLook(inks), ...across.axis },
        { ...axisLook(inks), ...valueAxis(inks) },
      ],
      series: [{}, ...drawn.map((line) => seriesLook(line, hasScale, xs.length, inks, series.length))],
      hooks: { setCursor: [({ cursor }) => pointed(places[cursor.idx ?? -1] ?? null)] },
    },
    [xs, ...drawn.map(({ points }) => heightsOf(points, xs))],
    host,
  )
  const picture = chart.root.querySelector('canvas')
  picture?.setAttribute('role', 'img')
  picture?.setAttribute(
    'aria-label',
    `${series.map(({ label }) => label).join(', ')} by ${answer.columns[axes.x]}`,
  )
  return {
    series,
    places,
    pointAt: (index) => chart.setCursor({ left: chart.valToPos(xs[index] ?? 0, 'x'), top: 0 }),
    remove: () => chart.destroy(),
  }
}

/** The colour of a series. */
export const inkOf = ({ series }: Inks, index: number): string => series[index % series.length] ?? ''

/** Bars of several series stand beside each other at their place. */
const sideBySide = (series: readonly Series[]): Series[] =>
  series.map((one, index) => {
    const offset = ((index - (series.length - 1) / 2) * BARS_SHARE) / series.length
    return { ...one, points: one.points.map((point) => ({ ...point, x: point.x + offset })) }
  })

/** A line as uPlot draws it: that of a series, or its end in a bucket that is not over. */
interface DrawnLine {
  readonly points: readonly Point[]
  readonly ink: string
  readonly isOpen: boolean
}

const drawnLines = (series: readonly Series[], inks: Inks): DrawnLine[] => [
  ...series.map(({ points }, index) => ({ points, ink: inkOf(inks, index), isOpen: false })),
  ...series.flatMap(({ open }, index) =>
    open.length > 0 ? [{ points: open, ink: inkOf(inks, index), isOpen: true }] : [],
  ),
]

function placesOf(series: readonly Series[], openAt: number | null): ChartPlace[] {
  const all = series.flatMap((one) =>
    [...one.points, ...one.open.slice(-1)].map(({ x, row }) => ({ x, row, series: one })),
  )
  return [...Map.groupBy(all, ({ x }) => x)]
    .sort(([a], [b]) => a - b)
    .map(([x, found]) => ({ x, isOpen: x === openAt, rows: found.filter(({ row }) => row >= 0) }))
}

/** In the order of `xs`. Null is a gap; undefined a place of other series, which a line passes. */
function heightsOf(points: readonly Point[], xs: readonly number[]): (number | null | undefined)[] {
  const heights = new Map(points.map(({ x, y }) => [x, y]))
  return xs.map((x) => heights.get(x))
}

interface Across {
  readonly scale: uPlot.Scale
  readonly axis: uPlot.Axis
}

function orderedAxis(type: string): Across {
  if (type === 'timestamp' || type === 'date')
    return {
      scale: { time: true },
      axis: {
        space: tickPx.x,
        values: (_chart, ticks, _axis, _space, stepMs) => ticks.map((ms) => timeLabel(ms, stepMs)),
      },
    }
  const isWhole = type !== 'float' && type !== 'numeric'
  return {
    scale: { time: false },
    axis: {
      space: tickPx.x,
      ...(isWhole && { incrs: wholeSteps }),
      values: (_chart, ticks) => ticks.map((tick) => tick.toLocaleString('en-US')),
    },
  }
}

/** One name per tick's width, cut to fit. */
function namedAxis(answer: QueryAnswer, axes: Axes, places: readonly ChartPlace[], width: number): Across {
  const names = new Map(
    places.flatMap(({ x, rows: [first] }) =>
      first ? [[Math.round(x), cellText(answer.rows[first.row]?.[axes.x] ?? null)] as const] : [],
    ),
  )
  const stepPx = (width - roomPx.left - roomPx.right) / Math.max(1, names.size)
  const every = Math.max(1, Math.ceil(tickPx.x / stepPx))
  const characters = Math.max(4, Math.floor((every * stepPx - 12) / LABEL_CHARACTER_PX))
  return {
    scale: { time: false, range: () => [-0.5, names.size - 0.5] },
    axis: {
      splits: () => [...names.keys()].filter((_, index) => index % every === 0),
      values: (_chart, ticks) => ticks.map((tick) => shortened(names.get(tick) ?? '', characters)),
    },
  }
}

const valueAxis = ({ line }: Inks): uPlot.Axis => ({
  size: roomPx.left,
  space: tickPx.y,
  grid: { show: true, stroke: line, width: 1 },
  values: (_chart, ticks) => ticks.map(numberLabel),
})

const acrossLook = ({ edge }: Inks): uPlot.Axis => ({
  size: roomPx.bottom,
  border: { show: true, stroke: edge, width: 1 },
})

const axisLook = ({ text, font }: Inks): uPlot.Axis => ({
  stroke: text,
  font,
  grid: { show: false },
  ticks: { show: false },
})

/** Below one line alone the area is filled: areas of several would cover each other. */
function seriesLook(
  { ink, isOpen }: DrawnLine,
  isLine: boolean,
  count: number,
  inks: Inks,
  of: number,
): uPlot.Series {
  if (isOpen) return openLook(ink, inks)
  const [share, pixels] = barSize
  return {
    stroke: ink,
    width: isLine ? 1.75 : 0,
    ...(isLine && of === 1 && { fill: inks.fill }),
    ...(!isLine && { fill: ink }),
    fillTo: 0,
    points: {
      show: isLine,
      filter: ({ data }, at) => (count <= DOTS_MAX ? null : lonely(data[at] ?? [])),
      size: 5,
      fill: ink,
      stroke: ink,
    },
    ...(!isLine &&
      uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [share / of, pixels], radius: 0.04 }) }),
  }
}

/** Dashed, to a ring: the value there is not the last one. */
const openLook = (stroke: string, { surface }: Inks): uPlot.Series => ({
  stroke,
  width: 1.75,
  dash: [5, 5],
  points: {
    show: true,
    // Nothing is newer.
    filter: ({ data: [xs] }) => [xs.length - 1],
    size: 8,
    width: 1.75,
    fill: surface,
    stroke,
  },
})

/** Values between two gaps, which no line would show. */
function lonely(heights: ArrayLike<number | null | undefined>): number[] {
  const told = Array.from(heights, (height, at) => ({ height, at })).filter(
    ({ height }) => height !== undefined,
  )
  return told.flatMap(({ height, at }, index) => {
    const isBetweenGaps = [told[index - 1], told[index + 1]].every(
      (beside) => (beside?.height ?? null) === null,
    )
    return height !== null && isBetweenGaps ? [at] : []
  })
}

/** From zero where nothing is below it: heights then compare as the numbers do. */
const fromZero = (min: number | null, max: number | null): uPlot.Range.MinMax =>
  uPlot.rangeNum(Math.min(0, min ?? 0), Math.max(0, max ?? 1), 0.1, true)
