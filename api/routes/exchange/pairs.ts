/** GET /v1/exchange/pairs and /v1/exchange/pairs/{base}. */

import { endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { type Names, pairTokensSchema, presentPairTokens } from '#present/exchange.ts'
import type { PairRow } from '#store/read/exchange/exchangeChain.ts'
import { listPairs, readPair } from '#store/read/exchange/pairs.ts'
import { tokenChainOf } from '../tokens/tokens.ts'
import { base, type ExchangeServices, errors, readNames } from './services.ts'

const pairSchema = s.named('Pair', {
  id: s.hash,
  ...pairTokensSchema.properties,
  blockNumber: s.count,
  transactionHash: s.hash,
  timestamp: s.timestamp,
  liquidity: s.optional(s.amount),
})

interface ShownPair {
  readonly row: PairRow
  readonly names: Names
}

const presentPair = ({ row, names }: ShownPair): s.Static<typeof pairSchema> => ({
  id: row.key,
  ...presentPairTokens(row, names),
  blockNumber: row.blockNumber,
  transactionHash: row.txHash,
  timestamp: s.isoSeconds(row.timestampSeconds),
  liquidity: `${row.reserve0}`,
})

const liquidity =
  '`liquidity` is what open asks have left, in base tokens. A pair of genesis was created in block 0, by transaction 0x00…00.'

export const listPairsEndpoint = listEndpoint({
  path: '/v1/exchange/pairs',
  summary: 'Pairs of the exchange.',
  description: `All pages of a walk show one block: that of the first page. ${liquidity}`,
  filters: {
    sort: p.withDefault(
      p.described(p.oneOf('created', 'liquidity'), '`created`: by creation. `liquidity`: by `liquidity`.'),
      'created',
    ),
  },
  include: ['tokens', 'totalCount'],
  item: pairSchema,
  errors,
  list: async (call, services: ExchangeServices) => {
    const { chainId, filters, page, standing } = call
    const found = await listPairs(tokenChainOf(services, chainId, standing), filters.sort, page)
    const names = await readNames(services, { ...call, signal: page.signal }, found.rows)
    return { ...found, rows: found.rows.map((row): ShownPair => ({ row, names })) }
  },
  present: presentPair,
})

export const readPairEndpoint = endpoint({
  path: '/v1/exchange/pairs/{base}',
  summary: 'The pair of a base token and the token it is quoted in now.',
  description: `A base token whose quote token changed has one pair for each; the older ones are in the list. ${liquidity}`,
  params: { base },
  include: ['tokens'],
  response: pairSchema,
  errors: [...errors, 'pair_not_found'],
  read: async (call, services: ExchangeServices): Promise<ShownPair> => {
    const chain = tokenChainOf(services, call.chainId, call.standing)
    const row = await readPair(chain, call.path.base, call.signal)
    if (!row) throw new ApiError('pair_not_found')
    return { row, names: await readNames(services, call, [row]) }
  },
  present: presentPair,
  cache: 'feed',
})
