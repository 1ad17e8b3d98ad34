/**
 * Transfers with cross-token payments folded: of what a sender gave to the exchange, got for it and
 * passed on, only the passing on is a row. Which transfers those are is read from the transactions
 * that gave something to the exchange.
 */

import { type CrossTokenTransfer, findCrossTokenTransfer } from '#transform/activities/crossToken.ts'
import { stablecoinDexAddress } from '#transform/addresses.ts'
import type { TxPlace } from '../ledger/archive.ts'
import type { ChainState } from '../ledger/ChainState.ts'
import type { Postgres } from '../postgres.ts'
import { literalBytes, relationOf, tip20Tokens } from '../sql.ts'
import { readActivityFacts } from './activityFacts.ts'
import { transferList } from './lists/list.ts'
import type { PageRow } from './lists/preparedPage.ts'
import {
  type ListFilters,
  listWalk,
  type PageRequest,
  type PageSource,
  readWalk,
  type Walk,
  type WalkQuery,
  type WalkRows,
} from './lists/read.ts'
import { type ListPage, readAtOnce } from './lists/readList.ts'
import type { StoredRow } from './lists/row.ts'

type Transfer = StoredRow<'token_transfers'>

/** A transfer; with what it is the end of, where it ends a cross-token payment. */
export interface FoldedTransfer {
  readonly row: Transfer
  readonly crossToken: CrossTokenTransfer | null
}

/** Filters are those of the rows: a payment is found by the token that arrived. */
export function listFoldedTransfers(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<ListPage<FoldedTransfer>> {
  return readAtOnce(postgres, state, page, (source) =>
    readWalk(source, foldedWalk(source, filters), filters, page),
  )
}

/** Rows read at a time: as many as the longest page. */
const ROUND_MAX = 200

/**
 * Rows looked at for one page: twice the window of numbered pages. A list of nothing but legs then
 * ends a page early, with a cursor, instead of reading on until the deadline.
 */
const ROWS_MAX = 20_000

function foldedWalk(source: PageSource, filters: ListFilters): Walk<FoldedTransfer> {
  const transfers = listWalk(source, transferList, filters.values)
  return {
    positionOf: ({ row }) => positionOf(row),
    rows: (query) => collect(source, transfers, query),
    count: (query, max) => count(source, transfers, query, max),
  }
}

async function collect(
  source: PageSource,
  transfers: Walk<PageRow<'token_transfers'>>,
  query: WalkQuery,
): Promise<WalkRows<FoldedTransfer>> {
  const wanted = query.offset + query.limit
  const found: FoldedTransfer[] = []
  let [position, looked] = [query.position, 0]
  while (looked < ROWS_MAX) {
    const limit = Math.min(wanted + 1 - found.length, ROUND_MAX)
    const { rows, more } = await transfers.rows({
      ...query,
      offset: 0,
      limit,
      ...(position && { position }),
    })
    found.push(...(await fold(source, rows)))
    if (!more || found.length > wanted)
      return { rows: found.slice(query.offset, wanted), more: found.length > wanted }
    looked += rows.length
    const last = rows.at(-1)
    if (last) position = transfers.positionOf(last)
  }
  return { rows: found.slice(query.offset, wanted), more: true, ...(position && { position }) }
}

/** Counts by reading, the only way to learn how many are folded; the request's deadline ends it. */
async function count(
  source: PageSource,
  transfers: Walk<PageRow<'token_transfers'>>,
  { position: _, ...query }: WalkQuery,
  max: number,
): Promise<number> {
  let counted = 0
  let position: readonly number[] | undefined
  while (counted < max) {
    const asked = { ...query, offset: 0, limit: ROUND_MAX, ...(position && { position }) }
    const { rows, more } = await transfers.rows(asked)
    counted += (await fold(source, rows)).length
    const last = rows.at(-1)
    if (!more || !last) return counted
    position = transfers.positionOf(last)
  }
  return max
}

async function fold(source: PageSource, rows: readonly Transfer[]): Promise<FoldedTransfer[]> {
  const places = [...new Map(rows.map((row) => [keyOf(placeOf(row)), placeOf(row)])).values()]
  const crossTokens = await readCrossTokens(source, places)
  return rows.flatMap((row) => {
    const crossToken = crossTokens.get(keyOf(placeOf(row)))
    if (crossToken?.legs.has(row.log_idx)) return []
    return [{ row, crossToken: crossToken?.logIndex === row.log_idx ? crossToken : null }]
  })
}

const positionOf = (row: Transfer): readonly number[] => [Number(row.block_num), row.log_idx]
const placeOf = (row: Transfer): TxPlace => ({ blockNumber: Number(row.block_num), txIndex: row.tx_idx })
const keyOf = ({ blockNumber, txIndex }: TxPlace): string => `${blockNumber}/${txIndex}`

async function readCrossTokens(
  source: PageSource,
  places: readonly TxPlace[],
): Promise<ReadonlyMap<string, CrossTokenTransfer>> {
  const swapping = await readSwapping(source, places)
  const facts = await readActivityFacts(source, swapping)
  const found = new Map<string, CrossTokenTransfer>()
  for (const [index, place] of swapping.entries()) {
    const of = facts[index]
    const crossToken = of && findCrossTokenTransfer(of)
    if (crossToken) found.set(keyOf(place), crossToken)
  }
  return found
}

/** Those of the transactions that gave tokens to the exchange. */
async function readSwapping({ client, schema }: PageSource, places: readonly TxPlace[]): Promise<TxPlace[]> {
  if (places.length === 0) return []
  const found = await client.query<{ block_num: number; tx_idx: number }>(swappingStatement(schema), [
    places.map((place) => place.blockNumber),
    places.map((place) => place.txIndex),
  ])
  return found.rows.map((row) => ({ blockNumber: row.block_num, txIndex: row.tx_idx }))
}

/** Finds the transactions with a swap among the places `$1`, `$2`. */
export const swappingStatement = (schema: string): string =>
  `SELECT DISTINCT block_num, tx_idx
   FROM unnest($1::bigint[], $2::int[]) AS asked (block_num, tx_idx)
   JOIN ${relationOf(schema, 'token_transfers')} AS paid USING (block_num, tx_idx)
   WHERE paid."to" = ${literalBytes(stablecoinDexAddress)} AND ${tip20Tokens('token')}`
