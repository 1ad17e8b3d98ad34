/** Reads of token transfers. */
import type { ChainState } from '../ledger/chainState.ts'
import type { Postgres } from '../postgres.ts'
import { transferList } from './lists/list.ts'
import type { ListFilters, PageRequest } from './lists/read.ts'
import { type ListPage, readList } from './lists/readList.ts'
import type { StoredRow } from './lists/row.ts'

export function listTransfers(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<ListPage<StoredRow<'token_transfers'>>> {
  return readList(postgres, state, transferList, filters, page)
}
