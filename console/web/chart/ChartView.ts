/** The chart with its choices: which columns, and what the pointed-at value says. */
import { type Axes, chooseAxes, nameColumns, timeColumns, timesOf, valueColumns } from '../../chart/axes.ts'
import { areBuckets } from '../../chart/buckets.ts'
import { seriesColours } from '../../chart/colours.ts'
import { axesFields, axesOfFields } from '../../chart/namedAxes.ts'
import { valueText } from '../../chart/series.ts'
import { cellText } from '../../model/cells.ts'
import type { LinkFields } from '../../model/link.ts'
import type { QueryAnswer } from '../../model/queryAnswer.ts'
import { element } from '../element.ts'
import { type Chart, type ChartPlace, drawChart } from './chart.ts'
import { type Inks, inkOf, LABEL_PX } from './look.ts'

/** The moments up to which the rows of an answer tell, in Unix milliseconds. */
export interface AnswerMoments {
  readonly answeredMs: number
  /** The time of the newest block that the answer saw; null where it is not told. */
  readonly newestBlockMs: () => Promise<number | null>
}

export class ChartView {
  readonly element: HTMLElement
  readonly #across = element('select', { 'aria-label': 'Across' })
  readonly #up = element('fieldset', { class: 'ups' })
  readonly #by = element('select', { 'aria-label': 'A series for each' })
  readonly #legend = element('ul', { class: 'legend', hidden: true })
  readonly #reading = element('output', { class: 'reading' })
  readonly #canvas = element('div', {
    class: 'canvas',
    tabindex: 0,
    'aria-label': 'Chart; arrow keys read its values',
  })
  #answer: QueryAnswer | null = null
  #moments: readonly number[] = []
  #chart: Chart | null = null
  #at = -1

  readonly #chosen: () => void
  /** Columns that a link names, for the result that comes. */
  #wanted: LinkFields = {}

  /** @param chosen the reader chose other columns */
  constructor(chosen: () => void) {
    this.#chosen = chosen
    const controls = element(
      'div',
      { class: 'chart-bar' },
      this.#up,
      element('label', {}, 'Across ', this.#across),
      element('label', {}, 'A series for each ', this.#by),
      this.#reading,
    )
    this.element = element('div', { class: 'chart' }, controls, this.#legend, this.#canvas)
    for (const select of [this.#across, this.#up, this.#by])
      select.addEventListener('change', () => {
        this.#wanted = {}
        this.#draw()
        this.#chosen()
      })
    this.#canvas.addEventListener('keydown', (event) => this.#press(event))
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
    new ResizeObserver(() => this.#draw()).observe(this.#canvas)
  }

  /** The columns that are shown, by name. */
  get linked(): LinkFields {
    const axes = this.#answer && this.#axes()
    return this.#answer && axes ? axesFields(axes, this.#answer) : this.#wanted
  }

  /** Shows these columns of the next result, if it has them. */
  want(fields: LinkFields): void {
    this.#wanted = fields
    this.#answer = null
  }

  show(answer: QueryAnswer, { answeredMs, newestBlockMs }: AnswerMoments): void {
    const same = this.#answer?.columns.join('\n') === answer.columns.join('\n')
    const isNew = this.#answer !== answer
    this.#answer = answer
    if (isNew) this.#moments = [answeredMs]
    if (!same) this.#offer(answer)
    this.#draw()
    if (isNew && timeColumns(answer).some((column) => areBuckets(timesOf(answer, column))))
      void newestBlockMs().then((moment) => this.#learn(answer, moment))
  }

  #learn(answer: QueryAnswer, moment: number | null): void {
    if (moment === null || this.#answer !== answer) return
    this.#moments = [...this.#moments, moment]
    this.#draw()
  }

  #offer(answer: QueryAnswer): void {
    const axes = axesOfFields(this.#wanted, answer) ?? chooseAxes(answer)
    const option = (index: number, chosen: number | undefined) =>
      element('option', { value: index, selected: index === chosen }, answer.columns[index] ?? '')
    this.#up.replaceChildren(
      element('legend', {}, 'Up'),
      ...valueColumns(answer).map((index) => upChoice(index, answer, axes)),
    )
    this.#across.replaceChildren(...answer.columns.map((_, index) => option(index, axes?.x)))
    this.#by.replaceChildren(
      element('option', { value: '', selected: axes?.by === null }, 'column'),
      ...nameColumns(answer).map((index) => option(index, axes?.by ?? undefined)),
    )
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
    const inks = inksOf(this.#canvas)
    if (axes && answer.rows.length > 0)
      this.#chart = drawChart(this.#canvas, {
        answer,
        axes,
        width,
        height,
        inks,
        moments: this.#moments,
        pointed: (place) => this.#read(place, axes),
      })
    else this.#canvas.append(element('p', { class: 'empty' }, emptyText(answer)))
    this.#nameSeries(inks)
    this.#read(null, axes)
  }

  /** One series is named by the choices already. */
  #nameSeries(inks: Inks): void {
    const series = this.#chart?.series ?? []
    this.#legend.hidden = series.length < 2
    this.#legend.replaceChildren(
      ...series.map(({ label }, index) => legendItem(label, inkOf(inks, index).line)),
    )
  }

  #axes(): Axes | null {
    const ys = [...this.#up.querySelectorAll('input')].flatMap(({ checked, value }) =>
      checked ? [Number(value)] : [],
    )
    if (ys.length === 0 || this.#across.value === '') return null
    return { x: Number(this.#across.value), ys, by: this.#by.value === '' ? null : Number(this.#by.value) }
  }

  #press(event: KeyboardEvent): void {
    const last = (this.#chart?.places.length ?? 0) - 1
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

  /** Says the values at a place; of none, what the chart leaves out, if anything. */
  #read(place: ChartPlace | null, axes: Axes | null): void {
    const { places = [], series = [] } = this.#chart ?? {}
    const answer = this.#answer
    const rows = answer?.rows ?? []
    const [row] = place?.told[0]?.rows ?? []
    this.#at = place ? places.indexOf(place) : -1
    if (answer && place && row !== undefined && axes) {
      const values = place.told.flatMap(({ series: { label, column }, rows: shown }) => [
        element('b', {}, valueText(answer, column, shown)),
        series.length > 1 ? ` ${label} ` : ' ',
      ])
      const note = place.isOpen ? ', not over yet' : ''
      this.#reading.replaceChildren(...values, `at ${cellText(rows[row]?.[axes.x] ?? null)}${note}`)
      return
    }
    const drawn = new Set(places.flatMap(({ told }) => told.flatMap((one) => one.rows)))
    const left = this.#chart ? rows.length - drawn.size : 0
    this.#reading.replaceChildren(left > 0 ? `${left} rows are not drawn` : '')
  }
}

const upChoice = (index: number, { columns }: QueryAnswer, axes: Axes | null): HTMLElement =>
  element(
    'label',
    {},
    element('input', { type: 'checkbox', value: index, checked: axes?.ys.includes(index) ?? false }),
    ` ${columns[index] ?? ''}`,
  )

function legendItem(label: string, ink: string): HTMLElement {
  const swatch = element('span', { class: 'swatch' })
  swatch.style.background = ink
  return element('li', {}, swatch, label)
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
    series: seriesColours.map(({ light, dark }) => {
      const line = ink(`light-dark(${light}, ${dark})`)
      return { line, area: ink(`color-mix(in srgb, ${line} 10%, transparent)`) }
    }),
    line: ink('var(--line)'),
    edge: ink('var(--strong-line)'),
    text: ink('var(--muted)'),
    surface: ink('var(--surface)'),
    font: `${LABEL_PX}px ${getComputedStyle(host).fontFamily}`,
  }
  probe.remove()
  return inks
}

function emptyText(answer: QueryAnswer): string {
  if (answer.rows.length === 0) return 'There are no rows to draw.'
  return 'A chart needs a column of numbers.'
}
