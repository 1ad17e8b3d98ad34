/** How a result's columns look in the grid: widths, alignment, and one cell's content. */
import { cellText, isNumeric } from '../../model/cells.ts'
import type { Cell, QueryAnswer } from '../../model/queryAnswer.ts'
import { element } from '../element.ts'

/** Rows looked at for the widths: the first ones, which are on the screen. */
const ROWS_MEASURED = 100
const CHARACTERS_MIN = 5
/** A 20-byte address in full; longer values are cut and shown whole below the grid. */
const CHARACTERS_MAX = 42
/**
 * Width of one character of the grid's monospaced 12.5 px font, and of what surrounds a cell's
 * text.
 */
const CHARACTER_PX = 7.6
const PADDING_PX = 26

/**
 * `grid-template-columns` for the row number and the columns; a last one of text takes what is
 * left.
 */
export function gridTemplate({ columns, columnTypes, rows }: QueryAnswer): string {
  const measured = rows.slice(0, ROWS_MEASURED)
  const widths = columns.map((name, index) => {
    // The header's font is wider, and it holds the sort mark.
    const longest = measured.reduce(
      (most, row) => Math.max(most, cellText(row[index] ?? null).length),
      name.length + 2,
    )
    const characters = Math.min(CHARACTERS_MAX, Math.max(CHARACTERS_MIN, longest))
    return `${Math.round(characters * CHARACTER_PX + PADDING_PX)}px`
  })
  const number = `${Math.round(Math.max(2, `${rows.length}`.length) * CHARACTER_PX + PADDING_PX)}px`
  const last = widths.pop()
  if (last === undefined) return number
  // Figures that stand far from their row's other figures are hard to follow.
  return [number, ...widths, isNumeric(columnTypes.at(-1) ?? '') ? last : `minmax(${last}, 1fr)`].join(' ')
}

export const alignment = (type: string): string => (isNumeric(type) ? 'number' : 'text')

/** Longer texts are cut before they reach the page; the whole is shown below the grid. */
const TEXT_SHOWN_MAX = 200

export function fillCell(cell: HTMLElement, value: Cell, type: string): void {
  cell.className = `cell ${alignment(type)}`
  if (value === null) {
    cell.replaceChildren(element('span', { class: 'null' }, 'null'))
    return
  }
  const text = cellText(value)
  cell.textContent = text.length > TEXT_SHOWN_MAX ? `${text.slice(0, TEXT_SHOWN_MAX)}…` : text
}
