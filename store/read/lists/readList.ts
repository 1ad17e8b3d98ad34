/** Reads a page of any list of a chain at one moment. */
import type { TableName } from '#transform/tables.ts'
import { readOnce, readSnapshot } from '../../cancel.ts'
import type { ChainState } from '../../ledger/ChainState.ts'
import type { Queryable } from '../../ledger/lane.ts'
import type { Postgres } from '../../postgres.ts'
import type { List } from './list.ts'
import type { Beside, PageRow } from './preparedPage.ts'
import {
  isOneStatement,
  type ListFilters,
  type PageRequest,
  type PageSource,
  readPage,
  type WalkPage,
} from './read.ts'

export type ListPage<Row> = WalkPage<Row>

/** A list's answer while nothing of the chain is held yet: a lower bound of nothing, and no end. */
const emptyPage = { rows: [], next: null, totalCount: 0, totalCountCapped: true } as const

/** Reads a page of a declared list, with what stands beside its rows. */
export async function readList<Name extends TableName>(
  postgres: Postgres,
  state: ChainState,
  list: List<Name>,
  filters: ListFilters,
  page: PageRequest,
  beside: Beside = {},
): Promise<ListPage<PageRow<Name>>> {
  const visible = state.visible()
  if (!visible) return emptyPage
  const read = (client: Queryable) =>
    readPage({ client, schema: state.schema, visible }, list, filters, page, beside)
  return isOneStatement(filters, page)
    ? readOnce(postgres, page.signal, read)
    : readSnapshot(postgres, page.signal, read, 'prepared')
}

/** Reads a page by whatever statements it takes, all of them of one moment. */
export async function readAtOnce<Row, Page extends ListPage<Row> = ListPage<Row>>(
  postgres: Postgres,
  state: ChainState,
  { signal }: Pick<PageRequest, 'signal'>,
  read: (source: PageSource) => Promise<Page>,
): Promise<Page | ListPage<Row>> {
  const visible = state.visible()
  if (!visible) return emptyPage
  return readSnapshot(postgres, signal, (client) => read({ client, schema: state.schema, visible }))
}
