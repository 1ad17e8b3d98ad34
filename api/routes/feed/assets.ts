/**
 * Tokens as aggregators read them: GET /feed/{chainId}/assets/{address}, and what pairs show of
 * theirs.
 */
import { formatUnits, getAddress } from 'viem/utils'
import type { Address } from '#primitives.ts'
import { findTokens, type TokenRow } from '#store/read/tokens.ts'
import { endpoint } from '../../http/endpoint.ts'
import { ApiError } from '../../http/errors.ts'
import * as p from '../../http/parameter.ts'
import * as s from '../../http/schema.ts'
import type { ExchangeServices } from '../exchange/services.ts'
import { tokenChainOf } from '../tokens/tokens.ts'

/** Aggregators tell ids apart by their case. */
export const checksummed = s.text({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'Address with the checksum of EIP-55.',
  examples: ['0x20C0000000000000000000000000000000000000'],
})

/** Without exponent, as many decimals as the token has. */
export const scaled = s.text({
  pattern: '^[0-9]+(\\.[0-9]+)?$',
  description: "Decimal number in the token's unit.",
  examples: ['1.5'],
})

const assetFields = {
  name: s.text(),
  symbol: s.text(),
  decimals: s.integer({ minimum: 0, maximum: 255 }),
  totalSupply: scaled,
}

export const feedTokenSchema = s.named('FeedToken', { address: checksummed, ...assetFields })

/** An empty name or symbol halts an aggregator; the address stands in for it. */
export function presentFeedToken({ token, name, symbol, decimals, totals }: TokenRow) {
  const address = getAddress(token)
  const supply = totals?.totalSupply ?? 0n
  return {
    address,
    name: name.trim() === '' ? address : name,
    symbol: symbol.trim() === '' ? address : symbol,
    decimals,
    totalSupply: formatUnits(supply < 0n ? 0n : supply, decimals),
  }
}

/** Tokens with their supplies, those that exist. */
export const readFeedTokens = (
  services: ExchangeServices,
  chainId: number,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TokenRow>> =>
  findTokens(tokenChainOf(services, chainId), [...new Set(tokens)], { totals: true }, signal)

export const readFeedAssetEndpoint = endpoint({
  path: '/feed/{chainId}/assets/{address}',
  summary: 'A token, for aggregators.',
  params: { address: p.address },
  chain: 'path',
  response: s.object({ asset: s.named('FeedAsset', { id: checksummed, ...assetFields }) }),
  errors: ['not_found', 'projection_incomplete', 'coverage_incomplete'],
  read: async ({ chainId, path, signal }, services: ExchangeServices): Promise<TokenRow> => {
    const found = (await readFeedTokens(services, chainId, [path.address], signal)).get(path.address)
    if (!found) throw new ApiError('not_found', 'No such token.')
    return found
  },
  present: (row) => {
    const { address: id, ...asset } = presentFeedToken(row)
    return { asset: { id, ...asset } }
  },
  cache: 'feed',
})
