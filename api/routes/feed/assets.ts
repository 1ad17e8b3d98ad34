/**
 * Tokens as aggregators read them: GET /feed/{chainId}/assets/{address}, and what pairs show of
 * theirs.
 */
import { getAddress, parseAbi } from 'viem/utils'
import { endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { partyOf } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { formattedAmount } from '#present/formattedAmount.ts'
import { decimalsSchema } from '#present/token.ts'
import type { Address } from '#primitives.ts'
import { findTokens, type TokenRow } from '#store/read/tokens.ts'
import { readsOf } from '../../services.ts'
import { isBehind } from '../exchange/nodeBook.ts'
import type { ExchangeServices } from '../exchange/services.ts'
import { tokenChainOf } from '../tokens/tokens.ts'

/** Aggregators tell ids apart by their case. */
export const checksummed = s.text({
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'Address with the checksum of EIP-55.',
  examples: ['0x20C0000000000000000000000000000000000000'],
})

/** Without exponent, as many decimals as the token has. */
export const scaled = s.nullable(
  s.text({
    pattern: '^[0-9]+(\\.[0-9]+)?$',
    description: "Decimal number in the token's unit; null where its decimals are not known.",
    examples: ['1.5'],
  }),
)

const assetFields = {
  name: s.text(),
  symbol: s.text(),
  decimals: decimalsSchema,
  totalSupply: scaled,
}

export const feedTokenSchema = s.named('FeedToken', { address: checksummed, ...assetFields })

/** A token with its supply. */
export interface FeedToken extends TokenRow {
  readonly supply: bigint
}

export interface FeedTokens {
  /** Those that exist, by address. */
  readonly tokens: ReadonlyMap<string, FeedToken>
  /** Supplies are the node's. */
  readonly isFromNode: boolean
}

/** An empty name or symbol halts an aggregator; the address stands in for it. */
export function presentFeedToken({ token, name, symbol, decimals, supply }: FeedToken) {
  const address = getAddress(token)
  return {
    address,
    name: name.trim() === '' ? address : name,
    symbol: symbol.trim() === '' ? address : symbol,
    decimals,
    totalSupply: formattedAmount(supply < 0n ? 0n : supply, decimals),
  }
}

/**
 * Supplies follow from balances. Where those are not ready, or never will be because no node tells
 * what genesis gave, they are the node's own.
 */
export async function readFeedTokens(
  services: ExchangeServices,
  chainId: number,
  asked: readonly Address[],
  party: string,
  signal: AbortSignal,
): Promise<FeedTokens> {
  const chain = tokenChainOf(services, chainId)
  const tokens = [...new Set(asked)]
  try {
    const rows = await findTokens(chain, tokens, { totals: true }, signal)
    return { tokens: withSupplies(rows, ({ totals }) => totals?.totalSupply), isFromNode: false }
  } catch (error) {
    if (!isBehind(error)) throw error
    const rows = await findTokens(chain, tokens, { totals: false }, signal)
    const { node } = readsOf(services, chainId)
    const answers = await node.ask(
      tokens.map((to) => ({ to, ask: totalSupply, args: [] })),
      party,
      signal,
    )
    const told = new Map<string, unknown>(tokens.map((token, index) => [token, answers[index]]))
    if ([...rows.keys()].some((token) => typeof told.get(token) !== 'bigint')) throw error
    return { tokens: withSupplies(rows, ({ token }) => told.get(token)), isFromNode: true }
  }
}

const [totalSupply] = parseAbi(['function totalSupply() view returns (uint256)'])

const withSupplies = (
  rows: ReadonlyMap<string, TokenRow>,
  supplyOf: (row: TokenRow) => unknown,
): ReadonlyMap<string, FeedToken> =>
  new Map(
    [...rows].map(([token, row]) => {
      const supply = supplyOf(row)
      return [token, { ...row, supply: typeof supply === 'bigint' ? supply : 0n }]
    }),
  )

/** Says whose supplies are told. */
export const sourceOf = ({ isFromNode }: { readonly isFromNode: boolean }) =>
  isFromNode ? { 'svc-source': 'node' } : {}

export const supplies =
  'While balances are not ready, or cannot be, supplies come from the node, with `svc-source: node`.'

export const readFeedAssetEndpoint = endpoint({
  path: '/feed/{chainId}/assets/{address}',
  summary: 'A token, for aggregators.',
  description: supplies,
  params: { address: { ...p.address, exampleOf: 'token' } },
  chain: 'path',
  response: s.object({ asset: s.named('FeedAsset', { id: checksummed, ...assetFields }) }),
  errors: ['not_found', 'projection_incomplete', 'coverage_incomplete', 'overloaded'],
  read: async ({ chainId, path, caller, signal }, services: ExchangeServices) => {
    const { tokens, isFromNode } = await readFeedTokens(
      services,
      chainId,
      [path.address],
      partyOf(caller),
      signal,
    )
    const token = tokens.get(path.address)
    if (!token) throw new ApiError('not_found', 'No such token.')
    return { token, isFromNode }
  },
  present: ({ token }) => {
    const { address: id, ...asset } = presentFeedToken(token)
    return { asset: { id, ...asset } }
  },
  headers: sourceOf,
  cache: 'feed',
})
