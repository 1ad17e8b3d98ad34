/** Series of a chart, with their points. */
import { cellText } from '../model/cells.ts'
import type { QueryAnswer } from '../model/queryAnswer.ts'
import { type Axes, isTime, timesOf, toNumber } from './axes.ts'
import { openBucket } from './buckets.ts'
import { thin, withGaps } from './thinning.ts'

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

/** More lines than this cannot be told apart. */
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
  const series = seriesOf(answer, axes, (rows, column) => {
    const points = rows.flatMap((row): Point[] => {
      const x = xOf(row)
      const y = toNumber(answer.rows[row]?.[column], answer.columnTypes[column] ?? '')
      return x === null ? [] : [{ x, y, row }]
    })
    return lineOf(withGaps(points.sort((a, b) => a.x - b.x)), openAt, pointsMax)
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
  return seriesOf(answer, axes, (rows, column) => {
    const points = rows.flatMap((row): Point[] => {
      const y = toNumber(answer.rows[row]?.[column], answer.columnTypes[column] ?? '')
      // Places without a value are none: the axis counts those that are.
      const x = y === null ? barsMax : placeOf(row)
      return x >= barsMax ? [] : [{ x, y, row }]
    })
    return { points, open: [] }
  })
}

function seriesOf(
  { rows, columns }: QueryAnswer,
  { ys, by }: Axes,
  lineOfRows: (rows: readonly number[], column: number) => Line,
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
    ...lineOfRows(members, column),
  }))
}
