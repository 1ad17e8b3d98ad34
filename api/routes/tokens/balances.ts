/** GET /v1/addresses/{address}/balances and /v1/tokens/{token}/holders. */

import type { ErrorCode } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import { partyOf } from '#http/request/access.ts'
import { dataPageRules, type ListPage, type PageRules } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { approximateSchema, type Balance, balanceSchema, presentBalance } from '#present/balance.ts'
import { presentTokenSummary, tokenSummarySchema } from '#present/token.ts'
import type { TokenName } from '#present/tokenNames.ts'
import type { Address } from '#primitives.ts'
import type { TokenChoice } from '#store/follow/balances/compileBalances.ts'
import { ProjectionIncompleteError } from '#store/follow/readFollowed.ts'
import { type BalancePage, type BalanceRow, listBalances, listHolders } from '#store/read/balances.ts'
import { findPoolTokens } from '#store/read/feePools.ts'
import type { TokenChain } from '#store/read/tokens.ts'
import { pathUsdAddress } from '#transform/addresses.ts'
import { type NodeReader, readsOf } from '../../services.ts'
import { assertNoCoin } from './coin.ts'
import { readNodeBalances } from './nodeBalances.ts'
import {
  atBlock,
  currencyFilters,
  sameWord,
  type TokenServices,
  tokenChainOf,
  verifiedAsked,
} from './tokens.ts'

/** A walk shows the state of its first page's block, however long it takes. */
const pinnedPageRules: PageRules = { ...dataPageRules, orders: 'desc' }

const errors: readonly ErrorCode[] = ['projection_incomplete', 'coverage_incomplete', 'block_not_reached']

const pinned = 'All pages of a walk show one block: that of the first page, or `atBlock`.'

const whileBehind =
  'While balances are not ready, those of tokens that a filter names (`verified=true`, `currency`, `feeEligible=true`) come from the node as one page, with `svc-source: node`; others are a 503.'

export const listBalancesEndpoint = listEndpoint({
  path: '/v1/addresses/{address}/balances',
  summary: 'What an address has of each token, most first.',
  description: `On Tempo of TIP-20 tokens, elsewhere of every ERC-20. ${pinned} ${whileBehind}`,
  params: { address: p.address },
  filters: {
    atBlock,
    ...currencyFilters,
    feeEligible: p.described(p.boolean, 'Whether fees can be paid in the token.'),
  },
  include: ['totalCount'],
  pages: pinnedPageRules,
  item: balanceSchema,
  cache: 'balances',
  errors: [...errors, 'overloaded'],
  list: async ({ chainId, path, filters, page, caller, standing }, services: TokenServices) => {
    const chain = tokenChainOf(services, chainId, standing)
    const eligible = await findFeeTokens(services, chain, filters, page.signal)
    const tokens = await chooseTokens(services, chain, filters, eligible, page.signal)
    const { node } = readsOf(services, chainId)
    const asked = { holder: path.address, tokens, at: filters.atBlock, party: partyOf(caller) }
    const found = await readBalances(node, chain, asked, page)
    const addresses = found.rows.map(({ address }) => address)
    const names = await services.tokenNames.read(chainId, addresses, page.signal)
    const rows = found.rows.map((row): Balance => balanceOf(row, names, eligible))
    return { ...found, rows }
  },
  present: presentBalance,
})

interface Asked {
  readonly holder: Address
  readonly tokens: TokenChoice
  readonly at: number | undefined
  readonly party: string
}

/** From the store, or of tokens the request names from the node while the store is behind. */
async function readBalances(
  node: NodeReader,
  chain: TokenChain,
  asked: Asked,
  page: ListPage,
): Promise<BalancePage & { readonly source?: 'node' }> {
  try {
    return await listBalances(chain, asked, asked.at, page)
  } catch (error) {
    if (!(error instanceof ProjectionIncompleteError) || asked.at !== undefined) throw error
    const rows = await readNodeBalances(node, asked.holder, asked.tokens, page, asked.party)
    if (rows === null) throw error
    return { rows, next: null, source: 'node', ...(page.wantTotal && { totalCount: rows.length }) }
  }
}

