/** GET /v1/exchange/pairs/{base}/depth. */

import { endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { type Caller, partyOf } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import {
  type Names,
  pairTokensSchema,
  presentPairTokens,
  presentPrice,
  priceSchema,
} from '#present/exchange.ts'
import { type Depth, type LevelRow, readDepth } from '#store/read/exchange/depth.ts'
import { readsOf } from '../../services.ts'
import { atBlock, tokenChainOf } from '../tokens/tokens.ts'
import { isBehind, readNodeDepth } from './nodeBook.ts'
import { base, type ExchangeServices, readNames } from './services.ts'

const levelSchema = s.named('DepthLevel', {
  id: s.text(),
  tick: s.integer(),
  price: priceSchema,
  size: s.amount,
  cumulativeSize: s.amount,
})

interface ShownDepth {
  readonly depth: Depth
  readonly names: Names
  readonly isFromNode: boolean
}

const LEVELS_MAX = 200
const LEVELS_DEFAULT = 50

export const readDepthEndpoint = endpoint({
  path: '/v1/exchange/pairs/{base}/depth',
  summary: 'What rests at each price of a pair, best prices first.',
  description:
    'Sizes are in base tokens. Exact after the newest block, or after `atBlock`. While the order book is not ready the answer comes from the node, with `svc-source: node`.',
  params: { base },
  filters: {
    levels: p.withDefault(p.described(p.integer(1, LEVELS_MAX), 'Prices of each side.'), LEVELS_DEFAULT),
    atBlock,
  },
  include: ['tokens'],
  response: s.named('Depth', {
    base: pairTokensSchema.properties.base,
    quote: pairTokensSchema.properties.quote,
    bids: s.array(levelSchema),
    asks: s.array(levelSchema),
  }),
  errors: [
    'pair_not_found',
    'block_not_reached',
    'projection_incomplete',
    'coverage_incomplete',
    'overloaded',
  ],
  read: async (call, services: ExchangeServices): Promise<ShownDepth> => {
    const { depth, isFromNode } = await readOrAsk(services, call)
    if (!depth) throw new ApiError('pair_not_found')
    return { depth, names: await readNames(services, call, [depth.pair]), isFromNode }
  },
  present: ({ depth: { pair, bids, asks }, names }: ShownDepth) => {
    const { base, quote } = presentPairTokens(pair, names)
    return {
      base,
      quote,
      bids: presentLevels(bids, `${pair.key}-bid`),
      asks: presentLevels(asks, `${pair.key}-ask`),
    }
  },
  headers: ({ isFromNode }) => (isFromNode ? { 'svc-source': 'node' } : {}),
  cache: 'feed',
})

interface DepthAsked {
  readonly chainId: number
  readonly path: { readonly base: Parameters<typeof readDepth>[1] }
  readonly filters: Parameters<typeof readDepth>[2]
  readonly caller: Caller
  readonly signal: AbortSignal
}

async function readOrAsk(
  services: ExchangeServices,
  { chainId, path, filters, caller, signal }: DepthAsked,
): Promise<Pick<ShownDepth, 'isFromNode'> & { readonly depth: Depth | null }> {
  const chain = tokenChainOf(services, chainId)
  try {
    return { depth: await readDepth(chain, path.base, filters, signal), isFromNode: false }
  } catch (error) {
    if (!isBehind(error) || filters.atBlock !== undefined) throw error
    const { node } = readsOf(services, chainId)
    const depth = await readNodeDepth(node, path.base, filters.levels, partyOf(caller), signal)
    return { depth, isFromNode: true }
  }
}

function presentLevels(levels: readonly LevelRow[], id: string): s.Static<typeof levelSchema>[] {
  let cumulative = 0n
  return levels.map(({ tick, size }) => {
    cumulative += size
    return {
      id: `${id}-${tick}`,
      tick,
      price: presentPrice(tick),
      size: `${size}`,
      cumulativeSize: `${cumulative}`,
    }
  })
}
