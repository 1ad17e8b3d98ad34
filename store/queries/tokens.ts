/** Reads of tokens: their attributes as the tokens fold has them. */
import type { ChainKind } from '#transform/profile.ts'
import { type FollowedChain, readFollowed } from '../folds/readFollowed.ts'
import { tokensFold } from '../folds/tokens.ts'
import type { Queryable } from '../lane.ts'
import { quoteIdentifier, toBytes, toHex } from '../postgres.ts'

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
  /** Block and log index of the creation: where it stands in the list. */
  readonly place: readonly [block: number, logIndex: number]
}

export interface TokenChain extends FollowedChain {
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
export function listTokens(
  chain: TokenChain,
  { without }: { readonly without: readonly string[] },
  page: TokenPage,
): Promise<TokenPageResult> {
  return readFollowed(chain, tokensFold, page.signal, async (client) => {
    const [block, logIndex, token] = page.position ?? []
    const direction = page.order === 'asc' ? { sql: 'ASC', beyond: '>' } : { sql: 'DESC', beyond: '<' }
    const keyset = token === undefined ? '' : `AND ${sortKey} ${direction.beyond} ($4, $5, $6)`
    const order = ['created_block', 'created_log_idx', 'token'].map((column) => `${column} ${direction.sql}`)
    const found = await client.query<Record<string, unknown>>(
      `SELECT * FROM ${current(chain)} WHERE ${named} AND token <> ALL ($1) ${keyset}
       ORDER BY ${order.join(', ')} LIMIT $2 OFFSET $3`,
      [
        without.map(toBytes),
        page.limit + 1,
        page.offset,
        ...(token === undefined ? [] : [block, logIndex, toBytes(String(token))]),
      ],
    )
    const rows = found.rows.slice(0, page.limit).map(tokenRow)
    const last = rows.at(-1)
    const more = found.rows.length > page.limit && last
    return { rows, next: more ? [...last.place, last.token] : null }
  })
}

/** Tokens by address, those that exist. */
export function findTokens(
  chain: TokenChain,
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TokenRow>> {
  return readFollowed(chain, tokensFold, signal, (client) => readTokens(client, chain, tokens))
}

/** The same within a snapshot of another read; what the fold does not have (yet) is not in the map. */
export async function readTokens(
  client: Queryable,
  chain: Pick<TokenChain, 'state'>,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, TokenRow>> {
  if (tokens.length === 0) return new Map()
  const found = await client.query<Record<string, unknown>>(
    `SELECT * FROM ${current(chain)} WHERE ${named} AND token = ANY ($1)`,
    [tokens.map(toBytes)],
  )
  return new Map(found.rows.map(tokenRow).map((row) => [row.token, row]))
}

/** Candidates shown for an ambiguous symbol. */
const CANDIDATES_MAX = 20

/** Tokens of a symbol in any case: those among `verified` first and all of them, then others up to a bound. */
export function findTokensBySymbol(
  chain: TokenChain,
  symbol: string,
  verified: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly verified: readonly TokenRow[]; readonly others: readonly TokenRow[] }> {
  return readFollowed(chain, tokensFold, signal, async (client) => {
    const read = async (operator: '= ANY' | '<> ALL', limit: number) => {
      const found = await client.query<Record<string, unknown>>(
        `SELECT * FROM ${current(chain)} WHERE ${named} AND lower(symbol) = lower($1) AND token ${operator} ($2)
         ORDER BY created_block, created_log_idx LIMIT $3`,
        [symbol, verified.map(toBytes), limit],
      )
      return found.rows.map(tokenRow)
    }
    return { verified: await read('= ANY', verified.length), others: await read('<> ALL', CANDIDATES_MAX) }
  })
}

/** A token of which nobody knows the name cannot be shown. */
const named = 'name IS NOT NULL AND symbol IS NOT NULL'
const sortKey = '(created_block, created_log_idx, token)'

const current = ({ state }: Pick<TokenChain, 'state'>): string =>
  `${quoteIdentifier(state.schema)}.${tokensFold.name}_current`

/** Of every TIP-20. */
const TIP20_DECIMALS = 6

function tokenRow(row: Readonly<Record<string, unknown>>): TokenRow {
  const { created_at: createdAt, admins } = row
  const [admin] = Array.isArray(admins) ? admins : []
  return {
    token: hexOf(row['token']) ?? '',
    name: String(row['name']),
    symbol: String(row['symbol']),
    currency: String(row['currency'] ?? ''),
    decimals: TIP20_DECIMALS,
    logoUri: typeof row['logo_uri'] === 'string' ? row['logo_uri'] : null,
    quoteToken: hexOf(row['quote_token']),
    admin: hexOf(admin),
    createdAtSeconds: createdAt instanceof Date ? createdAt.getTime() / 1000 : null,
    place: [Number(row['created_block']), Number(row['created_log_idx'])],
  }
}

const hexOf = (value: unknown): string | null => (value instanceof Uint8Array ? toHex(value) : null)
