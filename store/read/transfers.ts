/** Reads of transfers: of tokens, of the chain's own coin, or of both in the order of the chain. */
import type { ChainState } from '../ledger/ChainState.ts'
import type { Postgres } from '../postgres.ts'
import { relationOf } from '../sql.ts'
import { nativeTransferList, transferList } from './lists/list.ts'
import type { PageRow } from './lists/preparedPage.ts'
import {
  type ListFilters,
  listWalk,
  type PageRequest,
  type PageSource,
  readWalk,
  type Walk,
  type WalkQuery,
} from './lists/read.ts'
import { type ListPage, readAtOnce, readList } from './lists/readList.ts'
import type { StoredRow } from './lists/row.ts'

export function listTransfers(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<ListPage<StoredRow<'token_transfers'>>> {
  return readList(postgres, state, transferList, filters, page)
}

/** A transfer of a token, or of the chain's own coin, which is no token. */
export type AnyTransfer = PageRow<'token_transfers'> | NativeTransfer
export type NativeTransfer = PageRow<'native_transfers'> & { readonly token: null }

export interface AnyTransfers extends ListPage<AnyTransfer> {
  /**
   * First block from which on every movement of the coin is a row (EIP-7708); before it, values of
   * transactions alone. Null: no block held has such a log.
   */
  readonly nativeFrom?: number | null
}

/** @param only the coin's alone; else both, the coin's before a token's at one place. */
export async function listAnyTransfers(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
  only: 'native' | 'both',
): Promise<AnyTransfers> {
  return readAtOnce<AnyTransfer, AnyTransfers>(postgres, state, page, async (source) => {
    const walk = only === 'native' ? natives(source, filters) : both(source, filters)
    return { ...(await readWalk(source, walk, filters, page)), nativeFrom: await readNativeFrom(source) }
  })
}

/** First block held in which the coin's movements are logged, which then all are; null: none. */
export async function readNativeFrom({
  client,
  schema,
  visible: { segment },
}: Pick<PageSource, 'client' | 'schema' | 'visible'>): Promise<number | null> {
  const { rows } = await client.query<{ block_num: number }>(
    `SELECT block_num FROM ${relationOf(schema, 'native_transfers')}
     WHERE is_logged AND block_num BETWEEN $1 AND $2 ORDER BY block_num LIMIT 1`,
    [segment.from, segment.to],
  )
  return rows[0]?.block_num ?? null
}

/** After all of the coin's places with one log index: their transactions' indexes are below it. */
const TOKEN_RANK = 2 ** 31 - 1

function natives(source: PageSource, { values }: ListFilters): Walk<AnyTransfer> {
  const { address, sender, recipient } = values
  const walk = listWalk(source, nativeTransferList, { address, sender, recipient })
  return {
    ...walk,
    positionOf,
    blockHashOf: (row) => row.block_hash,
    rows: async (query) => {
      const found = await walk.rows(query)
      return { ...found, rows: found.rows.map(asCoin) }
    },
  }
}

/** Two lists merged: each gives what the page may need of it. */
function both(source: PageSource, filters: ListFilters): Walk<AnyTransfer> {
  const coins = natives(source, filters)
  const tokens = listWalk(source, transferList, filters.values)
  return {
    positionOf,
    blockHashOf: (row) => row.block_hash,
    tellsReorgs: true,
    rows: async (query) => {
      const end = query.offset + query.limit
      const [coin, token] = await Promise.all([
        coins.rows(placed(query, end, coinPlace)),
        tokens.rows(placed(query, end, tokenPlace)),
      ])
      const sign = query.order === 'asc' ? 1 : -1
      const rows = [...coin.rows, ...token.rows].sort((a, b) => sign * compare(a, b))
      const reorgedFrom = coin.reorgedFrom ?? token.reorgedFrom
      return {
        rows: rows.slice(query.offset, end),
        more: rows.length > end || coin.more || token.more,
        ...(reorgedFrom !== undefined && { reorgedFrom }),
      }
    },
    count: async (query, max) => {
      const { position: _, ...whole } = query
      const counts = await Promise.all([coins.count?.(whole, max), tokens.count?.(whole, max)])
      return Math.min(
        max,
        counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
      )
    },
  }
}

const asCoin = (row: PageRow<'native_transfers'>): NativeTransfer => ({ ...row, token: null })

const positionOf = (row: AnyTransfer): readonly number[] => [
  Number(row.block_num),
  row.log_idx,
  row.token === null ? row.tx_idx : TOKEN_RANK,
]

function compare(a: AnyTransfer, b: AnyTransfer): number {
  const others = positionOf(b)
  const [difference = 0] = positionOf(a).flatMap((value, index) => value - (others[index] ?? 0) || [])
  return difference
}

type PlaceOf = (position: readonly number[], order: WalkQuery['order']) => readonly number[]

/** The place at which the page goes on in one of the two lists. */
function placed({ position, ...query }: WalkQuery, limit: number, placeOf: PlaceOf): WalkQuery {
  const place = position && { position: placeOf(position, query.order) }
  return { ...query, offset: 0, limit, ...place }
}

const coinPlace: PlaceOf = ([block = 0, log = 0, rank = TOKEN_RANK]) => [block, log, rank]

/** A token's row comes after a coin's at the same log index, so that ascending walks have it to come. */
const tokenPlace: PlaceOf = ([block = 0, log = 0, rank = TOKEN_RANK], order) => [
  block,
  rank !== TOKEN_RANK && order === 'asc' ? log - 1 : log,
]
