/**
 * Reads of tokens. On Tempo those the factory made, with the attributes their events tell; elsewhere every contract that
 * moved something and has a name.
 */

import type { ChainId } from '#primitives.ts'
import type { ChainKind } from '#transform/profile.ts'
import { balancesProjection } from '../follow/balances/balances.ts'
import { assertReached } from '../follow/balances/moment.ts'
import { noTotals, readTotals, readTotalsAt, type TokenTotals } from '../follow/balances/totals.ts'
import {
  type Followed,
  type FollowedChain,
  type FollowedRows,
  readFollowed,
  readFollowedRows,
} from '../follow/readFollowed.ts'
import { tokensFold } from '../follow/tokens.ts'
import type { Queryable } from '../ledger/lane.ts'
import { preparedName } from '../postgres.ts'
import { relationOf, toBytes, toHex } from '../sql.ts'

/** A token, with everything its events tell. */
export interface TokenRow {
  readonly token: string
  readonly name: string
  readonly symbol: string
  /** What the token stands for, such as USD. */
  readonly currency: string
  readonly decimals: number
  readonly logoUri: string | null
  readonly quoteToken: string | null
  /** The account that has had the admin role longest; null when nobody has it, or no event told. */
  readonly admin: string | null
  /** Null for tokens of genesis. */
  readonly createdAtSeconds: number | null
  /** Block and log index of the creation (elsewhere than on Tempo: of the first transfer): where it stands in the list. */
  readonly place: readonly [block: number, logIndex: number]
  /** Null where they were not asked for. */
  readonly totals: TokenTotals | null
}

/** What is read of a token beside its attributes. */
export interface TokenWants {
  readonly totals: boolean
}

export interface TokenChain extends FollowedChain {
  readonly chainId: ChainId
  readonly kind: ChainKind
}

/** Of the page asked, what concerns this list. */
export interface TokenPage {
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
  readonly position?: readonly (number | string | bigint)[]
  readonly signal: AbortSignal
}

export interface TokenPageResult {
  readonly rows: readonly TokenRow[]
  readonly next: readonly (number | string)[] | null
}

/** By creation; `without` are left out. */
export async function listTokens(
  chain: TokenChain,
  { without }: { readonly without: readonly string[] },
  wants: TokenWants,
  page: TokenPage,
): Promise<TokenPageResult> {
  const list = compileTokenList(chain.state.schema, chain.kind, without, page)
  const found = wants.totals
    ? await readFollowed(chain, followedOf(chain, wants), page.signal, async (client) => {
        const { rows } = await client.query<Record<string, unknown>>(list.text, [...list.values])
        return withTotals(client, chain, wants, rows.map(tokenRow))
      })
    : (await readFollowedRows(chain, followedOf(chain, wants), page.signal, list)).map(tokenRow)
  const rows = found.slice(0, page.limit)
  const last = rows.at(-1)
  const more = found.length > page.limit && last
  return { rows, next: more ? [...last.place, last.token] : null }
}

/** Rows of a page by creation, and one more where the list goes on. `without` are left out. */
export function compileTokenList(
  schema: string,
  kind: ChainKind,
  without: readonly string[],
  { order, limit, offset, position }: Omit<TokenPage, 'signal'>,
): FollowedRows {
  const [block, logIndex, token] = position ?? []
  const direction = order === 'asc' ? { sql: 'ASC', beyond: '>' } : { sql: 'DESC', beyond: '<' }
  const keyset = token === undefined ? '' : `AND ${sortKey} ${direction.beyond} ($4, $5, $6)`
  const columns = ['created_block', 'created_log_idx', 'token']
  const sorted = columns.map((column) => `${column} ${direction.sql}`).join(', ')
  return {
    key: 'token',
    order: sorted,
    text: `SELECT * FROM ${current(schema, kind)} WHERE ${named} AND token <> ALL ($1) ${keyset}
      ORDER BY ${sorted} LIMIT $2 OFFSET $3`,
    values: [
      without.map(toBytes),
      limit + 1,
      offset,
      ...(token === undefined ? [] : [block, logIndex, toBytes(String(token))]),
    ],
  }
}

