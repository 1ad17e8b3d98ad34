/**
 * The result of a run: table, chart, files, the whole of the selected cell, or why there is none.
 */
import { cellText } from '../../model/cells.ts'
import { toCsv, toJson } from '../../model/csv.ts'
import type { QueryAnswer, TextPlace } from '../../model/queryAnswer.ts'
import { browserClock } from '../browserClock.ts'
import { type AnswerMoments, ChartView } from '../chart/ChartView.ts'
import { button, element, find } from '../element.ts'
import { wireTabs } from '../tabs.ts'
import { copy, download } from './download.ts'
import { Grid, type Selection } from './Grid.ts'

interface ShowOptions {
  readonly growing?: boolean
  readonly newestBlockMs?: AnswerMoments['newestBlockMs']
}

export class ResultView {
  readonly #summary = find('summary', HTMLElement)
  readonly #failure = find('failure', HTMLElement)
  readonly #csv = find('download-csv', HTMLButtonElement)
  readonly #json = find('download-json', HTMLButtonElement)
  readonly #panels = [find('panel-table', HTMLElement), find('panel-chart', HTMLElement)] as const
  readonly #detail = element('div', { class: 'detail', hidden: true })
  readonly #empty = element('p', { class: 'empty', hidden: true })
  readonly #grid = new Grid((selection) => this.#showCell(selection))
  readonly #chart = new ChartView()
  readonly #select: (tab: 'table' | 'chart') => void
  readonly #goTo: (place: TextPlace) => void
  #answer: QueryAnswer | null = null
  #moments: AnswerMoments = { answeredMs: 0, newestBlockMs: async () => null }
  #tab: 'table' | 'chart' = 'table'

  constructor(goTo: (place: TextPlace) => void) {
    this.#goTo = goTo
    const [table, chart] = this.#panels
    table.append(this.#grid.element, this.#empty, this.#detail)
    chart.append(this.#chart.element)
    this.#select = wireTabs(['table', 'chart'], (tab) => {
      this.#tab = tab
      if (this.#answer && tab === 'chart') this.#chart.show(this.#answer, this.#moments)
    })
    this.#select('table')
    this.#csv.addEventListener('click', () => this.#save('csv'))
    this.#json.addEventListener('click', () => this.#save('json'))
  }

  /** `growing` keeps the reader's place: the same query has told more. */
  show(
    answer: QueryAnswer,
    summary: string,
    { growing = false, newestBlockMs = async () => null }: ShowOptions = {},
  ): void {
    this.#answer = answer
    this.#moments = { answeredMs: browserClock.now(), newestBlockMs }
    this.#showFailure(false)
    this.#markEarlier(false)
    this.tell(summary)
    this.#grid.show(answer, growing)
    const none = answer.rows.length === 0
    this.#empty.hidden = !none
    this.#empty.textContent = growing ? 'Waiting for rows.' : 'The query gave no rows.'
    if (this.#tab === 'chart') this.#chart.show(answer, this.#moments)
  }

  /** One line beside the tabs. */
  tell(text: string): void {
    this.#summary.textContent = text
  }

  /** @param more what the reader may press beside going to the place */
  fail(message: string, code: string, place: TextPlace | null, more: readonly HTMLElement[] = []): void {
    this.tell('')
    this.#showFailure(true)
    this.#failure.replaceChildren(
      element('strong', {}, message),
      element('code', { class: 'code' }, code),
      ...(place
        ? [
            button(`Go to line ${place.line}, column ${place.column}`, () => this.#goTo(place), {
              class: 'quiet',
            }),
          ]
        : []),
      ...more,
    )
  }

  /** Another query runs: what is shown is the answer of the one before. */
  begin(): void {
    this.#showFailure(false)
    this.#markEarlier(true)
    for (const save of [this.#csv, this.#json]) save.disabled = true
  }

  #markEarlier(isEarlier: boolean): void {
    for (const panel of this.#panels) panel.classList.toggle('earlier', isEarlier)
  }

  /** An earlier query's result is no answer to one that failed. */
  #showFailure(shown: boolean): void {
    this.#failure.hidden = !shown
    for (const panel of this.#panels) panel.classList.toggle('stale', shown)
    for (const save of [this.#csv, this.#json]) save.disabled = shown || !this.#answer?.rows.length
  }

  #save(format: 'csv' | 'json'): void {
    if (!this.#answer) return
    if (format === 'csv') download('result.csv', 'text/csv;charset=utf-8', toCsv(this.#answer))
    else download('result.json', 'application/json', toJson(this.#answer))
  }

  #showCell(selection: Selection | null): void {
    this.#detail.hidden = selection === null
    if (!selection) return
    const text = selection.value === null ? 'null' : cellText(selection.value)
    const copying = button(
      'Copy',
      () =>
        void copy(text).then((done) => {
          copying.textContent = done ? 'Copied' : 'Not allowed here'
        }),
      { class: 'quiet' },
    )
    this.#detail.replaceChildren(
      element('span', { class: 'name' }, selection.column),
      element('code', { class: 'value', tabindex: 0 }, text),
      copying,
    )
  }
}
