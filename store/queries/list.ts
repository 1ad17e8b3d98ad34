/** Reads a page of any list of a chain at one moment. */
import type { TableName } from '#transform/tables.ts'
import { readSnapshot } from '../cancel.ts'
import type { ChainState } from '../chainState.ts'
import type { Queryable } from '../lane.ts'
import type { List } from '../lists/list.ts'
import { type ListFilters, type Page, type PageRequest, readPage } from '../lists/read.ts'
import type { StoredRow } from '../lists/row.ts'
import type { Postgres } from '../postgres.ts'

export type ListPage<Name extends TableName, Row> = Omit<Page<Name>, 'rows'> & {
  readonly rows: readonly Row[]
}

/** What a list answers while nothing of the chain is held yet: a lower bound of nothing, and no end. */
const emptyPage = { rows: [], next: null, totalCount: 0, totalCountCapped: true } as const

/** `complete` adds to the page's rows what stands in other tables, in the same snapshot. */
export async function readList<Name extends TableName, Row>(
  postgres: Postgres,
  state: ChainState,
  list: List<Name>,
  filters: ListFilters,
  page: PageRequest,
  complete: (client: Queryable, rows: readonly StoredRow<Name>[]) => Promise<readonly Row[]>,
): Promise<ListPage<Name, Row>> {
  const visible = state.visible()
  if (!visible) return emptyPage
  const { schema } = state
  return readSnapshot(postgres, page.signal, async (client) => {
    const found = await readPage({ client, schema, visible }, list, filters, page)
    return { ...found, rows: await complete(client, found.rows) }
  })
}
