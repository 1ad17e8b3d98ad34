/** Reads of transactions with their receipts, and with the node's own payload of both. */
import { type ArchivedTx, readArchivedTxs } from '../archive.ts'
import { readSnapshot } from '../cancel.ts'
import type { ChainState } from '../chainState.ts'
import type { Queryable } from '../lane.ts'
import { transactionList } from '../lists/list.ts'
import type { ListFilters, PageRequest } from '../lists/read.ts'
import { decodePostgresRow, type StoredRow } from '../lists/row.ts'
import { type Postgres, quoteIdentifier, toBytes, toHex } from '../postgres.ts'
import { type ListPage, readList } from './list.ts'

export interface TransactionDetail {
  readonly row: StoredRow<'txs'>
  /** Hash of its block. */
  readonly blockHash: string
  readonly archived: ArchivedTx
  readonly final: boolean
}

export function listTransactions(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<ListPage<TransactionDetail>> {
  return readList(postgres, state, transactionList, filters, page, (client, rows) =>
    withPayloads(client, state, rows),
  )
}

/** The transaction, or null when it is not in a block we hold. */
export function findTransaction(
  postgres: Postgres,
  state: ChainState,
  hash: string,
  signal: AbortSignal,
): Promise<TransactionDetail | null> {
  return readSnapshot(postgres, signal, async (client) => {
    const found = await client.query<Record<string, unknown>>(
      `SELECT * FROM ${quoteIdentifier(state.schema)}.txs WHERE hash = $1`,
      [toBytes(hash)],
    )
    const rows = found.rows.map((row) => decodePostgresRow('txs', row))
    const [detail] = await withPayloads(client, state, rows)
    return detail ?? null
  })
}

/** One statement for the payloads of a page and one for its block hashes, whatever its length. */
export async function withPayloads(
  client: Queryable,
  state: ChainState,
  rows: readonly StoredRow<'txs'>[],
): Promise<TransactionDetail[]> {
  if (rows.length === 0) return []
  const places = rows.map((row) => ({ blockNumber: Number(row.block_num), txIndex: row.idx }))
  const archived = await readArchivedTxs(client, state.schema, places)
  const hashes = await blockHashes(client, state.schema, new Set(places.map((place) => place.blockNumber)))
  return rows.map((row, index) => {
    const payload = archived[index]
    const number = Number(row.block_num)
    if (!payload) throw new Error('readArchivedTxs answers every place or throws')
    return { row, archived: payload, blockHash: hashes.get(number) ?? '', final: number <= state.finalized }
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
