/**
 * A plan in its stages, from top to bottom: nodes as cards, dependencies as lines behind them,
 * prices and errors at the nodes.
 */
import type { DraftNode, PlanDraft } from '../../model/planDraft.ts'
import type { QuoteNode } from '../../model/services.ts'
import { element, svg } from '../element.ts'

export interface Marks {
  /** By node id. */
  readonly prices: ReadonlyMap<string, QuoteNode>
  /** By the node's place in the text. */
  readonly problems: ReadonlyMap<number, readonly string[]>
}

interface Line {
  readonly from: HTMLElement
  readonly to: HTMLElement
}

export class Drawing {
  readonly #host: HTMLElement
  readonly #lines = svg('svg', { class: 'lines-between', 'aria-hidden': 'true' })
  #drawn: readonly Line[] = []

  constructor(host: HTMLElement) {
    this.#host = host
    // Where cards lie depends on the window, on fonts, and on whether the page is shown.
    new ResizeObserver(() => this.#draw()).observe(host)
  }

  draw({ stages, stuck }: PlanDraft, marks: Marks): void {
    const nodes = [...stages.flat(), ...stuck]
    const cards = new Map(nodes.map((node) => [node, cardOf(node, marks)]))
    const listOf = (title: string, of: readonly DraftNode[]) =>
      element(
        'section',
        { class: 'stage', 'aria-label': title },
        element('h3', {}, title),
        element('div', { class: 'stage-nodes' }, ...of.map((node) => cards.get(node) ?? null)),
      )
    this.#host.replaceChildren(
      this.#lines,
      ...stages.map((stage, index) => listOf(`Stage ${index + 1}`, stage)),
      ...(stuck.length > 0 ? [listOf('These wait for each other', stuck)] : []),
    )
    const byId = new Map(nodes.map((node) => [node.id, node]))
    this.#drawn = nodes.flatMap((node) =>
      node.dependsOn.flatMap((id) => {
        const earlier = byId.get(id)
        const from = earlier && cards.get(earlier)
        const to = cards.get(node)
        return from && to && from !== to ? [{ from, to }] : []
      }),
    )
    this.#draw()
  }

  #draw(): void {
    const ground = this.#host.getBoundingClientRect()
    this.#lines.setAttribute('viewBox', `0 0 ${ground.width} ${ground.height}`)
    this.#lines.setAttribute('width', `${ground.width}`)
    this.#lines.setAttribute('height', `${ground.height}`)
    this.#lines.replaceChildren(...this.#drawn.map((line) => svg('path', { d: curveOf(line, ground) })))
  }
}

/** From the middle of one card's lower edge to that of the other's upper edge. */
function curveOf({ from, to }: Line, ground: DOMRect): string {
  const start = from.getBoundingClientRect()
  const end = to.getBoundingClientRect()
  const x1 = start.left + start.width / 2 - ground.left
  const y1 = start.bottom - ground.top
  const x2 = end.left + end.width / 2 - ground.left
  const y2 = end.top - ground.top
  const bend = (y2 - y1) / 2
  return `M ${x1} ${y1} C ${x1} ${y1 + bend}, ${x2} ${y2 - bend}, ${x2} ${y2}`
}

function cardOf(node: DraftNode, { prices, problems }: Marks): HTMLElement {
  const { index, id, serviceId, method, path, dependsOn } = node
  const price = prices.get(id)
  const wrong = problems.get(index) ?? []
  return element(
    'article',
    { class: wrong.length > 0 ? 'node wrong' : 'node', 'aria-label': id },
    element(
      'div',
      { class: 'node-head' },
      element('h4', {}, id),
      price ? element('span', { class: 'price' }, `${price.amount} ${price.currency}`) : null,
    ),
    element('p', { class: 'node-service' }, serviceId),
    element('p', { class: 'call' }, element('b', {}, method), ' ', path),
    dependsOn.length > 0 ? element('p', { class: 'after' }, `after ${dependsOn.join(', ')}`) : null,
    price?.input === 'example' ? element('p', { class: 'after' }, 'priced with the example input') : null,
    wrong.length > 0
      ? element('ul', { class: 'node-problems' }, ...wrong.map((text) => element('li', {}, text)))
      : null,
  )
}
