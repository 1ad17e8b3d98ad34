/**
 * The result as a grid. Only the rows in sight are in the document, so that 10,000 rows scroll like
 * ten. Follows the ARIA grid pattern: one stop in the tab order, arrow keys move the selected cell.
 */
import { compareCells } from '../../model/cells.ts'
import type { Cell, QueryAnswer } from '../../model/queryAnswer.ts'
import { element } from '../element.ts'
import { alignment, fillCell, gridTemplate } from './gridCells.ts'

/** The cell the reader is at. */
export interface Selection {
  readonly column: string
  readonly value: Cell
}

interface Place {
  /** Position on the screen, not in the result. */
  readonly row: number
  readonly column: number
}

interface Sorting {
  readonly column: number
  readonly descending: boolean
}

/** The same as --row in query.css. */
const ROW_PX = 28
/** Rows kept ready above and below, for scrolling faster than we paint. */
const ROWS_SPARE = 12

let grids = 0

export class Grid {
  readonly element = element('div', { class: 'grid', role: 'grid', tabindex: 0, 'aria-label': 'Rows' })
  readonly #header = element('div', { class: 'grid-row header', role: 'row', 'aria-rowindex': 1 })
  readonly #body = element('div', { class: 'grid-body', role: 'rowgroup' })
  readonly #selected: (selection: Selection | null) => void
  readonly #id = `grid-${++grids}`
  #answer: QueryAnswer | null = null
  /** Row of the result at each position. */
  #order: readonly number[] = []
  #sorting: Sorting | null = null
  #active: Place | null = null
  #pool: HTMLElement[] = []
  /** Position each pooled row shows; -1 for none. */
  #shown: number[] = []
  #painting = 0

  constructor(selected: (selection: Selection | null) => void) {
    this.#selected = selected
    this.element.append(element('div', { class: 'grid-head', role: 'rowgroup' }, this.#header), this.#body)
    this.element.addEventListener('scroll', () => this.#paintSoon(), { passive: true })
    this.element.addEventListener('keydown', (event) => this.#press(event))
    this.#body.addEventListener('click', (event) => this.#click(event))
    new ResizeObserver(() => this.#paintSoon()).observe(this.element)
  }

  /** Shows a result; the same columns keep their sorting, and `growing` ones the place too. */
  show(answer: QueryAnswer, growing = false): void {
    const same = this.#answer?.columns.join('\n') === answer.columns.join('\n')
    this.#answer = answer
    if (!same) this.#sorting = null
    if (!same || !growing) {
      this.element.scrollTo(0, 0)
      this.#select(null)
    }
    this.element.style.setProperty('--columns', gridTemplate(answer))
    this.element.setAttribute('aria-rowcount', `${answer.rows.length + 1}`)
    this.element.setAttribute('aria-colcount', `${answer.columns.length + 1}`)
    this.#body.style.height = `${answer.rows.length * ROW_PX}px`
    this.#sort()
  }

  #sort(): void {
    const answer = this.#answer
    if (!answer) return
    const order = Array.from(answer.rows.keys())
    const sorting = this.#sorting
    if (sorting) {
      const { column, descending } = sorting
      const compare = compareCells(answer.columnTypes[column] ?? '')
      const value = (row: number): Cell => answer.rows[row]?.[column] ?? null
      order.sort((a, b) => (descending ? compare(value(b), value(a)) : compare(value(a), value(b))) || a - b)
    }
    this.#order = order
    this.#paintHeader(answer)
    this.#pool = []
    this.#body.replaceChildren()
    this.#paint()
  }

  #paintHeader({ columns, columnTypes }: QueryAnswer): void {
    const cells = columns.map((name, index) => {
      const type = columnTypes[index] ?? ''
      const sorted =
        this.#sorting?.column === index ? (this.#sorting.descending ? 'descending' : 'ascending') : 'none'
      const sort = element('button', { type: 'button', tabindex: -1, title: `${name}: ${type}` }, name)
      sort.addEventListener('click', () => this.#sortBy(index))
      return element(
        'div',
        {
          class: `cell ${alignment(type)}`,
          role: 'columnheader',
          'aria-sort': sorted,
          'aria-colindex': index + 2,
        },
        sort,
      )
    })
    const corner = element('div', {
      class: 'cell row-number',
      role: 'columnheader',
      'aria-colindex': 1,
      'aria-label': 'Row',
    })
    this.#header.replaceChildren(corner, ...cells)
  }

  /** Ascending, descending, as it came. */
  #sortBy(column: number): void {
    if (this.#sorting?.column !== column) this.#sorting = { column, descending: false }
    else this.#sorting = this.#sorting.descending ? null : { column, descending: true }
    this.#sort()
    this.#select(this.#active)
  }

  #paintSoon(): void {
    if (this.#painting !== 0) return
    this.#painting = requestAnimationFrame(() => {
      this.#painting = 0
      this.#paint()
    })
  }

  #paint(): void {
    const answer = this.#answer
    if (!answer) return
    const visible = Math.ceil(this.element.clientHeight / ROW_PX) + 2 * ROWS_SPARE
    this.#resizePool(Math.min(visible, this.#order.length), answer.columns.length)
    const size = this.#pool.length
    if (size === 0) return
    const wanted = Math.floor(this.element.scrollTop / ROW_PX) - ROWS_SPARE
    const first = Math.max(0, Math.min(wanted, this.#order.length - size))
    for (let position = first; position < first + size; position++) {
      const slot = position % size
      if (this.#shown[slot] === position) continue
      this.#shown[slot] = position
      this.#fillRow(this.#pool[slot], position, answer)
    }
    this.#markActive()
  }

  #resizePool(size: number, columns: number): void {
    if (this.#pool.length === size) return
    this.#pool = Array.from({ length: size }, () =>
      element(
        'div',
        { class: 'grid-row', role: 'row' },
        element('div', { class: 'cell row-number', role: 'rowheader', 'aria-colindex': 1 }),
        ...Array.from({ length: columns }, (_, column) =>
          element('div', { class: 'cell', role: 'gridcell', 'aria-colindex': column + 2 }),
        ),
      ),
    )
    this.#shown = this.#pool.map(() => -1)
    this.#body.replaceChildren(...this.#pool)
  }

  #fillRow(row: HTMLElement | undefined, position: number, { rows, columnTypes }: QueryAnswer): void {
    if (!row) return
    const cells = rows[this.#order[position] ?? -1] ?? []
    row.style.transform = `translateY(${position * ROW_PX}px)`
    row.setAttribute('aria-rowindex', `${position + 2}`)
    row.classList.toggle('odd', position % 2 === 1)
    row.dataset['position'] = `${position}`
    const [number, ...others] = [...row.children]
    if (number) number.textContent = `${(this.#order[position] ?? 0) + 1}`
    for (const [column, cell] of others.entries()) {
      if (!(cell instanceof HTMLElement)) continue
      cell.id = `${this.#id}-${position}-${column}`
      fillCell(cell, cells[column] ?? null, columnTypes[column] ?? '')
    }
  }

  #click(event: Event): void {
    const cell = event.target instanceof Element ? event.target.closest('[role=gridcell]') : null
    const row = cell?.closest<HTMLElement>('[role=row]')
    if (!cell || !row) return
    this.#select({
      row: Number(row.dataset['position']),
      column: Number(cell.getAttribute('aria-colindex')) - 2,
    })
  }