/** Tokens by address, those that exist. */
export function findTokens(
  chain: TokenChain,
  tokens: readonly string[],
  wants: TokenWants,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TokenRow>> {
  return readFollowed(chain, followedOf(chain, wants), signal, async (client) => {
    const found = await readTokens(client, chain, tokens)
    const rows = await withTotals(client, chain, wants, [...found.values()])
    return new Map(rows.map((row) => [row.token, row]))
  })
}

/** A token with its attributes and totals as of a block; null when there was none. @throws BlockNotReachedError */
export function findTokenAt(
  chain: TokenChain,
  token: string,
  atBlock: number,
  wants: TokenWants,
  signal: AbortSignal,
): Promise<TokenRow | null> {
  const { schema } = chain.state
  const followed = followedOf(chain, { totals: true })
  return readFollowed(chain, followed, signal, async (client, tip) => {
    assertReached(atBlock, tip)
    const [table, block] =
      chain.kind === 'tempo' ? ['tokens_history', 'block_num'] : ['erc20_current', 'created_block']
    const found = await client.query<Record<string, unknown>>(
      `SELECT * FROM ${relationOf(schema, table)} WHERE ${named} AND token = $1 AND ${block} <= $2
       ORDER BY ${chain.kind === 'tempo' ? 'block_num DESC, log_idx DESC' : block} LIMIT 1`,
      [toBytes(token), atBlock],
    )
    const [row] = found.rows.map(tokenRow)
    if (!row) return null
    return wants.totals
      ? { ...row, totals: await readTotalsAt(client, schema, token, { block: atBlock, tip }) }
      : row
  })
}

/** The same within a snapshot of another read; what the fold does not have (yet) is not in the map. */
export async function readTokens(
  client: Queryable,
  chain: Pick<TokenChain, 'state' | 'kind'>,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, TokenRow>> {
  if (tokens.length === 0) return new Map()
  const text = `SELECT * FROM ${current(chain.state.schema, chain.kind)} WHERE ${named} AND token = ANY ($1)`
  const statement = { name: preparedName(text), text, values: [tokens.map(toBytes)] }
  const found = await client.query<Record<string, unknown>>(statement)
  return new Map(found.rows.map(tokenRow).map((row) => [row.token, row]))
}

/** Candidates shown for an ambiguous symbol. */
const CANDIDATES_MAX = 20

/** Tokens of a symbol in any case: those among `verified` first and all of them, then others up to a bound. */
export function findTokensBySymbol(
  chain: TokenChain,
  symbol: string,
  verified: readonly string[],
  wants: TokenWants,
  signal: AbortSignal,
): Promise<{ readonly verified: readonly TokenRow[]; readonly others: readonly TokenRow[] }> {
  return readFollowed(chain, followedOf(chain, wants), signal, async (client) => {
    const read = async (operator: '= ANY' | '<> ALL', limit: number) => {
      const found = await client.query<Record<string, unknown>>(
        `SELECT * FROM ${current(chain.state.schema, chain.kind)} WHERE ${named} AND lower(symbol) = lower($1) AND token ${operator} ($2)
         ORDER BY created_block, created_log_idx LIMIT $3`,
        [symbol, verified.map(toBytes), limit],
      )
      return withTotals(client, chain, wants, found.rows.map(tokenRow))
    }
    return { verified: await read('= ANY', verified.length), others: await read('<> ALL', CANDIDATES_MAX) }
  })
}

/** A token of which nobody knows the name cannot be shown. */
const named = 'name IS NOT NULL AND symbol IS NOT NULL'
const sortKey = '(created_block, created_log_idx, token)'

/** The projections whose rows are read. */
function followedOf({ kind }: Pick<TokenChain, 'kind'>, { totals }: TokenWants): readonly Followed[] {
  if (kind !== 'tempo') return [balancesProjection]
  return totals ? [tokensFold, balancesProjection] : [tokensFold]
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

const current = (schema: string, kind: ChainKind): string =>
  relationOf(schema, kind === 'tempo' ? 'tokens_current' : 'erc20_current')

/** Of every TIP-20. */
const TIP20_DECIMALS = 6

function tokenRow(row: Readonly<Record<string, unknown>>): TokenRow {
  const { created_at: createdAt, admins, decimals } = row
  const [admin] = Array.isArray(admins) ? admins : []
  return {
    token: hexOf(row['token']) ?? '',
    name: String(row['name']),
    symbol: String(row['symbol']),
    currency: String(row['currency'] ?? ''),
    // An ERC-20 that does not say counts whole units.
    decimals: decimals === undefined ? TIP20_DECIMALS : Number(decimals ?? 0),
    logoUri: typeof row['logo_uri'] === 'string' ? row['logo_uri'] : null,
    quoteToken: hexOf(row['quote_token']),
    admin: hexOf(admin),
    createdAtSeconds: createdAt instanceof Date ? createdAt.getTime() / 1000 : null,
    place: [Number(row['created_block']), Number(row['created_log_idx'])],
    totals: null,
  }
}

const hexOf = (value: unknown): string | null => (value instanceof Uint8Array ? toHex(value) : null)
