/** GET /feed/{chainId}/pairs and /feed/{chainId}/pairs/{pairId}. */
import { getAddress } from 'viem/utils'
import { endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { partyOf } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { formattedAmount } from '#present/formattedAmount.ts'
import type { PairRow } from '#store/read/exchange/exchangeChain.ts'
import { findFeedPair, listFeedPairs } from '#store/read/exchange/feed.ts'
import type { ExchangeServices } from '../exchange/services.ts'
import { tokenChainOf } from '../tokens/tokens.ts'
import {
  checksummed,
  type FeedToken,
  feedTokenSchema,
  presentFeedToken,
  readFeedTokens,
  scaled,
  sourceOf,
  supplies,
} from './assets.ts'

const dexKey = 'tempo-stablecoin-dex'

const feedPairSchema = s.named('FeedPair', {
  id: s.hash,
  dexKey: s.text({ description: `\`${dexKey}\`.` }),
  asset0Id: checksummed,
  asset1Id: checksummed,
  token0: feedTokenSchema,
  token1: feedTokenSchema,
  reserve0: scaled,
  reserve1: scaled,
  createdAtBlockNumber: s.count,
  createdAtBlockTimestamp: s.count,
  createdAtTxnId: s.hash,
})

interface ShownPair {
  readonly row: PairRow
  readonly base: FeedToken
  readonly quote: FeedToken
}

function presentFeedPair({ row, base, quote }: ShownPair): s.Static<typeof feedPairSchema> {
  return {
    id: row.key,
    dexKey,
    asset0Id: getAddress(row.base),
    asset1Id: getAddress(row.quote),
    token0: presentFeedToken(base),
    token1: presentFeedToken(quote),
    reserve0: formattedAmount(row.reserve0, base.decimals),
    reserve1: formattedAmount(row.reserve1, quote.decimals),
    createdAtBlockNumber: row.blockNumber,
    createdAtBlockTimestamp: row.timestampSeconds,
    createdAtTxnId: row.txHash,
  }
}

const PAIRS_MAX = 500
const PAIRS_DEFAULT = 50

const assets =
  '`asset0` is the base token, `asset1` what it is quoted in; reserves are what open asks and bids hold after the newest final block. ' +
  supplies

export const listFeedPairsEndpoint = endpoint({
  path: '/feed/{chainId}/pairs',
  summary: 'Pairs of the exchange for aggregators, newest first.',
  description: assets,
  filters: { limit: p.withDefault(p.described(p.integer(1, PAIRS_MAX), 'Pairs.'), PAIRS_DEFAULT) },
  chain: 'path',
  response: s.object({ pairs: s.array(feedPairSchema) }),
  errors: ['projection_incomplete', 'coverage_incomplete', 'overloaded'],
  read: async ({ chainId, filters, caller, signal }, services: ExchangeServices) => {
    const rows = await listFeedPairs(tokenChainOf(services, chainId), filters.limit, signal)
    return withTokens(services, chainId, rows, partyOf(caller), signal)
  },
  present: ({ pairs }) => ({ pairs: pairs.map(presentFeedPair) }),
  headers: sourceOf,
  cache: 'feed',
})

const pairId = p.described(
  p.transactionHash,
  'Key of the pair: 0x and 64 hex characters, in any case.',
  'pair_id_invalid',
)

export const readFeedPairEndpoint = endpoint({
  path: '/feed/{chainId}/pairs/{pairId}',
  summary: 'A pair of the exchange, for aggregators.',
  description: assets,
  params: { pairId },
  chain: 'path',
  response: s.object({ pair: feedPairSchema }),
  errors: ['not_found', 'projection_incomplete', 'coverage_incomplete', 'overloaded'],
  read: async ({ chainId, path, caller, signal }, services: ExchangeServices) => {
    const row = await findFeedPair(tokenChainOf(services, chainId), path.pairId, signal)
    const found = await withTokens(services, chainId, row ? [row] : [], partyOf(caller), signal)
    const [pair] = found.pairs
    if (!pair) throw new ApiError('not_found', 'No such pair.')
    return { ...found, pair }
  },
  present: ({ pair }) => ({ pair: presentFeedPair(pair) }),
  headers: sourceOf,
  cache: 'feed',
})

/**
 * @throws ApiError upstream_error where nothing tells a pair's token: a list without it would be
 * believed
 */
async function withTokens(
  services: ExchangeServices,
  chainId: number,
  rows: readonly PairRow[],
  party: string,
  signal: AbortSignal,
): Promise<{ readonly pairs: readonly ShownPair[]; readonly isFromNode: boolean }> {
  if (rows.length === 0) return { pairs: [], isFromNode: false }
  const asked = rows.flatMap(({ base, quote }) => [base, quote])
  const { tokens, isFromNode } = await readFeedTokens(services, chainId, asked, party, signal)
  const pairs = rows.map((row) => {
    const [base, quote] = [tokens.get(row.base), tokens.get(row.quote)]
    if (base && quote) return { row, base, quote }
    throw new ApiError('upstream_error', `Nothing tells the tokens of pair ${row.key}.`)
  })
  return { pairs, isFromNode }
}
