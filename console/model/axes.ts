/** What a chart shows of a result: which columns, and which of the points. */
import { isNumeric } from './cells.ts'
import type { Cell, QueryAnswer } from './queryAnswer.ts'

/** Columns by index. `ordered` axes have a scale, others one place per row. */
export interface Axes {
  readonly x: number
  readonly y: number
}

export interface Point {
  readonly x: number
  readonly y: number
  /** Row of the result. */
  readonly row: number
}

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
  return y === undefined ? null : { x, y }
}

/** A cell on its scale; exact numbers lose digits that no pixel shows. */
export function toNumber(cell: Cell | undefined, type: string): number | null {
  if (cell === null || cell === undefined) return null
  const value = type === 'timestamp' || type === 'date' ? Date.parse(String(cell)) : Number(cell)
  return Number.isFinite(value) ? value : null
}

/** The points of a line, in the order of x, at most about `pointsMax`. */
export function linePoints({ rows, columnTypes }: QueryAnswer, { x, y }: Axes, pointsMax: number): Point[] {
  const points: Point[] = []
  for (const [row, cells] of rows.entries()) {
    const px = toNumber(cells[x], columnTypes[x] ?? '')
    const py = toNumber(cells[y], columnTypes[y] ?? '')
    if (px !== null && py !== null) points.push({ x: px, y: py, row })
  }
  points.sort((a, b) => a.x - b.x)
  return thin(points, pointsMax)
}

/** A bar for each row with a value, side by side in the order of the rows. */
export function barPoints({ rows, columnTypes }: QueryAnswer, { y }: Axes, barsMax: number): Point[] {
  const values = rows.slice(0, barsMax).map((cells) => toNumber(cells[y], columnTypes[y] ?? ''))
  return values
    .flatMap((value, row) => (value === null ? [] : [{ y: value, row }]))
    .map((point, x) => ({ x, ...point }))
}

/**
 * The lowest and highest point of each stretch: a spike stays one, however many points there are.
 */
export function thin(points: readonly Point[], pointsMax: number): Point[] {
  if (points.length <= pointsMax) return [...points]
  const size = Math.ceil(points.length / Math.max(1, Math.floor(pointsMax / 2)))
  const kept: Point[] = []
  for (let start = 0; start < points.length; start += size) {
    const stretch = points.slice(start, start + size)
    const lowest = stretch.reduce((a, b) => (b.y < a.y ? b : a))
    const highest = stretch.reduce((a, b) => (b.y > a.y ? b : a))
    kept.push(...(lowest === highest ? [lowest] : [lowest, highest].sort((a, b) => a.row - b.row)))
  }
  return kept.sort((a, b) => a.x - b.x)
}
