/**
 * The proof that no list walks rows it does not give: every filter and every two filters, hot and
 * rare values and hot ones that never meet, from the head and from deep below, run by the server,
 * which says what it read.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { archivedPartColumn } from '#store/ledger/archive.ts'
import {
  blockList,
  type FilterValue,
  type List,
  transactionList,
  transferList,
} from '#store/read/lists/list.ts'
import { preparePage } from '#store/read/lists/preparedPage.ts'
import { quoteIdentifier, toHex } from '#store/sql.ts'
import { generateHistory, transfersPerBlock } from '../../../bench/lists/generateChain.ts'
import { type ChainStore, openChainStore } from './chainStore.ts'
import { planOf, rowsExamined } from './plans.ts'

const limit = 11
/** Rows a page may read: of each branch its own, and of a transaction its part of the archive. */
const examinedMax = 10 * (limit - 1)

type Filters = Readonly<Record<string, FilterValue>>

/** Names of filters asked for together; `true` for those that take no value. */
const transactionFilters = ['sender', 'recipient', 'address', 'feePayer', 'feeToken', 'reverted', 'succeeded']
const transferFilters = ['sender', 'recipient', 'address', 'token']
/** They say different things of the same column. */
const exclusive = [
  ['sender', 'address'],
  ['recipient', 'address'],
  ['reverted', 'succeeded'],
]

export function testPairPlans(blocks: number): void {
  let store: ChainStore
  const values = new Map<string, FilterValue[]>()

  beforeAll(async () => {
    store = await openChainStore({ headFrom: blocks })
    const filled = ['blocks', 'txs', 'token_transfers', 'raw'] as const
    await generateHistory(store.postgres, store.schema, { from: 0, to: blocks - 1 }, filled)
    for (const list of [transactionList, transferList])
      for (const column of new Set(list.pairs.flat()))
        values.set(`${list.table}.${column}`, await someValues(store, list, column))
  }, 600_000)
  afterAll(() => store.close())

  /** Every choice of values for the filters named. */
  function choices(list: List, names: readonly string[]): Filters[] {
    let chosen: Filters[] = [{}]
    for (const name of names) {
      const filter = list.filters[name]
      const column = filter?.kind === 'either' ? filter.columns[0] : filter?.column
      const some = filter?.kind === 'is' ? [true] : (values.get(`${list.table}.${column}`) ?? [])
      chosen = chosen.flatMap((filters) => some.map((value) => ({ ...filters, [name]: value })))
    }
    return chosen
  }

  async function assertServed(list: List, filters: Filters): Promise<void> {
    const beside = {
      columns: list === transactionList ? [archivedPartColumn(store.schema)] : [],
      hashesAbove: Number.MAX_SAFE_INTEGER,
    }
    const page = { limit, offset: 0, filters, fromBlock: 0, toBlock: blocks - 1 }
    for (const order of ['desc', 'asc'] as const)
      for (const share of [null, 0.5, order === 'desc' ? 0.01 : 0.99]) {
        const at =
          share !== null && list.key.map((_, index) => (index === 0 ? Math.floor(share * blocks) : 3))
        const query = { ...page, order, ...(at && { position: at }) }
        const statement = preparePage(store.schema, list, query, beside)
        const nodes = await planOf(store, statement, { run: true, prepared: true })
        const found = { filters, order, share, types: nodes.map((node) => node['Node Type']) }
        expect(found.types, JSON.stringify(found)).not.toContain('Seq Scan')
        expect(rowsExamined(nodes), JSON.stringify(found)).toBeLessThanOrEqual(examinedMax)
      }
  }

  test(`there are ${blocks * transfersPerBlock} transfers`, async () => {
    const found = await store.postgres.pool.query<{ n: number }>(
      `SELECT count(*) AS n FROM ${store.schema}.token_transfers`,
    )
    expect(found.rows[0]?.n).toBe(blocks * transfersPerBlock)
  })

  test('blocks', () => assertServed(blockList, {}))

  test.each(combinations(transactionFilters))('transactions by $names', async ({ names }) => {
    for (const filters of choices(transactionList, names)) await assertServed(transactionList, filters)
  })

  test.each(combinations(transferFilters))('transfers by $names', async ({ names }) => {
    for (const filters of choices(transferList, names))
      for (const tip20 of [true, false]) await assertServed(transferList, { ...filters, tip20 })
  })

  test('the hundredth page by number reads what it passes, and no more', async () => {
    for (const filters of choices(transferList, ['sender', 'token'])) {
      const query = {
        order: 'desc',
        limit,
        offset: 99 * (limit - 1),
        fromBlock: 0,
        toBlock: blocks - 1,
      } as const
      const asked = { ...query, filters: { ...filters, tip20: true } }
      const statement = preparePage(store.schema, transferList, asked, {
        columns: [],
        hashesAbove: Number.MAX_SAFE_INTEGER,
      })
      const nodes = await planOf(store, statement, { run: true, prepared: true })
      expect(rowsExamined(nodes)).toBeLessThanOrEqual(query.offset + examinedMax)
    }
  })
}

/** None, each alone and every two that go together. */
function combinations(names: readonly string[]): { readonly names: readonly string[] }[] {
  const pairs = names.flatMap((first, index) => names.slice(index + 1).map((second) => [first, second]))
  const sensible = pairs.filter((pair) => !exclusive.some((two) => two.every((name) => pair.includes(name))))
  return [[], ...names.map((name) => [name]), ...sensible].map((each) => ({ names: each }))
}

/** The three most frequent values of a column, one of few rows, and one of none. */
async function someValues(store: ChainStore, list: List, column: string): Promise<FilterValue[]> {
  const name = quoteIdentifier(column)
  if (column === 'status') return []
  const found = await store.postgres.pool.query<{ value: Buffer }>(
    `WITH counted AS MATERIALIZED (
       SELECT ${name} AS value, count(*) AS n FROM ${store.schema}.${list.table} WHERE ${name} IS NOT NULL GROUP BY 1)
     (SELECT value FROM counted ORDER BY n DESC, value LIMIT 3)
     UNION (SELECT value FROM counted ORDER BY n, value LIMIT 1)`,
  )
  return [...found.rows.map(({ value }) => toHex(value)), `0x${'12'.repeat(20)}`]
}
