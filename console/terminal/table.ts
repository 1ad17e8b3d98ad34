/** A query's result as lines of text for a terminal. Pure: the same rows give the same lines. */
import { cellText, isNumeric } from '../model/cells.ts'
import type { Cell, Row } from '../model/queryAnswer.ts'

/** A 32-byte hash in full; longer values are cut, and whole in the other formats. */
const CHARACTERS_MAX = 66

/** Header, rule and rows; NULL is told from empty text. */
export function renderTable(
  columns: readonly string[],
  columnTypes: readonly string[],
  rows: readonly Row[],
): string[] {
  const texts = rows.map((row) => columns.map((_, index) => shown(row[index] ?? null)))
  const widths = columns.map((name, index) =>
    texts.reduce((most, row) => Math.max(most, row[index]?.length ?? 0), name.length),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => {
        const width = widths[index] ?? 0
        return isNumeric(columnTypes[index] ?? '') ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [line(columns), rule, ...texts.map(line)]
}

function shown(cell: Cell): string {
  if (cell === null) return 'NULL'
  // Line ends and other control characters would break the table, or the terminal.
  const text = cellText(cell).replaceAll(/\p{Cc}/gu, '·')
  return text.length <= CHARACTERS_MAX ? text : `${text.slice(0, CHARACTERS_MAX - 1)}…`
}
