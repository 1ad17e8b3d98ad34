/**
 * GET /v1/tokenlist: the operator's tokens as wallets read them (Uniswap token lists, version 1 of
 * the schema).
 */

import { endpoint } from '#http/endpoint.ts'
import * as s from '#http/schema.ts'
import { nameOf, type Token } from '#present/tokenDetail.ts'
import { findTokens } from '#store/read/tokens.ts'
import { type TokenServices, tokenChainOf, tokenOf } from './tokens.ts'

const tokenlistSchema = s.named('Tokenlist', {
  name: s.text(),
  timestamp: s.timestamp,
  version: s.object({ major: s.count, minor: s.count, patch: s.count }),
  tokens: s.array(
    s.named('TokenlistEntry', {
      chainId: s.count,
      address: s.address,
      name: s.text(),
      symbol: s.text(),
      decimals: s.integer({ minimum: 0, maximum: 255 }),
      logoURI: s.optional(s.text()),
    }),
  ),
})

interface Tokenlist {
  readonly chainId: number
  readonly name: string
  readonly changedAtSeconds: number
  readonly tokens: readonly Token[]
}

const chainNames: Readonly<Record<number, string>> = { 4217: 'Tempo', 42431: 'Tempo Testnet' }

export const readTokenlistEndpoint = endpoint({
  path: '/v1/tokenlist',
  summary: "The operator's tokens as a token list document.",
  description:
    'In the order of the list; `version.patch` is the number of tokens. Names and symbols are cut to what the schema of token lists allows.',
  response: tokenlistSchema,
  errors: ['projection_incomplete', 'coverage_incomplete'],
  read: async ({ chainId, signal, standing }, services: TokenServices): Promise<Tokenlist> => {
    const { curatedTokens } = services
    const addresses = curatedTokens.of(chainId).map(({ address }) => address)
    const chain = tokenChainOf(services, chainId, standing)
    const found = await findTokens(chain, addresses, { totals: false }, signal)
    const rows = addresses.flatMap((token) => found.get(token) ?? [])
    return {
      chainId,
      name: chainNames[chainId] ?? `Chain ${chainId}`,
      changedAtSeconds: curatedTokens.changedAtSeconds,
      tokens: rows.map((row) => tokenOf(row, curatedTokens, chainId)),
    }
  },
  present: ({ chainId, name, changedAtSeconds, tokens }) => {
    const entries = tokens.flatMap((token) => entryOf(chainId, token) ?? [])
    return {
      name,
      timestamp: s.isoSeconds(changedAtSeconds),
      version: { major: 1, minor: 0, patch: entries.length },
      tokens: entries,
    }
  },
  cache: 'curated',
})

/** The schema's bounds; what it does not allow is left out. */
const NAME_CHARACTERS_MAX = 40
const SYMBOL_CHARACTERS_MAX = 20
const outsideName = /[^ \w.'+\-%/À-ÖØ-öø-ÿ:]/g
const outsideSymbol = /[^a-zA-Z0-9+\-%/$.]/g

/** Null for a token that has no symbol the schema allows, or whose decimals are not known. */
function entryOf(chainId: number, token: Token): s.Static<typeof tokenlistSchema>['tokens'][number] | null {
  const { name, symbol, decimals, logoUri } = nameOf(token)
  const shortSymbol = symbol.replaceAll(outsideSymbol, '').slice(0, SYMBOL_CHARACTERS_MAX)
  if (shortSymbol === '' || decimals === null) return null
  const shortName = name.replaceAll(outsideName, '').slice(0, NAME_CHARACTERS_MAX)
  return {
    chainId,
    address: token.row.token,
    name: shortName === '' ? shortSymbol : shortName,
    symbol: shortSymbol,
    decimals,
    ...(logoUri !== null && URL.canParse(logoUri) && { logoURI: logoUri }),
  }
}
