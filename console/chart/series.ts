/** Series of a chart, with their points. */
import { cellText } from '../model/cells.ts'
import { sumOfDecimals } from '../model/decimal.ts'
import type { QueryAnswer } from '../model/queryAnswer.ts'
import { type Axes, isTime, timesOf, toNumber } from './axes.ts'
import { openBucket } from './buckets.ts'
import { type Point, thin, withGaps } from './points.ts'

export interface Series {
  readonly label: string
  /** Column that goes up. */
  readonly column: number
  readonly points: readonly Point[]
  /**
   * The point of a bucket of time that was not over, behind the one that it continues, if any; its
   * value still changes. Empty where all are over.
   */
  readonly open: readonly Point[]
}

export interface Lines {
  readonly series: readonly Series[]
  /** Place across of the bucket that was not over; null for none. */
  readonly openAt: number | null
}

/** More lines than this cannot be told apart: of more names the largest have a line each, the others one. */
const SERIES_MAX = 8

/**
 * Lines on a scale, each in the order of x and of about `pointsMax` points at most.
 * @param moments Unix milliseconds up to which the rows tell: of the answer, of the newest block
 */
export function lineSeries(
  answer: QueryAnswer,
  axes: Axes,
  pointsMax: number,
  moments: readonly number[],
): Lines {
  const xType = answer.columnTypes[axes.x] ?? ''
  const xOf = (row: number) => toNumber(answer.rows[row]?.[axes.x], xType)
  const openAt = isTime(xType) ? openBucket(timesOf(answer, axes.x), moments) : null
  const series = seriesOf(answer, axes, ({ rows, column, isSummed }) => {
    const points = rows.flatMap((row): Point[] => {
      const x = xOf(row)
      return x === null ? [] : [{ x, y: heightOf(answer, row, column), rows: [row] }]
    })
    const line = isSummed ? sumsByPlace(points) : points
    return lineOf(withGaps(line.sort((a, b) => a.x - b.x)), openAt, pointsMax)
  })
  return { series, openAt }
}

type Line = Pick<Series, 'points' | 'open'>

function lineOf(all: readonly Point[], openAt: number | null, pointsMax: number): Line {
  const points = thin(
    all.filter(({ x }) => x !== openAt),
    pointsMax,
  )
  const unfinished = all.filter(({ x, y }) => x === openAt && y !== null).slice(-1)
  const before = points.slice(-1).filter(({ y }) => y !== null && unfinished.length > 0)
  return { points, open: [...before, ...unfinished] }
}

/**
 * Bars at places of equal width: one for each row, or for each name where rows of several series
 * share it.
 */
export function barSeries(answer: QueryAnswer, axes: Axes, barsMax: number): readonly Series[] {
  const places = new Map<string, number>()
  const placeOf = (row: number): number => {
    const name = axes.by === null ? `${row}` : cellText(answer.rows[row]?.[axes.x] ?? null)
    const place = places.get(name) ?? places.size
    places.set(name, place)
    return place
  }
  return seriesOf(answer, axes, ({ rows, column, isSummed }) => {
    const points = rows.flatMap((row): Point[] => {
      const y = heightOf(answer, row, column)
      // Places without a value are none: the axis counts those that are.
      const x = y === null ? barsMax : placeOf(row)
      return x >= barsMax ? [] : [{ x, y, rows: [row] }]
    })
    return { points: isSummed ? sumsByPlace(points) : points, open: [] }
  })
}

/** A value of the chart in words: the cell, or the exact sum of several. */
export function valueText({ rows, columnTypes }: QueryAnswer, column: number, of: readonly number[]): string {
  const cells = of.map((row) => rows[row]?.[column] ?? null)
  const [only = null, ...more] = cells
  if (more.length === 0) return cellText(only)
  const told = cells.filter((cell) => cell !== null)
  return columnTypes[column] === 'float'
    ? `${told.reduce((sum: number, cell) => sum + Number(cell), 0)}`
    : sumOfDecimals(told.map(cellText))
}

const heightOf = ({ rows, columnTypes }: QueryAnswer, row: number, column: number): number | null =>
  toNumber(rows[row]?.[column], columnTypes[column] ?? '')

/** One point a place; null where no row has a value. */
function sumsByPlace(points: readonly Point[]): Point[] {
  return [...Map.groupBy(points, ({ x }) => x)].map(([x, found]) => ({
    x,
    y: found.reduce((sum: number | null, { y }) => (y === null ? sum : (sum ?? 0) + y), null),
    rows: found.flatMap(({ rows }) => rows),
  }))
}

/** The rows of one series, and the column that goes up. */
interface Members {
  readonly rows: readonly number[]
  readonly column: number
  /** Several rows may stand at one place: their values are added. */
  readonly isSummed: boolean
}

function seriesOf(answer: QueryAnswer, { ys, by }: Axes, lineOfRows: (members: Members) => Line): Series[] {
  const { rows, columns } = answer
  const names =
    by === null ? [{ name: null, rows: [...rows.keys()], isSummed: false }] : namesOf(answer, ys, by)
  const all = names.flatMap(({ name, ...members }) =>
    ys.map((column) => {
      const words = name === null ? [columns[column]] : ys.length > 1 ? [name, columns[column]] : [name]
      return { label: words.join(' '), members: { ...members, column } }
    }),
  )
  return all
    .slice(0, SERIES_MAX)
    .map(({ label, members }) => ({ label, column: members.column, ...lineOfRows(members) }))
}

interface NamedRows extends Omit<Members, 'column'> {
  readonly name: string | null
}

/** In the order of the rows; the others come last. */
function namesOf(answer: QueryAnswer, ys: readonly number[], by: number): NamedRows[] {
  const groups = Map.groupBy(answer.rows.keys(), (row) => cellText(answer.rows[row]?.[by] ?? null))
  const all = [...groups].map(([name, rows]) => ({ name, rows, isSummed: false }))
  const namesMax = Math.max(2, Math.floor(SERIES_MAX / ys.length))
  if (all.length <= namesMax) return all
  const column = ys[0] ?? 0
  const sizes = new Map<NamedRows, number>(
    all.map((one) => [
      one,
      one.rows.reduce((sum, row) => sum + Math.abs(heightOf(answer, row, column) ?? 0), 0),
    ]),
  )
  const sizeOf = (one: NamedRows) => sizes.get(one) ?? 0
  const largest = new Set(all.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, namesMax - 1))
  const others = all.filter((one) => !largest.has(one))
  const rest = {
    name: `${others.length} others, summed`,
    rows: others.flatMap(({ rows }) => rows),
    isSummed: true,
  }
  return [...all.filter((one) => largest.has(one)), rest]
}
