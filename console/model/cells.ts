/** Cells of a result as text, and in order. */
import { compareDecimals } from './decimal.ts'
import type { Cell } from './queryAnswer.ts'

/** The whole value as one text; NULL is empty. */
export function cellText(cell: Cell): string {
  if (cell === null) return ''
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

const exact: ReadonlySet<string> = new Set(['int', 'bigint', 'numeric'])

export const isNumeric = (type: string): boolean => exact.has(type) || type === 'float'

/** Ascending order of a column's values; NULL comes last, as in Postgres. */
export function compareCells(type: string): (a: Cell, b: Cell) => number {
  const compare = exact.has(type) ? compareDecimals : type === 'float' ? compareFloats : compareTexts
  return (a, b) => {
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return compare(cellText(a), cellText(b))
  }
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** NaN above everything, as in Postgres. */
function compareFloats(a: string, b: string): number {
  const [left, right] = [Number(a), Number(b)]
  if (Number.isNaN(left) || Number.isNaN(right))
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right))
  return left < right ? -1 : left > right ? 1 : 0
}
