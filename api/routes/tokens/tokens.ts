/** GET /v1/tokens and /v1/tokens/{token}, which takes an address or a symbol. */
import type { CuratedTokens } from '#api/operator/curatedTokens.ts'
import { endpoint } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import type { Standing } from '#http/request/freshness.ts'
import type { ListPage, ListResult } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import {
  nameOf,
  presentToken,
  type Token,
  tokenIncludes,
  tokenSchema,
  wantsOf,
} from '#present/tokenDetail.ts'
import type { Address } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import {
  findTokenAt,
  findTokens,
  findTokensBySymbol,
  hasSymbol,
  listTokens,
  readTokens,
  type TokenChain,
  type TokenRow,
  type TokenWants,
} from '#store/read/tokens.ts'
import { type ReadServices, readsOf } from '../../services.ts'
import { assertNoCoin } from './coin.ts'

export interface TokenServices extends ReadServices {
  readonly clock: Clock
  readonly curatedTokens: CuratedTokens
}

/**
 * The reads of a chain's tokens. With a request's `standing` an answer may be some blocks behind on a busy
 * machine, and its headers say so.
 */
export const tokenChainOf = (services: TokenServices, chainId: number, standing?: Standing): TokenChain => ({
  ...readsOf(services, chainId),
  clock: services.clock,
  standing,
})

/** Reads of a moment ago: the state after a block, instead of the newest. */
export const atBlock = p.described(
  p.blockNumber,
  'Answers as of this block, exactly. 409 `block_not_reached` for one that is not indexed yet.',
)

/**
 * Names of the tokens the fold knows. They never change, so nothing is waited for; an unnamed token
 * is shown without.
 */
export function tokenNamesOf(
  chains: ReadServices['chains'],
  curatedTokens: CuratedTokens,
): ReadServices['tokenNames'] {
  return {
    read: async (chainId, tokens) => {
      const { postgres, state, kind } = readsOf({ chains }, chainId)
      const found = await readTokens(postgres.pool, { state, kind }, tokens)
      const named = [...found.values()].map((row) => tokenOf(row, curatedTokens, chainId))
      return new Map(named.map((token) => [token.row.token, nameOf(token)]))
    },
  }
}

/**
 * Filters by what a token stands for and by the operator's list; each says nothing about the other.
 */
export const currencyFilters = {
  currency: p.described(
    p.text(64),
    'What the token stands for, such as USD, in any case. Without `verified`: of verified tokens.',
  ),
  verified: p.described(
    p.boolean,
    "Whether the token is on the operator's list. Default: `true` with `currency`, else both.",
  ),
}

/**
 * Undefined: both. Whoever asks for a currency by its name alone wants no token that merely says
 * so.
 */
export const verifiedAsked = ({
  currency,
  verified,
}: Pick<TokenFilters, 'currency' | 'verified'>): boolean | undefined =>
  verified ?? (currency === undefined ? undefined : true)

/** Addresses one request may name. */
const ADDRESSES_MAX = 50

export const listTokensEndpoint = listEndpoint({
  path: '/v1/tokens',
  summary: 'Tokens, by creation.',
  description:
    "`verified=true` lists the operator's tokens in the operator's order, with `order=asc` from its end. With `addresses` the answer is one page in that order, which takes no paging parameters; tokens that do not exist are left out.",
  filters: {
    addresses: p.list(p.token, ADDRESSES_MAX),
    ...currencyFilters,
  },
  include: tokenIncludes,
  check: ({ addresses }, isGiven) => (addresses === undefined ? undefined : unpagedProblem(isGiven)),
  item: tokenSchema,
  cache: 'metadata',
  errors: ['projection_incomplete', 'coverage_incomplete'],
  list: async ({ chainId, filters, include, page, standing }, services: TokenServices) => {
    const { curatedTokens } = services
    const wants = wantsOf(include)
    const found = await readPage(
      tokenChainOf(services, chainId, standing),
      filters,
      wants,
      page,
      curatedTokens,
    )
    const rows = found.rows.map((row) => tokenOf(row, curatedTokens, chainId))
    return { ...found, rows }
  },
  present: presentToken,
})

interface TokenFilters {
  readonly addresses?: readonly Address[] | undefined
  readonly currency?: string | undefined
  readonly verified?: boolean | undefined
}

/** The parameters of pages, which mean nothing where the answer is one page. */
const pagingNames = ['page', 'limit', 'order', 'cursor']

function unpagedProblem(isGiven: (name: string) => boolean): ApiError | undefined {
  const problems = pagingNames
    .filter(isGiven)
    .map((name) => ({ path: ['query', name], message: 'means nothing with `addresses`, which is one page' }))
  const [first] = problems
  if (first === undefined) return undefined
  return new ApiError('query_invalid', `Not valid: ${first.path.at(-1)}: ${first.message}.`, {
    details: problems,
  })
}

