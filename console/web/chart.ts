/** Draws a result as an SVG picture: a line where the x axis has a scale, bars where it has names. */
import { type Axes, isOrdered, linePoints, type Point, toNumber } from '../model/axes.ts'
import { cellText } from '../model/cells.ts'
import type { QueryAnswer } from '../model/queryAnswer.ts'
import {
  numberLabel,
  roundScale,
  roundStep,
  type Scale,
  tightScale,
  timeLabel,
  timeStep,
} from '../model/scale.ts'
import { svg } from './element.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

/** A drawn value: where it is and what it says. */
export interface Mark {
  readonly px: number
  readonly py: number
  readonly label: string
  readonly value: string
}

export interface Chart {
  readonly picture: SVGSVGElement
  /** From left to right. */
  readonly marks: readonly Mark[]
  /** Rows that were left out, because they have no value or no place. */
  readonly left: number
}

/** About two points per three pixels of a wide screen. */
const pointsMax = 1_200
/** More bars than this cannot be told apart or named. */
const barsMax = 60
const margin = { top: 16, right: 20, bottom: 34, left: 64 }
const tickPx = { x: 96, y: 44 }
/** Width of a character of an axis label, on the wide side. */
const labelCharacterPx = 7.4

export function drawChart(answer: QueryAnswer, axes: Axes, size: Size): Chart {
  const ordered = isOrdered(answer.columnTypes[axes.x] ?? '')
  return ordered ? drawLine(answer, axes, size) : drawBars(answer, axes, size)
}

function drawLine(answer: QueryAnswer, axes: Axes, size: Size): Chart {
  const points = linePoints(answer, axes, pointsMax)
  const y = valueScale(
    points.map((point) => point.y),
    size,
  )
  const x = orderedScale(points, answer.columnTypes[axes.x] ?? '', size)
  const marks = points.map((point) => ({
    px: x.scale.at(point.x),
    py: y.at(point.y),
    label: cellText(answer.rows[point.row]?.[axes.x] ?? null),
    value: cellText(answer.rows[point.row]?.[axes.y] ?? null),
  }))
  const path = marks
    .map(({ px, py }, index) => `${index === 0 ? 'M' : 'L'}${px.toFixed(1)} ${py.toFixed(1)}`)
    .join('')
  const base = y.at(y.min).toFixed(1)
  const area =
    marks.length > 1
      ? `${path}L${marks.at(-1)?.px.toFixed(1)} ${base}L${marks[0]?.px.toFixed(1)} ${base}Z`
      : ''
  const picture = frame(answer, axes, size, y, [
    ...x.scale.ticks.map((tick) => xTick(x.scale.at(tick), x.label(tick), size)),
    svg('path', { class: 'area', d: area }),
    svg('path', { class: 'line', d: path }),
    ...(marks.length <= 60
      ? marks.map(({ px, py }) => svg('circle', { class: 'point', cx: px, cy: py, r: 2.5 }))
      : []),
  ])
  return { picture, marks, left: answer.rows.length - points.length }
}

function drawBars(answer: QueryAnswer, axes: Axes, size: Size): Chart {
  const type = answer.columnTypes[axes.y] ?? ''
  const bars = answer.rows.slice(0, barsMax).flatMap((row) => {
    const value = toNumber(row[axes.y], type)
    return value === null
      ? []
      : [{ value, label: cellText(row[axes.x] ?? null), text: cellText(row[axes.y] ?? null) }]
  })
  const y = valueScale(
    bars.map(({ value }) => value),
    size,
  )
  const step = (size.width - margin.left - margin.right) / Math.max(1, bars.length)
  const width = Math.min(72, Math.max(1, step * 0.72))
  const zero = y.at(Math.max(y.min, Math.min(0, y.max)))
  const marks = bars.map(({ value, label, text }, index) => ({
    px: margin.left + (index + 0.5) * step,
    py: y.at(value),
    label,
    value: text,
  }))
  // One name per tick's width, cut to fit.
  const every = Math.max(1, Math.ceil(tickPx.x / step))
  const characters = Math.max(4, Math.floor((every * step - 12) / labelCharacterPx))
  const picture = frame(answer, axes, size, y, [
    ...marks.map(({ px, py }) =>
      svg('rect', {
        class: 'bar-mark',
        x: px - width / 2,
        y: Math.min(py, zero),
        width,
        height: Math.max(1, Math.abs(zero - py)),
        rx: Math.min(2, width / 4),
      }),
    ),
    ...marks.flatMap(({ px, label }, index) =>
      index % every === 0 ? [xTick(px, shortened(label, characters), size)] : [],
    ),
  ])
  return { picture, marks, left: answer.rows.length - bars.length }
}

