/** The columns of a result that a chart shows. */
import { isNumeric } from '../model/cells.ts'
import type { Cell, QueryAnswer } from '../model/queryAnswer.ts'

/** Columns by index: what lies across, what goes up, and what tells one series from another. */
export interface Axes {
  readonly x: number
  readonly ys: readonly number[]
  readonly by: number | null
}

export const isTime = (type: string): boolean => type === 'timestamp' || type === 'date'

/** Whether the column's values lie on a scale: times and numbers. */
export const isOrdered = (type: string): boolean => isNumeric(type) || isTime(type)

export const timeColumns = ({ columnTypes }: Pick<QueryAnswer, 'columnTypes'>): number[] =>
  columnTypes.flatMap((type, index) => (isTime(type) ? [index] : []))

/** The times of a column in Unix milliseconds. */
export const timesOf = ({ rows }: QueryAnswer, column: number): number[] =>
  rows.map((row) => toNumber(row[column], 'timestamp')).filter((time) => time !== null)

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
  const times = columnTypes.findIndex(isTime)
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
  const value = isTime(type) ? Date.parse(String(cell)) : Number(cell)
  return Number.isFinite(value) ? value : null
}

/** Columns whose values can name a series: neither a number nor a time. */
export const nameColumns = ({ columnTypes }: Pick<QueryAnswer, 'columnTypes'>): number[] =>
  columnTypes.flatMap((type, index) => (isOrdered(type) || type === 'json' ? [] : [index]))