const balanceOf = (
  { address, balance, approximate }: BalanceRow,
  names: ReadonlyMap<string, TokenName>,
  eligible: ReadonlySet<string> | null,
): Balance => ({
  token: address,
  balance,
  approximate,
  name: names.get(address),
  feeEligible: eligible?.has(address),
})

interface BalanceFilters {
  readonly atBlock?: number | undefined
  readonly currency?: string | undefined
  readonly feeEligible?: boolean | undefined
  readonly verified?: boolean | undefined
}

/**
 * Verified tokens with a fee pool, and the default fee token. Null where fees are not paid in
 * tokens, or while pools are not known and nobody filters by them.
 */
async function findFeeTokens(
  { curatedTokens }: TokenServices,
  chain: TokenChain,
  filters: BalanceFilters,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | null> {
  if (chain.kind !== 'tempo') return null
  const verified = curatedTokens.of(chain.state.chainId).map(({ address }) => address)
  try {
    const pools = await findPoolTokens(chain, verified, filters.atBlock, signal)
    return new Set([...pools, pathUsdAddress])
  } catch (error) {
    if (error instanceof ProjectionIncompleteError && filters.feeEligible === undefined) return null
    throw error
  }
}

async function chooseTokens(
  { curatedTokens, tokenNames }: TokenServices,
  chain: TokenChain,
  { currency, feeEligible, verified }: BalanceFilters,
  eligible: ReadonlySet<string> | null,
  signal: AbortSignal,
): Promise<TokenChoice> {
  const { chainId } = chain.state
  const curated: readonly string[] = curatedTokens.of(chainId).map(({ address }) => address)
  const asked = verifiedAsked({ currency, verified })
  const without = asked === false ? [...curated] : []
  let only = asked === true ? curated : undefined
  const feeTokens = [...(eligible ?? [])]
  if (feeEligible === true) only = only?.filter((token) => feeTokens.includes(token)) ?? feeTokens
  if (feeEligible === false) without.push(...feeTokens)
  const choice = { tip20: chain.kind === 'tempo', without: without.length > 0 ? without : undefined }
  if (only === undefined || currency === undefined) return { ...choice, only, currency }
  // Those named are few: with them a node can answer too.
  const names = await tokenNames.read(chain.chainId, only, signal)
  return { ...choice, only: only.filter((token) => sameWord(names.get(token)?.currency ?? '', currency)) }
}

const holderSchema = s.named('Holder', {
  id: s.text({ description: 'The address.' }),
  address: s.address,
  balance: s.amount,
  approximate: s.optional(approximateSchema),
})

export const listHoldersEndpoint = listEndpoint({
  path: '/v1/tokens/{token}/holders',
  summary: 'Who has a token, most first.',
  description: `Accounts with more than zero. The total is exact, of whatever size. ${pinned}`,
  params: { token: p.token },
  filters: { atBlock },
  include: ['token', 'totalCount'],
  pages: pinnedPageRules,
  item: holderSchema,
  meta: { token: s.optional(tokenSummarySchema) },
  cache: 'balances',
  errors: [...errors, 'token_not_found'],
  list: async ({ chainId, path, filters, include, page, standing }, services: TokenServices) => {
    const { token } = path
    assertNoCoin(token)
    const found = await listHolders(tokenChainOf(services, chainId, standing), token, filters.atBlock, page)
    const asked = include.has('token') ? [token] : []
    const name = (await services.tokenNames.read(chainId, asked, page.signal)).get(token)
    return { ...found, meta: name ? { token: presentTokenSummary(token, name) } : {} }
  },
  present: ({ address, balance, approximate }: BalanceRow) => ({
    id: address,
    address,
    balance: `${balance}`,
    ...(approximate && { approximate }),
  }),
})
