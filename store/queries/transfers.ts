/** Reads of token transfers. */
import type { ChainState } from '../chainState.ts'
import { transferList } from '../lists/list.ts'
import type { ListFilters, Page, PageRequest } from '../lists/read.ts'
import type { Postgres } from '../postgres.ts'
import { readList } from './list.ts'

export function listTransfers(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<Page<'token_transfers'>> {
  return readList(postgres, state, transferList, filters, page, async (_client, rows) => rows)
}
