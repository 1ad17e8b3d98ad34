/** One job: how it stands, its money, its calls by stage, its outputs, and what can be done. */
import { type Job, type JobReceipt, readReceipt } from '../../job/job.ts'
import { figuresOf, problemOf, stateOf, stateWord, tookText, transactionsOf } from '../../job/jobView.ts'
import { form } from '../account/parts.ts'
import { origin } from '../api.ts'
import { spokenTime } from '../catalog/parts.ts'
import { button, element } from '../element.ts'
import { badge } from '../parts/badge.ts'
import { card } from '../parts/card.ts'
import { fact } from '../parts/fact.ts'
import { download } from '../query/download.ts'
import { table } from '../table.ts'
import { CommandsView } from './CommandsView.ts'
import { hashButton } from './copying.ts'
import { outputsView } from './outputsView.ts'
import { Part } from './Part.ts'
import { StagesView } from './StagesView.ts'

export class JobView {
  readonly host = element('div', { class: 'job-shown' })
  readonly #jobId: string
  readonly #note = element('p', { class: 'meaning', role: 'status', hidden: true })
  readonly #state = new Part()
  readonly #head = new Part()
  readonly #stages = new StagesView()
  readonly #stagesCard: HTMLElement
  readonly #money = new Part()
  readonly #outputs = new Part()
  readonly #commands = new Part()
  readonly #commandsView: CommandsView

  constructor(jobId: string) {
    this.#jobId = jobId
    this.#commandsView = new CommandsView(jobId)
    this.#stagesCard = card('Calls by stage', this.#stages.host)
    this.#stagesCard.hidden = true
    this.#state.host.setAttribute('role', 'status')
    const head = card('Job', this.#state.host, this.#head.host)
    const parts = [head, this.#stagesCard, this.#money.host, this.#outputs.host, this.#commands.host]
    this.host.append(this.#note, ...parts)
    this.tell('Asking for the job …')
  }

  /** The news that its reader waits for; null for none. */
  tell(note: string | null): void {
    this.#note.hidden = note === null
    this.#note.textContent = note ?? ''
  }

  fail(problem: string, again: (() => void) | null): void {
    this.tell(null)
    const retry = again && button('Try again', again)
    this.host.replaceChildren(element('p', { class: 'empty', role: 'alert' }, problem, ' ', retry))
  }

  show(job: Job, receipt: JobReceipt | null): void {
    const { order, runs = [], ready, error } = job
    this.tell(
      order
        ? null
        : 'Its payment has not settled yet. The job begins when it has; this page goes on by itself.',
    )
    this.#state.draw([stateOf(job), order?.endedAt], () => [stateLine(job)])
    this.#head.draw([order, error, receipt?.job.payer], () => this.#facts(job, receipt))
    this.#stagesCard.hidden = runs.length === 0
    this.#stages.draw(runs, order?.currency ?? '')
    const figures = figuresOf(job, receipt)
    const moved = transactionsOf(job, receipt)
    this.#money.draw([figures, moved], () => [figures.length > 0 ? moneyCard(figures, moved) : null])
    this.#outputs.draw(ready && [runs.map(({ outputDigest }) => outputDigest), error?.code], () => [
      ready ? this.#outputsCard(job) : null,
    ])
    this.#commands.draw(
      [ready, order?.charged, runs.map(({ state, attempts }) => [state, attempts.length])],
      () => {
        const boxes = this.#commandsView.draw(job)
        return [boxes && card('Commands', element('p', { class: 'meaning' }, hint), ...boxes)]
      },
    )
  }

  #facts(job: Job, receipt: JobReceipt | null): readonly (HTMLElement | null)[] {
    const { order } = job
    const problem = problemOf(job)
    return [
      problem === null ? null : element('p', { class: 'problem' }, problem),
      element('p', {}, 'Id ', element('code', {}, this.#jobId)),
      order ? element('p', {}, 'Plan hash ', hashButton(order.planHash)) : null,
      receipt ? element('p', {}, 'Bought by ', hashButton(receipt.job.payer)) : null,
      order?.endedAt === undefined ? null : this.#receipt(),
    ]
  }

  #receipt(): HTMLElement {
    const save = async () => {
      const read = await readReceipt(origin, this.#jobId, new AbortController().signal)
      if (read) download(`receipt-${this.#jobId}.json`, 'application/json', read.text)
    }
    return element(
      'div',
      { class: 'row' },
      form('Download receipt', save),
      element(
        'span',
        { class: 'meaning' },
        'signed; ',
        element('code', {}, 'millrace prove receipt'),
        ' checks it and asks nobody',
      ),
    )
  }

  #outputsCard({ runs = [], error }: Job): HTMLElement {
    return card('Outputs', outputsView(this.#jobId, runs, error?.code !== 'job_results_removed'))
  }
}

function stateLine(job: Job): HTMLElement {
  const { text, tone } = stateWord(stateOf(job))
  const took = tookText(job)
  const ordered = job.order ? ` ordered ${spokenTime(job.order.createdAt)}` : ''
  return element('p', {}, badge(text, tone), ordered, took === null ? null : `, took ${took}`)
}

const hint =
  'Run them in the folder of docs/clients.md, which has payer.key and the package mppx, with RPC_URL set to a node of the chain. The key stays there.'

function moneyCard(
  figures: ReturnType<typeof figuresOf>,
  moved: ReturnType<typeof transactionsOf>,
): HTMLElement {
  const facts = figures.map(({ name, value, meaning }) => fact(name, value, meaning))
  const rows = moved.map(({ what, amount, chainId, hash }) => [
    what,
    amount,
    chainId === null ? '' : `${chainId}`,
    hash === null ? 'not told yet' : hashButton(hash),
  ])
  return card(
    'Money',
    element('dl', { class: 'facts' }, ...facts),
    rows.length > 0 ? table(['Payment', 'Amount', 'Chain', 'Transaction'], rows) : null,
  )
}