/** From zero where nothing is below it: heights then compare as the numbers do. */
function valueScale(values: readonly number[], { height }: Size): Scale {
  const min = values.reduce((least, value) => Math.min(least, value), 0)
  const max = values.reduce(
    (most, value) => Math.max(most, value),
    values.length > 0 ? Number.NEGATIVE_INFINITY : 1,
  )
  const room = height - margin.top - margin.bottom
  return roundScale(
    { min, max: Math.max(max, min) },
    { from: height - margin.bottom, to: margin.top },
    Math.max(2, Math.floor(room / tickPx.y)),
  )
}

function orderedScale(
  points: readonly Point[],
  type: string,
  { width }: Size,
): { readonly scale: Scale; readonly label: (value: number) => string } {
  const domain = { min: points[0]?.x ?? 0, max: points.at(-1)?.x ?? 1 }
  const pixels = { from: margin.left, to: width - margin.right }
  const wanted =
    (domain.max - domain.min || 1) / Math.max(1, Math.floor((pixels.to - pixels.from) / tickPx.x))
  if (type === 'timestamp' || type === 'date') {
    const step = timeStep(wanted)
    return { scale: tightScale(domain, pixels, step), label: (value) => timeLabel(value, step) }
  }
  // Heights and counts are whole: ticks between them would carry the same number twice.
  const step = Math.max(type === 'float' || type === 'numeric' ? 0 : 1, roundStep(wanted))
  return { scale: tightScale(domain, pixels, step), label: (value) => value.toLocaleString('en-US') }
}

function frame(
  { columns }: QueryAnswer,
  { x, y }: Axes,
  { width, height }: Size,
  scale: Scale,
  content: readonly SVGElement[],
): SVGSVGElement {
  const lines = scale.ticks.flatMap((tick) => [
    svg('line', {
      class: tick === 0 ? 'axis' : 'gridline',
      x1: margin.left,
      x2: width - margin.right,
      y1: scale.at(tick),
      y2: scale.at(tick),
    }),
    svg(
      'text',
      {
        class: 'tick',
        x: margin.left - 8,
        y: scale.at(tick),
        'text-anchor': 'end',
        'dominant-baseline': 'middle',
      },
      numberLabel(tick),
    ),
  ])
  return svg(
    'svg',
    { width, height, role: 'img', 'aria-label': `${columns[y]} by ${columns[x]}` },
    ...lines,
    ...content,
  )
}

function xTick(px: number, label: string, { width, height }: Size): SVGElement {
  // The outermost labels stay inside the picture.
  const half = (label.length * labelCharacterPx) / 2
  const x = Math.max(half, Math.min(width - half - 4, px))
  return svg('text', { class: 'tick', x, y: height - margin.bottom + 18, 'text-anchor': 'middle' }, label)
}

/** Both ends, because hashes and addresses differ in both. */
function shortened(text: string, characters: number): string {
  if (text.length <= characters) return text
  const kept = Math.max(1, Math.floor((characters - 1) / 2))
  return `${text.slice(0, kept)}…${text.slice(-kept)}`
}
