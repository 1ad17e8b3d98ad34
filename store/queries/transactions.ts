/** Reads of transactions with their receipts, and with the node's own payload of both. */
import { type ArchivedTx, readArchivedTxs } from '../archive.ts'
import { runCancellable } from '../cancel.ts'
import type { ChainState } from '../chainState.ts'
import { transactionList } from '../lists/list.ts'
import { type ListFilters, type Page, type PageRequest, readPage } from '../lists/read.ts'
import { decodePostgresRow, type StoredRow } from '../lists/row.ts'
import { type Postgres, quoteIdentifier, toBytes } from '../postgres.ts'
import { emptyPage } from './emptyPage.ts'

export interface TransactionDetail {
  readonly row: StoredRow<'txs'>
  /** Hash of its block. */
  readonly blockHash: string
  readonly archived: ArchivedTx
  readonly final: boolean
}

export type TransactionPage = Omit<Page<'txs'>, 'rows'> & { readonly rows: readonly TransactionDetail[] }

export async function listTransactions(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<TransactionPage> {
  const visible = state.visible()
  if (!visible) return emptyPage
  const found = await readPage(postgres, state.schema, transactionList, filters, page, visible)
  return { ...found, rows: await withPayloads(postgres, state, found.rows) }
}

/** The transaction, or null when it is not in a block we hold. */
export async function findTransaction(
  postgres: Postgres,
  state: ChainState,
  hash: string,
  signal: AbortSignal,
): Promise<TransactionDetail | null> {
  const sql = `SELECT * FROM ${quoteIdentifier(state.schema)}.txs WHERE hash = $1`
  const [found] = await runCancellable(postgres, sql, [toBytes(hash)], signal)
  if (!found) return null
  const [detail] = await withPayloads(postgres, state, [decodePostgresRow('txs', found)])
  return detail ?? null
}

/** One statement for the payloads of a page and one for its block hashes, whatever its length. */
async function withPayloads(
  postgres: Postgres,
  state: ChainState,
  rows: readonly StoredRow<'txs'>[],
): Promise<TransactionDetail[]> {
  if (rows.length === 0) return []
  const places = rows.map((row) => ({ blockNumber: Number(row.block_num), txIndex: row.idx }))
  const archived = await readArchivedTxs(postgres.pool, state.schema, places)
  const hashes = await blockHashes(postgres, state.schema, new Set(places.map((place) => place.blockNumber)))
  return rows.map((row, index) => {
    const payload = archived[index]
    const number = Number(row.block_num)
    if (!payload) throw new Error('readArchivedTxs answers every place or throws')
    return { row, archived: payload, blockHash: hashes.get(number) ?? '', final: number <= state.finalized }
  })
}

async function blockHashes(
  postgres: Postgres,
  schema: string,
  numbers: ReadonlySet<number>,
): Promise<Map<number, string>> {
  const found = await postgres.pool.query<{ num: number; hash: Buffer }>(
    `SELECT num, hash FROM ${quoteIdentifier(schema)}.blocks WHERE num = ANY ($1)`,
    [[...numbers]],
  )
  return new Map(found.rows.map((row) => [row.num, `0x${row.hash.toString('hex')}`]))
}
