/** Sellers as functions, and a buyer that pays each once and remembers it. */
import type { EgressAnswer, EgressRequest } from '#egress/Egress.ts'
import type { CatalogService, ServiceEndpoint } from '#orchestrator/catalog/service.ts'
import type { ResolvedEndpoint } from '#orchestrator/plan/EndpointFinder.ts'
import type { PlanNode } from '#orchestrator/plan/plan.ts'
import type { Buyer, Paid, Purchase, Purchased } from '#wallet/buyer.ts'

export const token: `0x${string}` = `0x${'22'.repeat(20)}`

export interface Sale {
  /** The end of a call; its input is the request's. */
  readonly answer: (purchase: Purchase, times: number, signal: AbortSignal) => Purchased | Promise<Purchased>
  readonly completion?: ServiceEndpoint['completion']
  /** The answers to polls, in their order; the last one again and again. */
  readonly polls?: readonly (EgressAnswer | null)[]
}

export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

export const paidFor = (purchase: Purchase, units: bigint): Paid => ({
  chainId: 1337,
  currency: token,
  amount: units,
  units,
  reference: `0x${Buffer.from(`${purchase.jobId}${purchase.nodeId}${purchase.attempt}`).toString('hex')}`,
})

/** An answer that was paid for. */
export const sold = (
  purchase: Purchase,
  value: unknown,
  units = purchase.unitsMax,
  status = 200,
): Purchased => ({
  kind: 'answered',
  status,
  contentType: 'application/json',
  body: json(value),
  paid: units > 0n ? paidFor(purchase, units) : null,
})

export const inputOf = ({ body, url }: Purchase): unknown =>
  body === null ? Object.fromEntries(new URL(url).searchParams) : JSON.parse(body)

/** By path: what is sold there. */
export class ScriptedSellers {
  readonly calls: Purchase[] = []
  readonly polled = new Map<string, number>()
  readonly #sales: Readonly<Record<string, Sale>>
  #underWay = 0

  constructor(sales: Readonly<Record<string, Sale>>) {
    this.#sales = sales
  }

  readonly endpointOf = async (node: PlanNode): Promise<ResolvedEndpoint | null> => {
    const sale = this.#sales[node.path]
    if (!sale) return null
    const endpoint = { method: node.method, path: node.path, requestFormat: 'json', paymentOffers: [] }
    return {
      // The parts of both that an engine reads.
      service: { id: node.serviceId, serviceUrl: `https://${node.serviceId}.example` } as CatalogService,
      endpoint: {
        ...endpoint,
        ...(sale.completion && { completion: sale.completion }),
      } as unknown as ServiceEndpoint,
      url: new URL(`https://${node.serviceId}.example${node.path}`),
    }
  }

  readonly buyer: Buyer = {
    buy: async (purchase, signal) => {
      this.calls.push(purchase)
      signal.throwIfAborted()
      const times = this.calls.filter(
        ({ nodeId, jobId }) => nodeId === purchase.nodeId && jobId === purchase.jobId,
      )
      const sale = this.#sales[new URL(purchase.url).pathname]
      if (!sale) throw new Error('nothing is sold there')
      this.#underWay++
      try {
        return await sale.answer(purchase, times.length, signal)
      } finally {
        this.#underWay--
      }
    },
    paidCalls: () => this.#underWay,
    recover: async () => new Map(),
  }

  readonly egress = {
    fetch: async ({ url }: EgressRequest): Promise<EgressAnswer> => {
      const path = new URL(url).pathname
      const times = this.polled.get(path) ?? 0
      this.polled.set(path, times + 1)
      const [, sale] =
        Object.entries(this.#sales).find(
          ([, { completion }]) => completion && path.startsWith(prefixOf(completion.path)),
        ) ?? []
      const answer = sale?.polls?.[Math.min(times, sale.polls.length - 1)]
      if (!answer) throw new Error('nobody answers polls there')
      return answer
    },
  }
}

const prefixOf = (path: string): string => path.slice(0, path.indexOf(':'))

export const polledAnswer = (value: unknown, status = 200): EgressAnswer => ({
  status,
  headers: {},
  contentType: 'application/json',
  body: json(value),
})
