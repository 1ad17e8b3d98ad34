/** Reads of token transfers. */
import type { ChainState } from '../chainState.ts'
import { transferList } from '../lists/list.ts'
import { type ListFilters, type Page, type PageRequest, readPage } from '../lists/read.ts'
import type { Postgres } from '../postgres.ts'
import { emptyPage } from './emptyPage.ts'

export async function listTransfers(
  postgres: Postgres,
  state: ChainState,
  filters: ListFilters,
  page: PageRequest,
): Promise<Page<'token_transfers'>> {
  const visible = state.visible()
  return visible ? readPage(postgres, state.schema, transferList, filters, page, visible) : emptyPage
}
