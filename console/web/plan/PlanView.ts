/** The text of a plan, its drawing, and what a quote says of it. */
import { problemsOf, readDraft } from '../../model/planDraft.ts'
import { RequestFailure } from '../../model/queryAnswer.ts'
import { type Quote, quotePlan, searchServices } from '../../model/services.ts'
import { origin } from '../api.ts'
import { button, element } from '../element.ts'
import { fact } from '../parts/fact.ts'
import { BuyView } from './BuyView.ts'
import { Drawing } from './Drawing.ts'
import { exampleNeeds, examplePlan } from './example.ts'

export class PlanView {
  readonly #text = element('textarea', {
    ...{ id: 'plan-text', spellcheck: 'false', autocomplete: 'off', 'aria-label': 'Plan as JSON' },
    placeholder:
      '{"nodes": [{"id": "place", "serviceId": "…", "method": "POST", "path": "/…", "input": {}}]}',
  })
  readonly #quote = button('Quote', () => void this.quote(), { id: 'quote', class: 'primary' })
  readonly #example = button('Example', () => this.#useExample(), { hidden: true })
  readonly #problem = element('div', { class: 'plan-problem', role: 'alert', hidden: true })
  readonly #sum = element('div', { 'aria-live': 'polite', id: 'quote-sum' })
  readonly #drawing: Drawing
  readonly #buy: BuyView
  readonly #command = element('div', { class: 'part' })
  readonly #edited: () => void
  #asking = new AbortController()
  #looked = false

  constructor(
    host: HTMLElement,
    { edited, chainId }: { readonly edited: () => void; readonly chainId: () => number | null },
  ) {
    this.#edited = edited
    this.#buy = new BuyView(chainId)
    this.#quote.append(element('kbd', {}, 'Ctrl ↵'))
    const stages = element('div', { class: 'stages' })
    this.#drawing = new Drawing(stages)
    host.append(
      element(
        'section',
        { class: 'plan-text', 'aria-label': 'Plan' },
        element('div', { class: 'plan-actions' }, this.#quote, this.#example),
        this.#text,
      ),
      element(
        'section',
        { class: 'plan-drawn', 'aria-label': 'Stages' },
        this.#problem,
        this.#sum,
        this.#command,
        stages,
      ),
    )
    this.#text.addEventListener('input', () => this.#changed())
    this.#text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void this.quote()
    })
    this.#changed()
  }

  get text(): string {
    return this.#text.value
  }

  set text(text: string) {
    this.#text.value = text
    this.#changed()
  }

  /** Offers a plan of the demo's sellers, where they run. */
  async offerExample(): Promise<void> {
    if (this.#looked) return
    this.#looked = true
    const question = { query: exampleNeeds, limit: 1, resolution: 'static' } as const
    const found = await searchServices(origin, question, new AbortController().signal).catch(() => null)
    this.#example.hidden = found?.endpoints[0]?.serviceId !== exampleNeeds
  }

  #useExample(): void {
    this.text = examplePlan
    this.#edited()
  }

  /** Prices are of the plan that was quoted, not of another. */
  #changed(): void {
    this.#asking.abort()
    this.#quote.disabled = this.text.trim() === ''
    this.#sum.replaceChildren()
    this.#command.replaceChildren()
    const draft = readDraft(this.text)
    this.#drawing.draw(draft, { prices: new Map(), problems: new Map() })
    this.tell(draft.problem)
    if (this.text.trim() === '')
      this.#sum.replaceChildren(
        element(
          'p',
          { class: 'empty' },
          'Paste a plan, or add endpoints from the catalog. It is drawn as you write; Quote asks every seller for its price, without paying.',
        ),
      )
  }

  /** The problem of the plan as a whole; null for none. */
  tell(problem: string | null, more: readonly string[] = []): void {
    this.#problem.hidden = problem === null
    this.#problem.replaceChildren(
      element('p', {}, problem ?? ''),
      ...(more.length > 0 ? [element('ul', {}, ...more.map((text) => element('li', {}, text)))] : []),
    )
  }

  async quote(): Promise<void> {
    this.#edited()
    this.#asking.abort()
    this.#asking = new AbortController()
    const { signal } = this.#asking
    const { text } = this
    const draft = readDraft(text)
    this.#quote.disabled = true
    try {
      const quote = await quotePlan(origin, text, signal)
      if (signal.aborted) return
      const prices = new Map(quote.nodes.map((node) => [node.nodeId, node]))
      this.tell(null)
      this.#sum.replaceChildren(sumOf(quote))
      this.#command.replaceChildren(this.#buy.draw(text, quote))
      this.#drawing.draw(draft, { prices, problems: new Map() })
    } catch (error) {
      if (!signal.aborted) this.#refused(error)
    } finally {
      if (!signal.aborted) this.#quote.disabled = false
    }
  }

  #refused(error: unknown): void {
    const failure = error instanceof RequestFailure ? error : null
    const { ofNodes, ofPlan } = problemsOf(failure?.details ?? [])
    this.#sum.replaceChildren()
    this.#command.replaceChildren()
    this.tell(failure?.message ?? 'The plan could not be quoted.', ofPlan)
    this.#drawing.draw(readDraft(this.text), { prices: new Map(), problems: ofNodes })
  }
}

function sumOf(quote: Quote): HTMLElement {
  const { totalAmount, totalNetAmount, costMultiplier, currency, validUntil, nodes, stages, dynamic } = quote
  const until = validUntil === undefined ? 'now' : validUntil.slice(11, 19)
  return element(
    'dl',
    { class: 'facts' },
    fact('Total', `${totalAmount} ${currency}`, `${totalNetAmount} net, times ${costMultiplier}`),
    fact('Valid until', until, 'UTC; until then the same plan has the same price'),
    fact(
      'Nodes',
      `${nodes.length}`,
      `in ${stages.length === 1 ? '1 stage' : `${stages.length} stages`}${dynamic ? '; prices may vary with inputs' : ''}`,
    ),
  )
}
