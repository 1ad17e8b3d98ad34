/** Reads the transactions of a token. */
import type { ChainState } from '../chainState.ts'
import { type ListFilters, type PageRequest, readWalk, type Source, type Walk } from '../lists/read.ts'
import { decodePostgresRow, type StoredRow } from '../lists/row.ts'
import {
  compileTokenTransactionCount,
  compileTokenTransactions,
  type TokenTransactionFilters,
} from '../lists/tokenTransactions.ts'
import type { Postgres } from '../postgres.ts'
import { type ListPage, readAtOnce } from './list.ts'
import { type TransactionDetail, withPayloads } from './transactions.ts'

export function listTokenTransactions(
  postgres: Postgres,
  state: ChainState,
  filters: TokenTransactionFilters,
  bounds: Omit<ListFilters, 'values'>,
  page: PageRequest,
): Promise<ListPage<TransactionDetail>> {
  return readAtOnce(postgres, state, page, async (source) => {
    const found = await readWalk(source, tokenWalk(source, filters), bounds, page)
    return { ...found, rows: await withPayloads(source.client, state, found.rows) }
  })
}

function tokenWalk({ client, schema }: Source, filters: TokenTransactionFilters): Walk<StoredRow<'txs'>> {
  return {
    positionOf: (row) => [Number(row.block_num), row.idx],
    rows: async (query) => {
      const asked = { ...query, limit: query.limit + 1 }
      const { text, values } = compileTokenTransactions(schema, filters, asked)
      const found = await client.query<Record<string, unknown>>(text, [...values])
      const rows = found.rows.slice(0, query.limit).map((row) => decodePostgresRow('txs', row))
      return { rows, more: found.rows.length > query.limit }
    },
    count: async (query, max) => {
      const { text, values } = compileTokenTransactionCount(schema, filters, query, max)
      const found = await client.query<{ n: number }>(text, [...values])
      return Number(found.rows[0]?.n ?? 0)
    },
  }
}