  #press(event: KeyboardEvent): void {
    if (event.target !== this.element || !this.#answer || this.#order.length === 0) return
    const target = this.#targetOf(event)
    if (!target) return
    event.preventDefault()
    this.#select({
      row: Math.max(0, Math.min(this.#order.length - 1, target.row)),
      column: Math.max(0, Math.min(this.#answer.columns.length - 1, target.column)),
    })
    this.#reveal()
  }

  #targetOf({ key, ctrlKey, metaKey }: KeyboardEvent): Place | null {
    const far = ctrlKey || metaKey
    if (this.#active === null) return /^(Arrow|Home|End|Page)/.test(key) ? { row: 0, column: 0 } : null
    const { row, column } = this.#active
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_PX) - 2)
    const columns = this.#answer?.columns.length ?? 0
    const targets: Readonly<Record<string, Place>> = {
      ArrowDown: { row: row + 1, column },
      ArrowUp: { row: row - 1, column },
      ArrowRight: { row, column: column + 1 },
      ArrowLeft: { row, column: column - 1 },
      PageDown: { row: row + page, column },
      PageUp: { row: row - page, column },
      Home: { row: far ? 0 : row, column: 0 },
      End: { row: far ? this.#order.length - 1 : row, column: columns - 1 },
    }
    return targets[key] ?? null
  }

  #select(place: Place | null): void {
    this.#active = place
    this.#markActive()
    const value = place && this.#answer?.rows[this.#order[place.row] ?? -1]?.[place.column]
    const column = place ? this.#answer?.columns[place.column] : undefined
    this.#selected(place && column !== undefined && value !== undefined ? { column, value } : null)
  }

  #markActive(): void {
    for (const marked of this.#body.querySelectorAll('[aria-selected]'))
      marked.removeAttribute('aria-selected')
    const id = this.#active ? `${this.#id}-${this.#active.row}-${this.#active.column}` : null
    const cell = id === null ? null : this.#body.querySelector(`#${id}`)
    cell?.setAttribute('aria-selected', 'true')
    if (cell && id !== null) this.element.setAttribute('aria-activedescendant', id)
    else this.element.removeAttribute('aria-activedescendant')
  }

  /** Scrolls until the selected cell is in sight, clear of the header. */
  #reveal(): void {
    if (!this.#active) return
    const top = this.#active.row * ROW_PX
    const { scrollTop, clientHeight } = this.element
    if (top < scrollTop) this.element.scrollTop = top
    else if (top + 2 * ROW_PX > scrollTop + clientHeight)
      this.element.scrollTop = top + 2 * ROW_PX - clientHeight
    this.#paint()
    this.#body.querySelector('[aria-selected]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
}
