/** The query view: what is asked, of which engine, and the one run that may be under way. */
import type { Engine } from '#primitives.ts'
import { explainQuery, runQuery } from '../../model/indexerClient.ts'
import type { LinkFields } from '../../model/link.ts'
import { type QueryAnswer, type QueryRequest, RequestFailure } from '../../model/queryAnswer.ts'
import { planAnswer, planSummary } from '../../model/queryPlan.ts'
import { elapsedLabel } from '../../model/rates.ts'
import type { IndexerSchema } from '../../model/wire.ts'
import { origin, readNewestBlockMs, readSchema } from '../api.ts'
import { button, find } from '../element.ts'
import { Editor } from './Editor.ts'
import { runLive } from './liveRun.ts'
import { ROW_LIMIT_FIRST } from './markup.ts'
import { type ResultKind, type ResultTab, ResultView } from './ResultView.ts'
import { SchemaBrowser } from './SchemaBrowser.ts'
import { SignatureField } from './SignatureField.ts'

const engineNames: Readonly<Record<Engine, string>> = { postgres: 'Postgres', clickhouse: 'ClickHouse' }

export interface QueryViewOptions {
  /** The chain chosen on the page. */
  readonly chainId: () => number | null
  /** A query was run: the page's link should name it. */
  readonly ran: () => void
  /** The reader chose another view of the result: the page's link should bring it back. */
  readonly chosen: () => void
}

/** The state of the page, as a link holds it. */
export interface OpenedQuery {
  readonly sql: string
  readonly engine: Engine
  /** Events and functions that are tables of the query. */
  readonly signatures: readonly string[]
  /** Rows at most, in digits. */
  readonly rows: string
  readonly tab: ResultTab
  /** Columns of the chart, by their names. */
  readonly chart: LinkFields
}

export class QueryView {
  readonly #options: QueryViewOptions
  readonly #result: ResultView
  readonly #editor: Editor
  readonly #browser: SchemaBrowser
  readonly #signatures = new SignatureField(() => void this.#useSchema())
  readonly #run = find('run', HTMLButtonElement)
  readonly #explain = find('explain', HTMLButtonElement)
  readonly #live = find('live', HTMLButtonElement)
  readonly #stop = find('stop', HTMLButtonElement)
  readonly #liveMode = find('live-mode', HTMLSelectElement)
  readonly #limit = find('limit', HTMLSelectElement)
  readonly #engines = [...find('engine', HTMLElement).querySelectorAll('input')]
  /** Each by engine and signatures; the last one alone, for signatures may be anything. */
  #schema: { readonly key: string; readonly read: Promise<IndexerSchema> } | null = null
  #running: { readonly kind: ResultKind; readonly abort: AbortController } | null = null

