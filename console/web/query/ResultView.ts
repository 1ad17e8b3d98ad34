/**
 * The result of a run and the plan of a query, each with its summary or why there is none: table,
 * chart, plan, files, the whole of the selected cell.
 */
import type { Engine } from '#primitives.ts'
import { cellText } from '../../model/cells.ts'
import { toCsv, toJson } from '../../model/csv.ts'
import type { LinkFields } from '../../model/link.ts'
import type { QueryAnswer, TextPlace } from '../../model/queryAnswer.ts'
import { browserClock } from '../browserClock.ts'
import { type AnswerMoments, ChartView } from '../chart/ChartView.ts'
import { button, element, find } from '../element.ts'
import { wireTabs } from '../tabs.ts'
import { copy, download } from './download.ts'
import { Grid, type Selection } from './Grid.ts'

const tabNames = ['table', 'chart', 'explain'] as const
export type ResultTab = (typeof tabNames)[number]

/** Rows fill the table and the chart, a plan the tab beside them. */
export type ResultKind = 'rows' | 'plan'

const kindOf = (tab: ResultTab): ResultKind => (tab === 'explain' ? 'plan' : 'rows')

interface Shown {
  readonly answer: QueryAnswer | null
  readonly summary: string
  /** Empty where nothing failed. */
  readonly failure: readonly HTMLElement[]
}

const nothing: Shown = { answer: null, summary: '', failure: [] }

export interface ResultViewOptions {
  readonly goTo: (place: TextPlace) => void
  /** The reader chose a tab, or what the chart shows. */
  readonly chosen: (tab: ResultTab) => void
}

interface ShowOptions {
  /** The reader's place is kept: the same query has told more. */
  readonly growing?: boolean
  readonly newestBlockMs?: AnswerMoments['newestBlockMs']
}

export class ResultView {
  readonly #options: ResultViewOptions
  readonly #summary = find('summary', HTMLElement)
  readonly #failure = find('failure', HTMLElement)
  readonly #csv = find('download-csv', HTMLButtonElement)
  readonly #json = find('download-json', HTMLButtonElement)
  readonly #detail = element('div', { class: 'detail', hidden: true })
  readonly #empty = element('p', { class: 'empty', hidden: true })
  readonly #grid = new Grid((selection) => this.#showCell(selection))
  readonly #steps = new Grid(() => {})
  readonly #chart: ChartView
  readonly #select: (tab: ResultTab) => void
  #shown: Readonly<Record<ResultKind, Shown>> = { rows: nothing, plan: nothing }
  #moments: AnswerMoments = { answeredMs: 0, newestBlockMs: async () => null }
  #tab: ResultTab = 'table'
  #isQuiet = true
  #engine: Engine = 'postgres'
  /** The kind that is being asked for. */
  #asked: ResultKind | null = null

