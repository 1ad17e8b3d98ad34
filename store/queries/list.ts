/** Reads a page of any list of a chain at one moment. */
import type { TableName } from '#transform/tables.ts'
import { readSnapshot } from '../cancel.ts'
import type { ChainState } from '../chainState.ts'
import type { Queryable } from '../lane.ts'
import type { List } from '../lists/list.ts'
import { type ListFilters, type PageRequest, readPage, type Source, type WalkPage } from '../lists/read.ts'
import type { StoredRow } from '../lists/row.ts'
import type { Postgres } from '../postgres.ts'

export type ListPage<Row> = WalkPage<Row>

/** What a list answers while nothing of the chain is held yet: a lower bound of nothing, and no end. */
const emptyPage = { rows: [], next: null, totalCount: 0, totalCountCapped: true } as const

/** `complete` adds to the page's rows what stands in other tables, in the same snapshot. */
export function readList<Name extends TableName, Row>(
  postgres: Postgres,
  state: ChainState,
  list: List<Name>,
  filters: ListFilters,
  page: PageRequest,
  complete: (client: Queryable, rows: readonly StoredRow<Name>[]) => Promise<readonly Row[]>,
): Promise<ListPage<Row>> {
  return readAtOnce(postgres, state, page, async (source) => {
    const found = await readPage(source, list, filters, page)
    return { ...found, rows: await complete(source.client, found.rows) }
  })
}

/** Reads a page by whatever statements it takes, all of them of one moment. */
export async function readAtOnce<Row>(
  postgres: Postgres,
  state: ChainState,
  { signal }: Pick<PageRequest, 'signal'>,
  read: (source: Source) => Promise<ListPage<Row>>,
): Promise<ListPage<Row>> {
  const visible = state.visible()
  if (!visible) return emptyPage
  return readSnapshot(postgres, signal, (client) => read({ client, schema: state.schema, visible }))
}