  constructor(options: QueryViewOptions) {
    this.#options = options
    this.#result = new ResultView({
      goTo: (place) => this.#editor.goTo(place),
      chosen: (tab) => this.#tabChosen(tab),
    })
    this.#editor = new Editor(find('editor', HTMLElement), {
      run: () => void this.run(),
      changed: () => {},
    })
    this.#browser = new SchemaBrowser({
      insert: (name) => this.#editor.insert(name),
      open: (sql) => {
        this.#editor.text = sql
        void this.run()
      },
    })
    this.#run.addEventListener('click', () => void this.run())
    this.#explain.addEventListener('click', () => {
      this.#result.open('explain')
      this.#options.ran()
      void this.#explainQuery()
    })
    this.#live.addEventListener('click', () => void this.#toggleLive())
    this.#stop.addEventListener('click', () => this.stop())
    for (const input of this.#engines)
      input.addEventListener('change', () => {
        this.#result.useEngine(this.engine)
        void this.#useSchema()
      })
  }

  get engine(): Engine {
    return this.#engines.find(({ checked }) => checked)?.value === 'clickhouse' ? 'clickhouse' : 'postgres'
  }

  get opened(): OpenedQuery {
    return {
      ...{ sql: this.#editor.text, engine: this.engine, signatures: this.#signatures.values },
      ...{ rows: this.#limit.value, tab: this.#result.tab, chart: this.#result.chartFields },
    }
  }

  /** Shows a query and runs it, or explains it where that is what is shown. */
  async open({ sql, engine, signatures, rows, tab, chart }: OpenedQuery): Promise<void> {
    this.stop()
    for (const input of this.#engines) input.checked = input.value === engine
    this.#signatures.values = signatures
    this.#editor.text = sql
    const limits = [...this.#limit.options].map(({ value }) => value)
    this.#limit.value = limits.includes(rows) ? rows : ROW_LIMIT_FIRST
    this.#result.open(tab, chart)
    this.#result.useEngine(engine)
    await Promise.all([this.#useSchema(), tab === 'explain' ? this.#explainQuery() : this.#runOnce()])
  }

  /** The first example, run: a page that shows something. */
  async openExample(): Promise<void> {
    const schema = await this.#useSchema()
    const [example] = schema?.examples ?? []
    if (!example || this.#editor.text !== '') return
    this.#editor.text = example.sql
    await this.run()
  }

  async run(): Promise<void> {
    if (this.#result.tab === 'explain') this.#result.open('table')
    this.#options.ran()
    await this.#runOnce()
  }

  async #runOnce(): Promise<void> {
    await this.#start('once', async (request, signal) => {
      this.#result.tell('rows', 'Running.')
      const answer = await runQuery(origin, request, signal)
      this.#result.show(answer, summaryOf(answer, request), {
        newestBlockMs: () => readNewestBlockMs(answer, request.chainId),
      })
    })
  }

  async #explainQuery(): Promise<void> {
    await this.#start('plan', async (request, signal) => {
      this.#result.tell('plan', 'Asking for the plan.')
      const plan = await explainQuery(origin, request, signal)
      this.#result.showPlan(planAnswer(plan), planSummary(plan))
    })
  }

  /** A plan is asked for when its tab is chosen, unless a query runs: that one goes on. */
  #tabChosen(tab: ResultTab): void {
    this.#options.chosen()
    if (tab === 'explain' && this.#running === null && this.#editor.text.trim() !== '')
      void this.#explainQuery()
  }

  stop(): void {
    this.#running?.abort.abort()
  }

  /** Pressed again, it ends. */
  async #toggleLive(): Promise<void> {
    if (this.#live.ariaPressed === 'true') return this.stop()
    if (this.#result.tab === 'explain') this.#result.open('table')
    this.#options.ran()
    await this.#start('live', (request, signal) => {
      this.#result.tell('rows', 'Live: connecting')
      return runLive(
        request,
        this.#liveMode.value === 'snapshot' ? 'snapshot' : 'blocks',
        this.#result,
        signal,
      )
    })
  }

  async #start(
    mode: 'once' | 'live' | 'plan',
    work: (request: QueryRequest, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    this.stop()
    const kind = mode === 'plan' ? 'plan' : 'rows'
    const running = { kind, abort: new AbortController() } as const
    const { signal } = running.abort
    this.#running = running
    this.#editor.mark(null, '')
    this.#result.begin(kind)
    this.#showRunning(mode)
    const { engine, sql, signatures, rows } = this.opened
    const request = {
      sql,
      engine,
      ...(signatures.length > 0 && { signatures }),
      chainId: this.#options.chainId(),
      limit: Number(rows),
    }
    try {
      await work(request, signal)
    } catch (error) {
      if (this.#running !== running) {
        if (this.#running && this.#running.kind !== kind) this.#result.stopped(kind)
        return
      }
      if (signal.aborted) this.#result.stopped(kind)
      else this.#fail(kind, error)
    }
    if (this.#running !== running) return
    this.#running = null
    this.#showRunning(null)
  }

  #showRunning(mode: 'once' | 'live' | 'plan' | null): void {
    this.#stop.disabled = mode === null
    this.#live.ariaPressed = `${mode === 'live'}`
    document.documentElement.classList.toggle('running', mode !== null)
  }

  #fail(kind: ResultKind, error: unknown): void {
    if (!(error instanceof RequestFailure)) throw error
    const { message, code, place, status } = error
    const isRefusedCaller = status === 429 || code.startsWith('api_key_')
    this.#result.fail(kind, { message, code, place }, isRefusedCaller ? [accountOffer()] : [])
    this.#editor.mark(place, message)
  }

  async #useSchema(): Promise<IndexerSchema | null> {
    try {
      const read = this.#readSchema()
      const schema = await read
      if (read === this.#schema?.read) {
        this.#signatures.offer(schema.events)
        this.#editor.use(schema)
        this.#browser.show(schema)
      }
      return schema
    } catch (error) {
      this.#schema = null
      this.#browser.fail(error instanceof RequestFailure ? error.message : 'The tables could not be read.')
      return null
    }
  }

  #readSchema(): Promise<IndexerSchema> {
    const { engine, signatures } = this.opened
    const key = JSON.stringify([engine, signatures])
    if (this.#schema?.key !== key)
      this.#schema = { key, read: readSchema(engine, signatures, new AbortController().signal) }
    return this.#schema.read
  }
}

/** The way to a larger quota, and to another key. */
const accountOffer = (): HTMLElement =>
  button('Sign in, or use a key', () => find('tab-account', HTMLElement).click())

function summaryOf(
  { rows, elapsedMs, engine, truncated, horizon }: QueryAnswer,
  { limit }: QueryRequest,
): string {
  const count = `${rows.length.toLocaleString('en-US')} ${rows.length === 1 ? 'row' : 'rows'}`
  const blocks = horizon
    ? `, blocks ${horizon.from.toLocaleString('en-US')} to ${horizon.to.toLocaleString('en-US')}`
    : ''
  const more = truncated ? `. More than ${limit.toLocaleString('en-US')} exist` : ''
  return `${count} in ${elapsedLabel(elapsedMs)} on ${engineNames[engine]}${blocks}${more}.`
}