  constructor(options: ResultViewOptions) {
    this.#options = options
    this.#chart = new ChartView(() => options.chosen(this.#tab))
    panelOf('table').append(this.#grid.element, this.#empty, this.#detail)
    panelOf('chart').append(this.#chart.element)
    panelOf('explain').append(this.#steps.element)
    this.#select = wireTabs(tabNames, (tab) => this.#selected(tab))
    this.open('table', {})
    this.#csv.addEventListener('click', () => this.#save('csv'))
    this.#json.addEventListener('click', () => this.#save('json'))
  }

  get tab(): ResultTab {
    return this.#tab
  }

  /** The columns that the chart shows, for links. */
  get chartFields(): LinkFields {
    return this.#chart.linked
  }

  /** Selects a tab for the reader. `chart`: the columns that a link names. */
  open(tab: ResultTab, chart: LinkFields | null = null): void {
    if (chart) this.#chart.want(chart)
    this.#isQuiet = true
    this.#select(tab)
    this.#isQuiet = false
  }

  /** Answers of the other engine are dim while it is not chosen. */
  useEngine(engine: Engine): void {
    this.#engine = engine
    this.#paint()
  }

  show(
    answer: QueryAnswer,
    summary: string,
    { growing = false, newestBlockMs = async () => null }: ShowOptions = {},
  ): void {
    this.#moments = { answeredMs: browserClock.now(), newestBlockMs }
    this.#asked = null
    this.#grid.show(answer, growing)
    this.#empty.hidden = answer.rows.length > 0
    this.#empty.textContent = growing ? 'Waiting for rows.' : 'The query gave no rows.'
    this.#set('rows', { answer, summary, failure: [] })
    if (this.#tab === 'chart') this.#chart.show(answer, this.#moments)
  }

  showPlan(answer: QueryAnswer, summary: string): void {
    this.#asked = null
    this.#steps.show(answer)
    this.#set('plan', { answer, summary, failure: [] })
  }

  /** One line beside the tabs. */
  tell(kind: ResultKind, summary: string): void {
    this.#set(kind, { ...this.#shown[kind], summary })
  }

  /** @param more what the reader may press beside going to the place */
  fail(
    kind: ResultKind,
    {
      message,
      code,
      place,
    }: { readonly message: string; readonly code: string; readonly place: TextPlace | null },
    more: readonly HTMLElement[] = [],
  ): void {
    const goTo = (at: TextPlace) =>
      button(`Go to line ${at.line}, column ${at.column}`, () => this.#options.goTo(at), { class: 'quiet' })
    this.#asked = null
    this.#set(kind, {
      ...this.#shown[kind],
      summary: '',
      failure: [
        element('strong', {}, message),
        element('code', { class: 'code' }, code),
        ...(place ? [goTo(place)] : []),
        ...more,
      ],
    })
  }

  /** Another query runs, or is explained: what is shown is the answer of the one before. */
  begin(kind: ResultKind): void {
    this.#asked = kind
    this.#set(kind, { ...this.#shown[kind], failure: [] })
  }

  /** The reader wanted no more. */
  stopped(kind: ResultKind): void {
    if (this.#asked === kind) this.#asked = null
    this.tell(kind, 'Stopped.')
  }

  #selected(tab: ResultTab): void {
    this.#tab = tab
    const { answer } = this.#shown.rows
    if (answer && tab === 'chart') this.#chart.show(answer, this.#moments)
    this.#paint()
    if (!this.#isQuiet) this.#options.chosen(tab)
  }

  #set(kind: ResultKind, shown: Shown): void {
    this.#shown = { ...this.#shown, [kind]: shown }
    this.#paint()
  }

  /** An earlier query's result is no answer to one that failed, or that runs. */
  #paint(): void {
    const { answer, summary, failure } = this.#shown[kindOf(this.#tab)]
    this.#summary.textContent = summary
    this.#failure.hidden = failure.length === 0
    this.#failure.replaceChildren(...failure)
    for (const save of [this.#csv, this.#json])
      save.disabled = failure.length > 0 || this.#asked === kindOf(this.#tab) || !answer?.rows.length
    for (const tab of tabNames) {
      const kind = kindOf(tab)
      const shown = this.#shown[kind]
      const isOther = shown.answer !== null && shown.answer.engine !== this.#engine
      panelOf(tab).classList.toggle('earlier', this.#asked === kind || isOther)
      panelOf(tab).classList.toggle('stale', shown.failure.length > 0)
    }
  }

  #save(format: 'csv' | 'json'): void {
    const kind = kindOf(this.#tab)
    const { answer } = this.#shown[kind]
    const name = kind === 'plan' ? 'plan' : 'result'
    if (!answer) return
    if (format === 'csv') download(`${name}.csv`, 'text/csv;charset=utf-8', toCsv(answer))
    else download(`${name}.json`, 'application/json', toJson(answer))
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

const panelOf = (tab: ResultTab): HTMLElement => find(`panel-${tab}`, HTMLElement)

export const isResultTab = (name: string | undefined): name is ResultTab =>
  tabNames.some((tab) => tab === name)
