/**
 * Reads of tokens: those that Tempo's factory made (TIP-20), with the attributes their events tell,
 * and ERC-20 contracts that moved something and have a name. A Tempo chain lists the former and
 * finds both by address; other chains have the latter.
 */

import { address, decimalsOf } from '#primitives.ts'
import { isTip20 } from '#transform/addresses.ts'
import type { ChainKind } from '#transform/profile.ts'
import { balancesProjection } from '../follow/balances/balances.ts'
import { assertReached } from '../follow/balances/moment.ts'
import { noTotals, readTotals, readTotalsAt, type TokenTotals } from '../follow/balances/totals.ts'
import { stateSql } from '../follow/foldTables.ts'
import {
  type Followed,
  type FollowedChain,
  type FollowedRows,
  readFollowed,
  readFollowedRows,
} from '../follow/readFollowed.ts'
import { tokensFold } from '../follow/tokens/tokens.ts'
import { toldText } from '../follow/tokens/tokenTexts.ts'
import type { Queryable } from '../ledger/lane.ts'
import { preparedName } from '../postgres.ts'
import { behind, Parameters, relationOf, toBytes, toHex } from '../sql.ts'
import { pageOf } from './lists/page.ts'
import type { PageRequest } from './lists/read.ts'

/** A token, with everything its events tell. */
export interface TokenRow {
  readonly token: string
  readonly name: string
  readonly symbol: string
  /** The currency that the token stands for, such as USD. */
  readonly currency: string
  /** Null where the contract does not say. */
  readonly decimals: number | null
  readonly logoUri: string | null
  readonly quoteToken: string | null
  /** The account that has had the admin role longest; null when nobody has it, or no event told. */
  readonly admin: string | null
  /** Null for tokens of genesis. */
  readonly createdAtSeconds: number | null
  /**
   * Block and log index of the creation (elsewhere than on Tempo: of the first transfer): where it
   * stands in the list.
   */
  readonly place: readonly [block: number, logIndex: number]
  /** Null where they were not asked for. */
  readonly totals: TokenTotals | null
}

/** The data of a token to read beside its attributes. */
export interface TokenWants {
  readonly totals: boolean
}

export interface TokenChain extends FollowedChain {
  readonly chainId: number
  readonly kind: ChainKind
}

/** The page that this list is asked for. */
export type TokenPage = Pick<PageRequest, 'order' | 'limit' | 'offset' | 'position' | 'signal'>

export interface TokenPageResult {
  readonly rows: readonly TokenRow[]
  readonly next: readonly (number | string)[] | null
}

/** Which tokens a list has. */
export interface TokenFilter {
  readonly without: readonly string[]
  /** The currency that they stand for, in any case. */
  readonly currency?: string | undefined
}

/** By creation. */
export async function listTokens(
  chain: TokenChain,
  filter: TokenFilter,
  wants: TokenWants,
  page: TokenPage,
): Promise<TokenPageResult> {
  const list = compileTokenList(chain.state.schema, chain.kind, filter, page)
  const found = wants.totals
    ? await readFollowed(chain, followedOf(chain, [], wants), page.signal, async (client) => {
        const { rows } = await client.query<Record<string, unknown>>(list.text, [...list.values])
        return withTotals(client, chain, wants, rows.map(tokenRow))
      })
    : (await readFollowedRows(chain, followedOf(chain, [], wants), page.signal, list)).map(tokenRow)
  return pageOf(found, page.limit, ({ place, token }) => [...place, token])
}

/** Rows of a page by creation, and one more where the list goes on. */
export function compileTokenList(
  schema: string,
  kind: ChainKind,
  { without, currency }: TokenFilter,
  { order, limit, offset, position }: Omit<TokenPage, 'signal'>,
): FollowedRows {
  const [block, logIndex, token] = position ?? []
  const parameters = new Parameters()
  const leftOut = parameters.add(without.map(toBytes))
  const paging = `LIMIT ${parameters.add(limit + 1)} OFFSET ${parameters.add(offset)}`
  const standsFor = currency === undefined ? '' : `AND lower(currency) = lower(${parameters.add(currency)})`
  const place = () => [block, logIndex, toBytes(String(token))].map((value) => parameters.add(value))
  const further = token === undefined ? '' : `AND ${behind(sortKey, order, place())}`
  const sorted = sortKey.map((column) => `${column} ${order}`).join(', ')
  return {
    key: 'token',
    order: sorted,
    text: `SELECT * FROM ${current(schema, listedStandard({ kind }))} WHERE ${named} AND token <> ALL (${leftOut}) ${standsFor} ${further}
      ORDER BY ${sorted} ${paging}`,
    values: parameters.values,
  }
}

