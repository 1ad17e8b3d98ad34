/** The query view: what is asked, of which engine, and the one run that may be under way. */
import { explainQuery, runQuery } from '../../model/indexerClient.ts'
import { type Engine, type QueryAnswer, type QueryRequest, RequestFailure } from '../../model/queryAnswer.ts'
import { planAnswer, planSummary } from '../../model/queryPlan.ts'
import type { IndexerSchema } from '../../model/wire.ts'
import { origin, readSchema } from '../api.ts'
import { find } from '../element.ts'
import { Editor } from './editor.ts'
import { runLive } from './liveRun.ts'
import { ResultView } from './resultView.ts'
import { SchemaBrowser } from './schemaBrowser.ts'

const engineNames: Readonly<Record<Engine, string>> = { postgres: 'Postgres', clickhouse: 'ClickHouse' }

export interface QueryViewOptions {
  /** The chain chosen on the page. */
  readonly chainId: () => number | null
  /** A query was run: the page's link should name it. */
  readonly ran: () => void
}

export class QueryView {
  readonly #options: QueryViewOptions
  readonly #result: ResultView
  readonly #editor: Editor
  readonly #browser: SchemaBrowser
  readonly #run = find('run', HTMLButtonElement)
  readonly #explain = find('explain', HTMLButtonElement)
  readonly #live = find('live', HTMLButtonElement)
  readonly #stop = find('stop', HTMLButtonElement)
  readonly #liveMode = find('live-mode', HTMLSelectElement)
  readonly #limit = find('limit', HTMLSelectElement)
  readonly #engines = [...find('engine', HTMLElement).querySelectorAll('input')]
  readonly #schemas = new Map<Engine, Promise<IndexerSchema>>()
  #running: AbortController | null = null

  constructor(options: QueryViewOptions) {
    this.#options = options
    this.#result = new ResultView((place) => this.#editor.goTo(place))
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
    this.#explain.addEventListener('click', () => void this.#explainQuery())
    this.#live.addEventListener('click', () => void this.#toggleLive())
    this.#stop.addEventListener('click', () => this.stop())
    for (const input of this.#engines) input.addEventListener('change', () => void this.#useSchema())
  }

  get engine(): Engine {
    return this.#engines.find(({ checked }) => checked)?.value === 'clickhouse' ? 'clickhouse' : 'postgres'
  }

  get sql(): string {
    return this.#editor.text
  }

  /** Shows a query without running it: a link should not spend its reader's quota before a look. */
  async open(sql: string | null, engine: Engine): Promise<void> {
    this.stop()
    for (const input of this.#engines) input.checked = input.value === engine
    if (sql !== null) {
      this.#editor.text = sql
      this.#result.tell('Press Run for the result.')
    }
    await this.#useSchema()
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
    await this.#start('once', async (request, signal) => {
      this.#result.tell('Running.')
      const answer = await runQuery(origin, request, signal)
      this.#result.show(answer, summaryOf(answer, request))
    })
  }

  async #explainQuery(): Promise<void> {
    await this.#start('once', async (request, signal) => {
      this.#result.tell('Asking for the plan.')
      const plan = await explainQuery(origin, request, signal)
      this.#result.show(planAnswer(plan), planSummary(plan))
    })
  }

  stop(): void {
    this.#running?.abort()
  }

  /** Pressed again, it ends. */
  async #toggleLive(): Promise<void> {
    if (this.#live.ariaPressed === 'true') return this.stop()
    await this.#start('live', (request, signal) => {
      this.#result.tell('Live: connecting')
      return runLive(
        request,
        this.#liveMode.value === 'snapshot' ? 'snapshot' : 'blocks',
        this.#result,
        signal,
      )
    })
  }

  async #start(
    mode: 'once' | 'live',
    work: (request: QueryRequest, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    this.stop()
    const running = new AbortController()
    this.#running = running
    this.#editor.mark(null, '')
    this.#result.clearFailure()
    this.#showRunning(mode)
    this.#options.ran()
    const { engine, sql } = this
    const request = { sql, engine, chainId: this.#options.chainId(), limit: Number(this.#limit.value) }
    try {
      await work(request, running.signal)
    } catch (error) {
      if (this.#running !== running) return
      if (running.signal.aborted) this.#result.tell('Stopped.')
      else this.#fail(error)
    }
    if (this.#running !== running) return
    this.#running = null
    this.#showRunning(null)
  }

  #showRunning(mode: 'once' | 'live' | null): void {
    this.#stop.disabled = mode === null
    this.#live.ariaPressed = `${mode === 'live'}`
    document.documentElement.classList.toggle('running', mode !== null)
  }

  #fail(error: unknown): void {
    if (!(error instanceof RequestFailure)) throw error
    const { message, code, place } = error
    this.#result.fail(message, code, place)
    this.#editor.mark(place, message)
  }

  async #useSchema(): Promise<IndexerSchema | null> {
    const { engine } = this
    try {
      const schema = await this.#schemaOf(engine)
      if (engine === this.engine) {
        this.#editor.use(schema)
        this.#browser.show(schema)
      }
      return schema
    } catch (error) {
      this.#schemas.delete(engine)
      this.#browser.fail(error instanceof RequestFailure ? error.message : 'The tables could not be read.')
      return null
    }
  }

  #schemaOf(engine: Engine): Promise<IndexerSchema> {
    const known = this.#schemas.get(engine) ?? readSchema(engine, new AbortController().signal)
    this.#schemas.set(engine, known)
    return known
  }
}

function summaryOf(
  { rows, elapsedMs, engine, truncated, horizon }: QueryAnswer,
  { limit }: QueryRequest,
): string {
  const count = `${rows.length.toLocaleString('en-US')} ${rows.length === 1 ? 'row' : 'rows'}`
  const time = elapsedMs < 10 ? elapsedMs.toFixed(1) : Math.round(elapsedMs).toLocaleString('en-US')
  const blocks = horizon
    ? `, blocks ${horizon.from.toLocaleString('en-US')} to ${horizon.to.toLocaleString('en-US')}`
    : ''
  const more = truncated ? `. More than ${limit.toLocaleString('en-US')} exist` : ''
  return `${count} in ${time} ms on ${engineNames[engine]}${blocks}${more}.`
}
