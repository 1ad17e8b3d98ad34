/** The look of a chart's axes, lines and bars. */
import uPlot from 'uplot'
import type { Point } from '../../chart/points.ts'
import { numberLabel } from '../../model/labels.ts'

/** Colours as a canvas takes them. */
export interface Inks {
  /** One for each series, in their order. */
  readonly series: readonly SeriesInk[]
  readonly line: string
  readonly edge: string
  readonly text: string
  readonly surface: string
  readonly font: string
}

export interface SeriesInk {
  readonly line: string
  /** Below a line. */
  readonly area: string
}

/** A line as uPlot draws it: that of a series, or its end in a bucket that is not over. */
export interface DrawnLine {
  readonly points: readonly Point[]
  readonly ink: SeriesInk
  readonly isOpen: boolean
}

export const tickPx = { x: 96, y: 44 }
/** Space for the labels of both axes, for half a label at the right, and between plots. */
export const roomPx = { left: 64, bottom: 34, right: 20, top: 16, between: 8 }
/** Size of the labels; whole, because uPlot scales the digits before `px` alone with the screen's pixels. */
export const LABEL_PX = 12
/** Width of a character of an axis label, on the wide side. */
export const LABEL_CHARACTER_PX = 7.7
const LINE_PX = 1.75
/** Lines of more points are drawn without a dot on each; values between two gaps keep theirs. */
const DOTS_MAX = 60
/** Share of its place that a bar fills, and the most pixels it is wide. */
const barSize = [0.72, 72] as const

const noInk: SeriesInk = { line: '', area: '' }

/** The colours of a series. */
export const inkOf = ({ series }: Inks, index: number): SeriesInk => series[index % series.length] ?? noInk

export const valueAxis = ({ line }: Inks): uPlot.Axis => ({
  size: roomPx.left,
  space: tickPx.y,
  grid: { show: true, stroke: line, width: 1 },
  values: (_chart, ticks) => ticks.map(numberLabel),
})

export const acrossLook = ({ edge }: Inks): uPlot.Axis => ({
  size: roomPx.bottom,
  border: { show: true, stroke: edge, width: 1 },
})

export const axisLook = ({ text, font }: Inks): uPlot.Axis => ({
  stroke: text,
  font,
  grid: { show: false },
  ticks: { show: false },
})

interface PlotFacts {
  /** False for bars. */
  readonly hasScale: boolean
  /** Places across. */
  readonly count: number
  readonly inks: Inks
  /** Series of the plot. */
  readonly of: number
}

/** Below one line alone the area is filled: areas of several would cover each other. */
export function lineLook({ ink, isOpen }: DrawnLine, { hasScale, count, inks, of }: PlotFacts): uPlot.Series {
  const { line: stroke, area } = ink
  if (isOpen) return openLook(stroke, inks)
  if (!hasScale) return barLook(stroke, of)
  return {
    ...{ stroke, width: LINE_PX, fillTo: 0 },
    ...(of === 1 && { fill: area }),
    points: {
      show: true,
      filter: ({ data }, at) => (count <= DOTS_MAX ? null : lonely(data[at] ?? [])),
      size: 5,
      fill: stroke,
      stroke,
    },
  }
}

function barLook(fill: string, of: number): uPlot.Series {
  const [share, pixels] = barSize
  const paths = uPlot.paths.bars?.({ size: [share / of, pixels], radius: 0.04 })
  return { stroke: fill, width: 0, fill, fillTo: 0, points: { show: false }, ...(paths && { paths }) }
}

/** Dashed, to a ring: the value there is not the last one. */
const openLook = (stroke: string, { surface }: Inks): uPlot.Series => ({
  stroke,
  width: LINE_PX,
  // Pixels of the screen, unlike all other sizes.
  dash: [6, 5].map((px) => px * uPlot.pxRatio),
  points: {
    show: true,
    // Nothing is newer.
    filter: ({ data: [xs] }) => [xs.length - 1],
    size: 8,
    width: LINE_PX,
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