async function readPage(
  chain: TokenChain,
  filters: TokenFilters,
  wants: TokenWants,
  page: ListPage,
  curatedTokens: CuratedTokens,
): Promise<ListResult<TokenRow>> {
  const { addresses, currency } = filters
  const curated = curatedTokens.of(chain.state.chainId).map((token) => token.address)
  const verified = verifiedAsked(filters)
  const matches = (row: TokenRow) => currency === undefined || sameWord(row.currency, currency)
  if (addresses !== undefined) {
    const list = new Set(curated)
    const wanted = [...new Set(addresses)].filter(
      (address) => verified === undefined || list.has(address) === verified,
    )
    return { rows: (await findInOrder(chain, wanted, wants, page.signal)).filter(matches), next: null }
  }
  if (verified !== true)
    return listTokens(chain, { without: verified === false ? curated : [], currency }, wants, page)
  const ordered = page.order === 'asc' ? curated.toReversed() : curated
  const rows = (await findInOrder(chain, ordered, wants, page.signal)).filter(matches)
  const start = page.position ? Number(page.position[0]) + 1 : page.offset
  const end = start + page.limit
  return { rows: rows.slice(start, end), next: end < rows.length ? [end - 1] : null }
}

async function findInOrder(
  chain: TokenChain,
  tokens: readonly Address[],
  wants: TokenWants,
  signal: AbortSignal,
): Promise<TokenRow[]> {
  const found = await findTokens(chain, tokens, wants, signal)
  return tokens.flatMap((token) => found.get(token) ?? [])
}

export const sameWord = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** The chain's facts of a token, with the operator's. */
export function tokenOf(row: TokenRow, curatedTokens: CuratedTokens, chainId: number): Token {
  const curated = curatedTokens.find(chainId, row.token)
  const logo = curated?.logo
  const logoUri = logo && 'uri' in logo ? logo.uri : row.logoUri
  return { row: { ...row, logoUri }, verified: curated !== undefined }
}

type TokenSelector = { readonly address: Address } | { readonly symbol: string }

const symbolPattern = /^[A-Za-z][A-Za-z0-9._]{0,63}$/

/** An address begins with 0x, a symbol with a letter. */
const tokenSelector = p.parameter<TokenSelector>({
  schema: s.union([p.token.schema, s.text({ pattern: symbolPattern.source })], {
    examples: ['0x20c0000000000000000000000000000000000000', 'pathUSD'],
  }),
  description: 'Token contract: 0x and 40 hex characters, in any case. Or a symbol, in any case.',
  code: 'token_invalid',
  parse: (text) => {
    if (/^0x/i.test(text)) return { address: p.token.parse(text) }
    if (symbolPattern.test(text)) return { symbol: text }
    throw new ApiError(
      'symbol_invalid',
      'Not a symbol: a letter, then up to 63 letters, digits, `.` or `_`.',
      {
        details: [{ path: ['param', 'token'], message: 'neither an address nor a symbol' }],
      },
    )
  },
})

export const readTokenEndpoint = endpoint({
  path: '/v1/tokens/{token}',
  summary: 'One token, by address or symbol.',
  description:
    'A symbol names the verified token that has it: anybody may make another with the same one. Where several verified tokens do, 404 `token_not_found` lists them in `details`; where only others do, it says so. `createdAt` is absent of a token of genesis, and of an ERC-20 token that another contract created.',
  params: { token: tokenSelector },
  filters: { atBlock },
  include: tokenIncludes,
  response: tokenSchema,
  errors: [
    'symbol_invalid',
    'token_not_found',
    'projection_incomplete',
    'coverage_incomplete',
    'block_not_reached',
  ],
  read: async (call, services: TokenServices): Promise<Token> => {
    const { chainId, path, filters, include, signal, standing } = call
    if ('address' in path.token) assertNoCoin(path.token.address)
    const chain = tokenChainOf(services, chainId, standing)
    const { curatedTokens } = services
    const wants = wantsOf(include)
    const newest =
      'address' in path.token
        ? (await findTokens(chain, [path.token.address], wants, signal)).get(path.token.address)
        : await resolveSymbol(chain, path.token.symbol, curatedTokens, wants, signal)
    const row =
      newest && filters.atBlock !== undefined
        ? await findTokenAt(chain, newest.token, filters.atBlock, wants, signal)
        : newest
    if (!row) throw new ApiError('token_not_found')
    return tokenOf(row, curatedTokens, chainId)
  },
  present: (token, { include }) => presentToken(token, include),
  cache: 'metadata',
})

/**
 * @throws ApiError token_not_found naming the candidates when several verified tokens have the
 * symbol, and saying so when only others do
 */
async function resolveSymbol(
  chain: TokenChain,
  symbol: string,
  curatedTokens: CuratedTokens,
  wants: TokenWants,
  signal: AbortSignal,
): Promise<TokenRow | undefined> {
  const curated = curatedTokens.of(chain.state.chainId).map(({ address }) => address)
  const candidates = await findTokensBySymbol(chain, symbol, curated, wants, signal)
  if (candidates.length === 0 && (await hasSymbol(chain, symbol, signal)))
    throw new ApiError(
      'token_not_found',
      'Only tokens that are not verified have this symbol; name one by its address.',
    )
  if (candidates.length <= 1) return candidates[0]
  throw new ApiError(
    'token_not_found',
    'Several verified tokens have this symbol; name one by its address.',
    {
      details: candidates.map(({ token, name }) => ({
        path: ['param', 'token'],
        message: `${token} (${name})`,
      })),
    },
  )
}
