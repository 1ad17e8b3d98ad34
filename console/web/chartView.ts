/** The chart with its choices: which columns, and what the pointed-at value says. */
import { type Axes, chooseAxes, valueColumns } from '../model/axes.ts'
import type { QueryAnswer } from '../model/queryAnswer.ts'
import { type Chart, drawChart, type Mark } from './chart.ts'
import { element, svg } from './element.ts'

export class ChartView {
  readonly element: HTMLElement
  readonly #across = element('select', { 'aria-label': 'Across' })
  readonly #up = element('select', { 'aria-label': 'Up' })
  readonly #reading = element('output', { class: 'reading' })
  readonly #canvas = element('div', {
    class: 'canvas',
    tabindex: 0,
    'aria-label': 'Chart; arrow keys read its values',
  })
  #answer: QueryAnswer | null = null
  #chart: Chart | null = null
  #at = -1

  constructor() {
    const controls = element(
      'div',
      { class: 'chart-bar' },
      element('label', {}, 'Up ', this.#up),
      element('label', {}, 'Across ', this.#across),
      this.#reading,
    )
    this.element = element('div', { class: 'chart' }, controls, this.#canvas)
    for (const select of [this.#across, this.#up]) select.addEventListener('change', () => this.#draw())
    this.#canvas.addEventListener('pointermove', (event) => this.#point(event.offsetX))
    this.#canvas.addEventListener('pointerleave', () => this.#read(-1))
    this.#canvas.addEventListener('keydown', (event) => this.#press(event))
    new ResizeObserver(() => this.#draw()).observe(this.#canvas)
  }

  show(answer: QueryAnswer): void {
    const same = this.#answer?.columns.join('\n') === answer.columns.join('\n')
    this.#answer = answer
    if (!same) this.#offer(answer)
    this.#draw()
  }

  #offer(answer: QueryAnswer): void {
    const axes = chooseAxes(answer)
    const option = (index: number, chosen: number | undefined) =>
      element('option', { value: index, selected: index === chosen }, answer.columns[index] ?? '')
    this.#up.replaceChildren(...valueColumns(answer).map((index) => option(index, axes?.y)))
    this.#across.replaceChildren(...answer.columns.map((_, index) => option(index, axes?.x)))
  }

  #draw(): void {
    const { clientWidth: width, clientHeight: height } = this.#canvas
    // Hidden, or not laid out yet: the observer calls again.
    if (!this.#answer || width < 80 || height < 80) return
    const axes = this.#axes()
    this.#chart =
      axes && this.#answer.rows.length > 0 ? drawChart(this.#answer, axes, { width, height }) : null
    this.#at = -1
    this.#canvas.replaceChildren(
      this.#chart?.picture ?? element('p', { class: 'empty' }, emptyText(this.#answer)),
    )
    this.#read(-1)
  }

  #axes(): Axes | null {
    if (this.#up.value === '' || this.#across.value === '') return null
    return { x: Number(this.#across.value), y: Number(this.#up.value) }
  }

  #point(px: number): void {
    const marks = this.#chart?.marks ?? []
    let nearest = -1
    for (const [index, mark] of marks.entries()) {
      const best = marks[nearest]
      if (!best || Math.abs(mark.px - px) < Math.abs(best.px - px)) nearest = index
    }
    this.#read(nearest)
  }

  #press(event: KeyboardEvent): void {
    const last = (this.#chart?.marks.length ?? 0) - 1
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: Math.min(last, this.#at + 1),
      ArrowLeft: Math.max(0, this.#at - 1),
      Home: 0,
      End: last,
    }
    const target = targets[event.key]
    if (target === undefined) return
    event.preventDefault()
    this.#read(target)
  }

  /** Shows one value; -1 shows what the chart leaves out, if anything. */
  #read(index: number): void {
    this.#at = index
    this.#chart?.picture.querySelector('.cursor')?.remove()
    const mark = this.#chart?.marks[index]
    if (mark && this.#chart) this.#chart.picture.append(cursor(mark, this.#canvas.clientHeight))
    const left = this.#chart?.left ?? 0
    this.#reading.replaceChildren(
      ...(mark
        ? [element('b', {}, mark.value), ` at ${mark.label}`]
        : [left > 0 ? `${left} rows are not drawn` : '']),
    )
  }
}

const cursor = ({ px, py }: Mark, height: number): SVGElement =>
  svg(
    'g',
    { class: 'cursor' },
    svg('line', { x1: px, x2: px, y1: 8, y2: height - 34 }),
    svg('circle', { cx: px, cy: py, r: 4 }),
  )

function emptyText(answer: QueryAnswer): string {
  if (answer.rows.length === 0) return 'There are no rows to draw.'
  return 'A chart needs a column of numbers.'
}
