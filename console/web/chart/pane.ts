/** One plot of a chart, by uPlot: lines or bars on one scale of values. */
import uPlot from 'uplot'
import type { Point } from '../../chart/points.ts'
import type { Across } from './across.ts'
import { acrossLook, axisLook, type DrawnLine, type Inks, lineLook, roomPx, valueAxis } from './look.ts'

export interface PaneOptions {
  readonly width: number
  readonly height: number
  readonly inks: Inks
  /** False for bars. */
  readonly hasScale: boolean
  /** The places across of the whole chart, ascending: its plots have them in common. */
  readonly xs: readonly number[]
  readonly across: Across
  readonly lines: readonly DrawnLine[]
  /** For readers who do not see it. */
  readonly label: string
  /** Told the index of the place that is pointed at; null for none. */
  readonly pointed: (at: number | null) => void
}

export interface Pane {
  pointAt(index: number): void
  remove(): void
}

/** One chart is drawn at a time: its plots show the same place. */
const SYNC_KEY = 'chart'

export function drawPane(host: HTMLElement, options: PaneOptions): Pane {
  const { width, height, inks, hasScale, xs, across, lines, label, pointed } = options
  const of = lines.filter(({ isOpen }) => !isOpen).length
  const plot = new uPlot(
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
        sync: { key: SYNC_KEY, setSeries: false },
        // On the value that is read, not between two of them.
        move: (shown, left, top) => [
          left < 0 ? left : shown.valToPos(xs[shown.posToIdx(left)] ?? 0, 'x'),
          top,
        ],
        points: {
          size: 11,
          width: 2,
          fill: (_plot, index) => lines[index - 1]?.ink.line ?? '',
          stroke: inks.surface,
        },
      },
      scales: { x: across.scale, y: { range: (_plot, min, max) => fromZero(min, max) } },
      axes: [
        { ...axisLook(inks), ...acrossLook(inks), ...across.axis },
        { ...axisLook(inks), ...valueAxis(inks) },
      ],
      series: [{}, ...lines.map((line) => lineLook(line, { hasScale, count: xs.length, inks, of }))],
      hooks: { setCursor: [({ cursor }) => pointed(cursor.idx ?? null)] },
    },
    [[...xs], ...lines.map(({ points }) => heightsOf(points, xs))],
    host,
  )
  const picture = plot.root.querySelector('canvas')
  picture?.setAttribute('role', 'img')
  picture?.setAttribute('aria-label', label)
  return {
    pointAt: (index) => plot.setCursor({ left: plot.valToPos(xs[index] ?? 0, 'x'), top: 0 }),
    remove: () => plot.destroy(),
  }
}

/** In the order of `xs`. Null is a gap; undefined a place of other series, which a line passes. */
function heightsOf(points: readonly Point[], xs: readonly number[]): (number | null | undefined)[] {
  const heights = new Map(points.map(({ x, y }) => [x, y]))
  return xs.map((x) => heights.get(x))
}

/** From zero where nothing is below it: heights then compare as the numbers do. */
const fromZero = (min: number | null, max: number | null): uPlot.Range.MinMax =>
  uPlot.rangeNum(Math.min(0, min ?? 0), Math.max(0, max ?? 1), 0.1, true)
