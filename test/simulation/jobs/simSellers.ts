/** Sellers as a process reaches them. */
import type { Egress } from '#egress/Egress.ts'
import type { CatalogService, ServiceEndpoint } from '#orchestrator/catalog/service.ts'
import type { ResolvedEndpoint } from '#orchestrator/plan/EndpointFinder.ts'
import type { PlanNode } from '#orchestrator/plan/plan.ts'
import type { Purchase, Purchased } from '#wallet/buyer.ts'
import type { Kernel, SimProcess } from '../kernel.ts'
import type { Mood, SimMarket } from './simMarket.ts'

export interface SellersWorld {
  readonly kernel: Kernel
  readonly market: SimMarket
}

const line = { latencyMs: [10, 800], tailMs: 20_000 } as const

/** @param label of the call in a trace */
export function buyAt(
  { kernel, market }: SellersWorld,
  process: SimProcess,
  { purchase, mood, label }: { readonly purchase: Purchase; readonly mood: Mood; readonly label: string },
): Promise<Purchased> {
  const travel = kernel.travel(line)
  return kernel.call(process, `${process.name} buys ${label}`, travel, () => market.buy(purchase, mood))
}

export const pollingOf = ({ kernel, market }: SellersWorld, process: SimProcess): Pick<Egress, 'fetch'> => ({
  fetch: ({ url }) =>
    kernel.call(process, `${process.name} polls`, kernel.travel(line), () => {
      const { status, done } = market.poll(new URL(url).host, url)
      const body = Buffer.from(JSON.stringify({ status: done ? 'done' : 'pending' }))
      return { status, headers: {}, contentType: 'application/json', body }
    }),
})

/** A service and its endpoint, as an engine reads them. */
export function endpointOf({ method, path }: PlanNode, isPolled: boolean): ResolvedEndpoint {
  const completion = {
    ...{ method: 'GET', path: `${path}-work/:id`, idPointer: '/id', statusPointer: '/status' },
    ...{ successStatuses: ['done'], failureStatuses: ['failed'], maxAttempts: 120, pollIntervalSeconds: 3 },
  }
  const endpoint: unknown = { method, requestFormat: 'json', ...(isPolled && { completion }) }
  return {
    service: { id: 's', serviceUrl: 'https://s.example' } as CatalogService,
    endpoint: endpoint as ServiceEndpoint,
    url: new URL(`https://s.example${path}`),
  }
}
