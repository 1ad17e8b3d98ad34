/** Reads the transactions of a token. */
import type { ChainState } from '../ledger/ChainState.ts'
import type { Postgres } from '../postgres.ts'
import { cutPage } from './lists/page.ts'
import { type ListFilters, type PageRequest, type PageSource, readWalk, type Walk } from './lists/read.ts'
import { type ListPage, readAtOnce } from './lists/readList.ts'
import { type StoredRow, storedTypes } from './lists/row.ts'
import {
  compileTokenTransactionCount,
  compileTokenTransactions,
  type TokenTransactionFilters,
} from './lists/tokenTransactions.ts'
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

function tokenWalk({ client, schema }: PageSource, filters: TokenTransactionFilters): Walk<StoredRow<'txs'>> {
  return {
    positionOf: (row) => [Number(row.block_num), row.idx],
    rows: async (query) => {
      const asked = { ...query, limit: query.limit + 1 }
      const { text, values } = compileTokenTransactions(schema, filters, asked)
      const statement = { text, values: [...values], types: storedTypes }
      const found = await client.query<StoredRow<'txs'>>(statement)
      return cutPage(found.rows, query.limit)
    },
    count: async (query, max) => {
      const { text, values } = compileTokenTransactionCount(schema, filters, query, max)
      const found = await client.query<{ n: number }>(text, [...values])
      return Number(found.rows[0]?.n ?? 0)
    },
  }
}
