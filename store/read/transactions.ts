/** Reads of transactions with their receipts, and with the node's own payload of both. */
import type { OpenPart } from '#transform/decode/openArchivedPart.ts'
import { readOnce } from '../cancel.ts'
import {
  type ArchivedTx,
  archivedPartColumn,
  archivedPartOf,
  archivedPartSql,
  archivedTx,
  readArchivedTxs,
} from '../ledger/archive.ts'
import type { ChainState } from '../ledger/ChainState.ts'
import type { FinalBlocks, Queryable } from '../ledger/lane.ts'
import type { OpenParts } from '../ledger/OpenParts.ts'
import { type Postgres, preparedBySchema } from '../postgres.ts'
import { quoteIdentifier, relationOf, toBytes, toHex } from '../sql.ts'
import { transactionList } from './lists/list.ts'
import type { PageRow } from './lists/preparedPage.ts'
import type { ListFilters, PageRequest } from './lists/read.ts'
import { type ListPage, readList } from './lists/readList.ts'
import { type StoredRow, storedTypes } from './lists/row.ts'

export interface TransactionDetail {
  readonly row: StoredRow<'txs'>
  /** Hash of its block. */
  readonly blockHash: string
  readonly archived: ArchivedTx
  readonly final: boolean
}

export async function listTransactions(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<ListPage<TransactionDetail>> {
  const beside = { columns: [archivedPartColumn(state.schema)], hashesAbove: -1 }
  const { openParts, final } = state
  const found = await readList(postgres, state, transactionList, filters, page, beside)
  return { ...found, rows: detailsOf(found.rows, openParts, final) }
}

/** Neighbours in a block share a part of the archive: it came with the first of them. */
function detailsOf(
  rows: readonly PageRow<'txs'>[],
  openParts: OpenParts,
  final: FinalBlocks,
): TransactionDetail[] {
  let part: OpenPart | undefined
  return rows.map((row) => {
    const number = Number(row.block_num)
    const { archived_part: hex, block_hash: blockHash } = row
    const name = { blockHash: blockHash ?? '', part: archivedPartOf(row.idx) }
    if (hex) part = openParts.open(name, () => toBytes(hex))
    const archived = archivedTx(part, number, row.idx)
    return { row, archived, blockHash: name.blockHash, final: final.has(number) }
  })
}

/**
 * The transaction, or null when it is not in a block we hold. One prepared statement: of wallets
 * that wait for a receipt there are many.
 */
export function findTransaction(
  postgres: Postgres,
  state: ChainState,
  hash: string,
  signal: AbortSignal,
): Promise<TransactionDetail | null> {
  const { openParts, final } = state
  return readOnce(postgres, signal, async (client) => {
    const statement = { ...oneOf(state.schema), values: [toBytes(hash)], types: storedTypes }
    const found = await client.query<PageRow<'txs'>>(statement)
    return detailsOf(found.rows, openParts, final)[0] ?? null
  })
}

const oneOf = preparedBySchema(
  (
    schema,
  ) => `SELECT txs.*, (SELECT hash FROM ${relationOf(schema, 'blocks')} AS blocks WHERE num = txs.block_num) AS block_hash,
     (${archivedPartSql(schema, 'txs')}) AS archived_part
   FROM ${relationOf(schema, 'txs')} AS txs WHERE txs.hash = $1`,
)

/** One statement for the payloads of a page and one for its block hashes, whatever its length. */
export async function withPayloads(
  client: Queryable,
  { schema, final }: Pick<ChainState, 'schema' | 'final'>,
  rows: readonly StoredRow<'txs'>[],
): Promise<TransactionDetail[]> {
  if (rows.length === 0) return []
  const places = rows.map((row) => ({ blockNumber: Number(row.block_num), txIndex: row.idx }))
  const archived = await readArchivedTxs(client, schema, places)
  const hashes = await blockHashes(client, schema, new Set(places.map((place) => place.blockNumber)))
  return rows.map((row, index) => {
    const payload = archived[index]
    const number = Number(row.block_num)
    if (!payload) throw new Error('readArchivedTxs answers every place or throws')
    return { row, archived: payload, blockHash: hashes.get(number) ?? '', final: final.has(number) }
  })
}

async function blockHashes(
  client: Queryable,
  schema: string,
  numbers: ReadonlySet<number>,
): Promise<Map<number, string>> {
  const found = await client.query<{ num: number; hash: Buffer }>(
    `SELECT num, hash FROM ${quoteIdentifier(schema)}.blocks WHERE num = ANY ($1)`,
    [[...numbers]],
  )
  return new Map(found.rows.map((row) => [row.num, toHex(row.hash)]))
}
