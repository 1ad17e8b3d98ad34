/** The part of a result that a chart shows: which columns, and which of the points. */
import { cellText, isNumeric } from './cells.ts'
import type { Cell, QueryAnswer } from './queryAnswer.ts'

/** Columns by index: what lies across, what goes up, and what tells one series from another. */
export interface Axes {
  readonly x: number
  readonly ys: readonly number[]
  readonly by: number | null
}

export interface Point {
  readonly x: number
  /** Null is a gap. */
  readonly y: number | null
  /** Row of the result; -1 where it has none. */
  readonly row: number
}

export interface Series {
  readonly label: string
  /** Column that goes up. */
  readonly column: number
  readonly points: readonly Point[]
}

/** More lines than this cannot be told apart. */
const SERIES_MAX = 8
/** Steps of a scale are regular where at least this share of them is the same. */
const REGULAR_SHARE = 0.5
const REGULAR_POINTS_MIN = 4

/** Whether the column's values lie on a scale: times and numbers. */
export const isOrdered = (type: string): boolean => isNumeric(type) || type === 'timestamp' || type === 'date'

/** Columns a value axis can show. */
export const valueColumns = ({ columnTypes }: Pick<QueryAnswer, 'columnTypes'>): number[] =>
  columnTypes.flatMap((type, index) => (isNumeric(type) ? [index] : []))

/**
 * The columns a reader most likely means: time first, then what names a row, then a number. Null
 * where nothing can be drawn.
 */
export function chooseAxes(answer: Pick<QueryAnswer, 'columns' | 'columnTypes'>): Axes | null {
  const { columns, columnTypes } = answer
  const values = valueColumns(answer)
  const times = columnTypes.findIndex((type) => type === 'timestamp' || type === 'date')
  const heights = columns.findIndex((name, index) => /^(num|block_num)$/.test(name) && values.includes(index))
  const names = columnTypes.findIndex((type) => !isNumeric(type))
  const x = [times, heights, names, values[0] ?? -1].find((index) => index >= 0)
  if (x === undefined) return null
  const others = values.filter((index) => index !== x)
  // A height beside a time is where a row stands, not what it says.
  const y = others.find((index) => !/^(num|block_num)$/.test(columns[index] ?? '')) ?? others[0]
  return y === undefined ? null : { x, ys: [y], by: null }
}

/** A cell on its scale; exact numbers lose digits that no pixel shows. */
export function toNumber(cell: Cell | undefined, type: string): number | null {
  if (cell === null || cell === undefined) return null
  const value = type === 'timestamp' || type === 'date' ? Date.parse(String(cell)) : Number(cell)
  return Number.isFinite(value) ? value : null
}

/** Columns whose values can name a series: neither a number nor a time. */
export const nameColumns = ({ columnTypes }: Pick<QueryAnswer, 'columnTypes'>): number[] =>
  columnTypes.flatMap((type, index) => (isOrdered(type) || type === 'json' ? [] : [index]))

/** Lines on a scale, each in the order of x and of about `pointsMax` points at most. */
export function lineSeries(answer: QueryAnswer, axes: Axes, pointsMax: number): Series[] {
  const xType = answer.columnTypes[axes.x] ?? ''
  return seriesOf(answer, axes, (rows, column) => {
    const points = rows.flatMap((row): Point[] => {
      const x = toNumber(answer.rows[row]?.[axes.x], xType)
      const y = toNumber(answer.rows[row]?.[column], answer.columnTypes[column] ?? '')
      return x === null ? [] : [{ x, y, row }]
    })
    return thin(withGaps(points.sort((a, b) => a.x - b.x)), pointsMax)
  })
}

/**
 * Bars at places of equal width: one for each row, or for each name where rows of several series
 * share it.
 */
export function barSeries(answer: QueryAnswer, axes: Axes, barsMax: number): Series[] {
  const places = new Map<string, number>()
  const placeOf = (row: number): number => {
    const name = axes.by === null ? `${row}` : cellText(answer.rows[row]?.[axes.x] ?? null)
    const place = places.get(name) ?? places.size
    places.set(name, place)
    return place
  }
  return seriesOf(answer, axes, (rows, column) =>
    rows.flatMap((row): Point[] => {
      const y = toNumber(answer.rows[row]?.[column], answer.columnTypes[column] ?? '')
      // Places without a value are none: the axis counts those that are.
      const x = y === null ? barsMax : placeOf(row)
      return x >= barsMax ? [] : [{ x, y, row }]
    }),
  )
}

function seriesOf(
  { rows, columns }: QueryAnswer,
  { ys, by }: Axes,
  pointsOf: (rows: readonly number[], column: number) => readonly Point[],
): Series[] {
  const groups = Map.groupBy(rows.keys(), (row) => (by === null ? null : cellText(rows[row]?.[by] ?? null)))
  const all = [...groups].flatMap(([group, members]) =>
    ys.map((column) => {
      const words = group === null ? [columns[column]] : ys.length > 1 ? [group, columns[column]] : [group]
      return { label: words.join(' '), column, members }
    }),
  )
  return all.slice(0, SERIES_MAX).map(({ label, column, members }) => ({
    label,
    column,
    points: pointsOf(members, column),
  }))
}

/** A place that a regular scale skips is a gap, for a line through it would tell of values there. */
function withGaps(points: readonly Point[]): Point[] {
  const step = regularStep(points)
  if (step === null) return [...points]
  return points.flatMap((point, index): Point[] => {
    const before = points[index - 1]
    if (!before || point.x - before.x < 1.5 * step) return [point]
    return [{ x: before.x + step, y: null, row: -1 }, point]
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
