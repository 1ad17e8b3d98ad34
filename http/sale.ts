/** A request as it is known before it is paid for: that it can be answered, and what it costs. */
import type { Clock } from '#runtime/runtime.ts'
import type { Endpoint, PricedRequest } from './endpoint.ts'
import { partyOf, type Sale } from './request/access.ts'
import { type Freshness, waitForMinBlock } from './request/freshness.ts'
import type { Turns } from './request/Turns.ts'

/** The means to look at a request beforehand. */
interface SaleContext<Services> {
  readonly services: Services
  readonly turns: Turns
  readonly freshness: Freshness | null
  readonly clock: Clock
}

export function saleOf<Services>(
  endpoint: Endpoint<Services>,
  asked: PricedRequest,
  context: SaleContext<Services>,
): Sale {
  const { services } = context
  const { price } = endpoint
  const { chainId } = asked
  return {
    ...(chainId !== undefined && { chainId }),
    assertAnswerable: async () => {
      context.turns.assertRoom(endpoint.access, partyOf(asked.caller))
      await assertChainReadable(asked, context)
      await endpoint.assertAnswerable?.(asked, services)
    },
    ...(price && { price: () => price(asked, services) }),
  }
}

async function assertChainReadable(
  { chainId, query, signal }: PricedRequest,
  { freshness, clock }: Pick<SaleContext<never>, 'freshness' | 'clock'>,
): Promise<void> {
  if (chainId === undefined || !freshness) return
  // The parameter's own type: minBlockParameter reads block numbers.
  const minBlock = query['minBlock'] as number | undefined
  if (minBlock !== undefined) await waitForMinBlock({ freshness, clock, signal }, chainId, minBlock)
  await freshness.assertReadable?.(chainId)
}
