/** Draws a result with uPlot: a line where the x axis has a scale, bars where it has names. */
import uPlot from 'uplot'
import { type Axes, barPoints, isOrdered, linePoints, type Point } from '../../model/axes.ts'
import { cellText } from '../../model/cells.ts'
import { numberLabel, shortened, timeLabel } from '../../model/labels.ts'
import type { QueryAnswer } from '../../model/queryAnswer.ts'

export interface ChartOptions {
  readonly answer: QueryAnswer
  readonly axes: Axes
  readonly width: number
  readonly height: number
  readonly inks: Inks
  /** Told which of the chart's points the reader points at; null for none. */
  readonly pointed: (point: Point | null) => void
}

/** Colours as a canvas takes them. */
export interface Inks {
  readonly accent: string
  readonly fill: string
  readonly line: string
  readonly edge: string
  readonly text: string
  readonly surface: string
  readonly font: string
}

export interface Chart {
  /** From left to right. */
  readonly points: readonly Point[]
  /** Points at one of them, as a pointer would. */
  pointAt(index: number): void
  remove(): void
}

/** About two points per three pixels of a wide screen. */
const POINTS_MAX = 1_200
/** More bars than this cannot be told apart or named. */
const BARS_MAX = 60
/** Lines of more points are drawn without a dot on each. */
const DOTS_MAX = 60
const tickPx = { x: 96, y: 44 }
/** Room for the labels of the value axis, of the axis across, and for half a label at the right. */
const roomPx = { left: 64, bottom: 34, right: 20, top: 16 }
/** Width of a character of an axis label, on the wide side. */
const LABEL_CHARACTER_PX = 7.4
/** Share of its place that a bar fills, and the most pixels it is wide. */
const barSize = [0.72, 72] as const
/** Heights and counts are whole: ticks between them would carry the same number twice. */
const wholeSteps = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((count) => count * 10 ** power),
).flat()

export function drawChart(host: HTMLElement, options: ChartOptions): Chart {
  const { answer, axes, width, height, inks, pointed } = options
  const hasScale = isOrdered(answer.columnTypes[axes.x] ?? '')
  const points = hasScale ? linePoints(answer, axes, POINTS_MAX) : barPoints(answer, axes, BARS_MAX)
  const xs = points.map(({ x }) => x)
  const across = hasScale
    ? orderedAxis(answer.columnTypes[axes.x] ?? '')
    : namedAxis(answer, axes, points, width)
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
        points: { size: 11, width: 2, fill: inks.accent, stroke: inks.surface },
      },
      scales: { x: across.scale, y: { range: (_chart, min, max) => fromZero(min, max) } },
      axes: [
        { ...axisLook(inks), ...acrossLook(inks), ...across.axis },
        { ...axisLook(inks), ...valueAxis(inks) },
      ],
      series: [{}, seriesLook(hasScale, points.length, inks)],
      hooks: { setCursor: [({ cursor }) => pointed(points[cursor.idx ?? -1] ?? null)] },
    },
    [xs, points.map(({ y }) => y)],
    host,
  )
  const picture = chart.root.querySelector('canvas')
  picture?.setAttribute('role', 'img')
  picture?.setAttribute('aria-label', `${answer.columns[axes.y]} by ${answer.columns[axes.x]}`)
  return {
    points,
    pointAt: (index) => chart.setCursor({ left: chart.valToPos(xs[index] ?? 0, 'x'), top: 0 }),
    remove: () => chart.destroy(),
  }
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
function namedAxis(answer: QueryAnswer, axes: Axes, points: readonly Point[], width: number): Across {
  const stepPx = (width - roomPx.left - roomPx.right) / Math.max(1, points.length)
  const every = Math.max(1, Math.ceil(tickPx.x / stepPx))
  const characters = Math.max(4, Math.floor((every * stepPx - 12) / LABEL_CHARACTER_PX))
  const nameOf = ({ row }: Point) => shortened(cellText(answer.rows[row]?.[axes.x] ?? null), characters)
  return {
    scale: { time: false, range: () => [-0.5, points.length - 0.5] },
    axis: {
      splits: () => points.filter((_, index) => index % every === 0).map(({ x }) => x),
      values: (_chart, ticks) => ticks.map((tick) => (points[tick] ? nameOf(points[tick]) : '')),
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

const seriesLook = (isLine: boolean, count: number, { accent, fill }: Inks): uPlot.Series => ({
  stroke: accent,
  width: isLine ? 1.75 : 0,
  fill: isLine ? fill : accent,
  fillTo: 0,
  points: { show: isLine && count <= DOTS_MAX, size: 5, fill: accent, stroke: accent },
  ...(!isLine && uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [...barSize], radius: 0.04 }) }),
})

/** From zero where nothing is below it: heights then compare as the numbers do. */
const fromZero = (min: number | null, max: number | null): uPlot.Range.MinMax =>
  uPlot.rangeNum(Math.min(0, min ?? 0), Math.max(0, max ?? 1), 0.1, true)
