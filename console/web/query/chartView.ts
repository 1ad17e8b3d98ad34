/** The chart with its choices: which columns, and what the pointed-at value says. */
import { type Axes, chooseAxes, type Point, valueColumns } from '../../model/axes.ts'
import { cellText } from '../../model/cells.ts'
import type { QueryAnswer } from '../../model/queryAnswer.ts'
import { element } from '../element.ts'
import { type Chart, drawChart, type Inks } from './chart.ts'

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
    this.#canvas.addEventListener('keydown', (event) => this.#press(event))
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
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
    this.#chart?.remove()
    this.#chart = null
    this.#canvas.replaceChildren()
    const axes = this.#axes()
    const answer = this.#answer
    if (axes && answer.rows.length > 0)
      this.#chart = drawChart(this.#canvas, {
        answer,
        axes,
        width,
        height,
        inks: inksOf(this.#canvas),
        pointed: (point) => this.#read(point, axes),
      })
    else this.#canvas.append(element('p', { class: 'empty' }, emptyText(answer)))
    this.#read(null, axes)
  }

  #axes(): Axes | null {
    if (this.#up.value === '' || this.#across.value === '') return null
    return { x: Number(this.#across.value), y: Number(this.#up.value) }
  }

  #press(event: KeyboardEvent): void {
    const last = (this.#chart?.points.length ?? 0) - 1
    const targets: Readonly<Record<string, number>> = {
      ArrowRight: Math.min(last, this.#at + 1),
      ArrowLeft: Math.max(0, this.#at - 1),
      Home: 0,
      End: last,
    }
    const target = targets[event.key]
    if (target === undefined) return
    event.preventDefault()
    this.#chart?.pointAt(target)
  }

  /** Says the value of a point; of none, what the chart leaves out, if anything. */
  #read(point: Point | null, axes: Axes | null): void {
    const points = this.#chart?.points ?? []
    const cells = this.#answer?.rows[point?.row ?? -1]
    this.#at = point ? points.indexOf(point) : -1
    if (cells && axes) {
      const value = element('b', {}, cellText(cells[axes.y] ?? null))
      this.#reading.replaceChildren(value, ` at ${cellText(cells[axes.x] ?? null)}`)
      return
    }
    const left = this.#chart ? (this.#answer?.rows.length ?? 0) - points.length : 0
    this.#reading.replaceChildren(left > 0 ? `${left} rows are not drawn` : '')
  }
}

/** A canvas knows no variables of a style sheet: each is read as the browser resolves it now. */
function inksOf(host: HTMLElement): Inks {
  const probe = element('span')
  host.append(probe)
  const ink = (colour: string) => {
    probe.style.color = colour
    return getComputedStyle(probe).color
  }
  const inks = {
    accent: ink('var(--accent)'),
    fill: ink('color-mix(in srgb, var(--accent) 10%, transparent)'),
    line: ink('var(--line)'),
    edge: ink('var(--strong-line)'),
    text: ink('var(--muted)'),
    surface: ink('var(--surface)'),
    font: `11.5px ${getComputedStyle(host).fontFamily}`,
  }
  probe.remove()
  return inks
}

function emptyText(answer: QueryAnswer): string {
  if (answer.rows.length === 0) return 'There are no rows to draw.'
  return 'A chart needs a column of numbers.'
}