/** Tokens by address, those that exist. */
export function findTokens(
  chain: TokenChain,
  tokens: readonly string[],
  wants: TokenWants,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TokenRow>> {
  return readFollowed(chain, followedOf(chain, tokens, wants), signal, async (client) => {
    const found = await readTokens(client, chain, tokens)
    const rows = await withTotals(client, chain, wants, [...found.values()])
    return new Map(rows.map((row) => [row.token, row]))
  })
}

/**
 * A token with its attributes and totals as of a block; null when there was none. @throws
 * BlockNotReachedError
 */
export function findTokenAt(
  chain: TokenChain,
  token: string,
  atBlock: number,
  wants: TokenWants,
  signal: AbortSignal,
): Promise<TokenRow | null> {
  const { schema } = chain.state
  const isStandard = byStandard(chain, [token]).has('tip20')
  return readFollowed(chain, followedOf(chain, [token], { totals: true }), signal, async (client, tip) => {
    assertReached(atBlock, tip)
    const text = isStandard
      ? tokenAtSql(schema)
      : `SELECT * FROM ${current(schema, 'erc20')} WHERE ${named} AND token = $1 AND created_block <= $2`
    const found = await client.query<Record<string, unknown>>(text, [toBytes(token), atBlock])
    const [row] = found.rows.map(tokenRow)
    if (!row) return null
    return wants.totals
      ? { ...row, totals: await readTotalsAt(client, schema, token, { block: atBlock, tip }) }
      : row
  })
}

/** A standard token $1 as of block $2, with the account that had the admin role longest. */
const tokenAtSql = (schema: string): string => `
  SELECT tokens.*, (SELECT account FROM (
      SELECT DISTINCT ON (token_account) account, is_admin, block_num, log_idx
      FROM ${relationOf(schema, 'token_admins_history')} WHERE token = $1 AND block_num <= $2
      ORDER BY token_account, block_num DESC, log_idx DESC) AS admins
    WHERE is_admin ORDER BY block_num, log_idx LIMIT 1) AS admin
  FROM (${stateSql(schema, tokensFold, '$1', '$2')}) AS tokens WHERE ${named}`

/**
 * The same within a snapshot of another read; what the fold does not have (yet) is not in the map.
 */
export async function readTokens(
  client: Queryable,
  chain: Pick<TokenChain, 'state' | 'kind'>,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, TokenRow>> {
  const rows: TokenRow[] = []
  for (const [standard, asked] of byStandard(chain, tokens)) {
    const text = `SELECT * FROM ${current(chain.state.schema, standard)} WHERE ${named} AND token = ANY ($1)`
    const statement = { name: preparedName(text), text, values: [asked.map(toBytes)] }
    const found = await client.query<Record<string, unknown>>(statement)
    rows.push(...found.rows.map(tokenRow))
  }
  return new Map(rows.map((row) => [row.token, row]))
}

/** Those of the tokens in `among` that have a symbol, in any case. */
export function findTokensBySymbol(
  chain: TokenChain,
  symbol: string,
  among: readonly string[],
  wants: TokenWants,
  signal: AbortSignal,
): Promise<readonly TokenRow[]> {
  return readFollowed(chain, followedOf(chain, among, wants), signal, async (client) => {
    const rows: TokenRow[] = []
    for (const [standard, asked] of byStandard(chain, among)) {
      const found = await client.query<Record<string, unknown>>(
        `SELECT * FROM ${current(chain.state.schema, standard)}
         WHERE ${named} AND lower(symbol) = lower($1) AND token = ANY ($2) ORDER BY created_block, created_log_idx`,
        [symbol, asked.map(toBytes)],
      )
      rows.push(...found.rows.map(tokenRow))
    }
    return withTotals(client, chain, wants, rows)
  })
}

/** Whether any token has a symbol, in any case. */
export function hasSymbol(chain: TokenChain, symbol: string, signal: AbortSignal): Promise<boolean> {
  return readFollowed(chain, followedOf(chain, [], { totals: false }), signal, async (client) => {
    const { text, values } = compileHasSymbol(chain.state.schema, symbol)
    const found = await client.query<{ found: boolean }>(text, [...values])
    return found.rows[0]?.found === true
  })
}

/** One row, `found`. */
export function compileHasSymbol(schema: string, symbol: string): Pick<FollowedRows, 'text' | 'values'> {
  const among = (standard: Standard) =>
    `EXISTS (SELECT FROM ${current(schema, standard)} WHERE ${named} AND lower(symbol) = lower($1))`
  return { text: `SELECT ${among('tip20')} OR ${among('erc20')} AS found`, values: [symbol] }
}

/** A token of which nobody knows the name cannot be shown. */
const named = 'name IS NOT NULL AND symbol IS NOT NULL'
const sortKey = ['created_block', 'created_log_idx', 'token']

/**
 * The sources of a token's attributes: events of the factory and the token, or the contract itself when
 * asked.
 */
type Standard = 'tip20' | 'erc20'
type OfKind = Pick<TokenChain, 'kind'>

const byStandard = ({ kind }: OfKind, tokens: readonly string[]): ReadonlyMap<Standard, readonly string[]> =>
  Map.groupBy(tokens, (token) => (kind === 'tempo' && isTip20(address(token)) ? 'tip20' : 'erc20'))

/** The standard of the tokens a chain lists. */
const listedStandard = ({ kind }: OfKind): Standard => (kind === 'tempo' ? 'tip20' : 'erc20')

/** The projections whose rows are read for these tokens, or where none are named for the list. */
function followedOf(chain: OfKind, tokens: readonly string[], { totals }: TokenWants): readonly Followed[] {
  const standards = new Set(tokens.length > 0 ? byStandard(chain, tokens).keys() : [listedStandard(chain)])
  return [
    ...(standards.has('tip20') ? [tokensFold] : []),
    ...(standards.has('erc20') || totals ? [balancesProjection] : []),
  ]
}

async function withTotals(
  client: Queryable,
  { state }: Pick<TokenChain, 'state'>,
  { totals }: TokenWants,
  rows: readonly TokenRow[],
): Promise<readonly TokenRow[]> {
  if (!totals || rows.length === 0) return rows
  const found = await readTotals(
    client,
    state.schema,
    rows.map(({ token }) => token),
  )
  return rows.map((row) => ({ ...row, totals: found.get(row.token) ?? noTotals }))
}

const current = (schema: string, standard: Standard): string =>
  relationOf(schema, standard === 'tip20' ? 'tip20_current' : 'erc20_current')

/** Every TIP-20 has them. */
const TIP20_DECIMALS = 6

function tokenRow(row: Readonly<Record<string, unknown>>): TokenRow {
  const { created_at: createdAt, decimals } = row
  return {
    token: hexOf(row['token']) ?? '',
    name: toldText(String(row['name'])),
    symbol: toldText(String(row['symbol'])),
    currency: toldText(String(row['currency'] ?? '')),
    decimals: decimals === undefined ? TIP20_DECIMALS : decimalsOf(decimals),
    logoUri: typeof row['logo_uri'] === 'string' ? row['logo_uri'] : null,
    quoteToken: hexOf(row['quote_token']),
    admin: hexOf(row['admin']),
    createdAtSeconds: createdAt instanceof Date ? createdAt.getTime() / 1000 : null,
    place: [Number(row['created_block']), Number(row['created_log_idx'])],
    totals: null,
  }
}

const hexOf = (value: unknown): string | null => (value instanceof Uint8Array ? toHex(value) : null)
