// Goal: no list scans a table: every filter, alone and with the bounds every list has, is served by
// the index made for it.
// Method: the recorded chain copied upwards until scanning would cost something, analyzed, and the
// server's own plans.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileCount } from '#store/read/lists/compile.ts'
import {
  blockList,
  type FilterValue,
  type List,
  transactionList,
  transferList,
} from '#store/read/lists/list.ts'
import { preparePage } from '#store/read/lists/preparedPage.ts'
import { firstFrom, lastTo } from '#store/read/lists/read.ts'
import { quoteIdentifier } from '#store/sql.ts'
import { type ChainStore, openChainStore, recordedBatches } from '../support/chainStore.ts'
import { copyUpwards, indexDefinition, type PlanNode, planOf } from '../support/plans.ts'

const recordedBlocks = 123
const copies = 40

/** Filters, and for each of the plan's scans the columns its index begins with. */
type Case = [List, Readonly<Record<string, FilterValue | 'some'>>, readonly string[]]
const cases: Case[] = [
  [blockList, {}, ['num']],
  [transactionList, {}, ['block_num']],
  [transactionList, { sender: 'some' }, ['from']],
  [transactionList, { recipient: 'some' }, ['to']],
  [transactionList, { address: 'some' }, ['from', 'to']],
  [transactionList, { feePayer: 'some' }, ['fee_payer']],
  [transactionList, { feeToken: 'some' }, ['paid_fee_token']],
  [transactionList, { reverted: true }, ['block_num']],
  [transactionList, { succeeded: true }, ['block_num']],
  [transactionList, { sender: 'some', succeeded: true }, ['hash_record_extended']],
  [transferList, { tip20: true }, ['block_num']],
  [transferList, { tip20: true, sender: 'some' }, ['from']],
  [transferList, { tip20: true, recipient: 'some' }, ['to']],
  [transferList, { tip20: true, address: 'some' }, ['from', 'to']],
  [transferList, { tip20: true, token: 'some' }, ['token']],
  [transferList, { tip20: false }, ['block_num']],
  [transferList, { tip20: false, sender: 'some' }, ['from']],
  [transferList, { tip20: false, address: 'some' }, ['from', 'to']],
]

const finalPage = { columns: [], hashesAbove: Number.MAX_SAFE_INTEGER }
/**
 * Not of the hashes of changeable blocks, which are read by number where a row has one, nor of
 * reorgs under the walk.
 */
const isOfPage = (node: PlanNode): boolean =>
  !/^(blocks_1|replaced|reverts)/.test(node.Alias ?? '') && !node['Subplan Name']

describe('plans of lists', () => {
  let store: ChainStore
  beforeAll(async () => {
    store = await openChainStore({ headFrom: 0 })
    for (const batch of recordedBatches('tempo-dev-2k', 40)) await store.head.append(batch)
    await copyUpwards(store, ['blocks', 'txs', 'token_transfers'], recordedBlocks, copies)
  })
  afterAll(() => store.close())

  /**
   * A value that few rows have: of one that many have, the newest rows are found soonest by walking
   * the blocks down.
   */
  async function someValue(list: List, name: string): Promise<FilterValue> {
    const filter = list.filters[name]
    const column =
      filter?.kind === 'either'
        ? (filter.columns[0] ?? '')
        : filter && 'column' in filter
          ? filter.column
          : ''
    const quoted = quoteIdentifier(column)
    const found = await store.postgres.pool.query<{ value: Buffer }>(
      `SELECT ${quoted} AS value FROM ${store.schema}.${list.table} WHERE ${quoted} IS NOT NULL
       ${list === transferList ? 'AND get_byte(token, 0) = 32' : ''} GROUP BY 1 HAVING count(*) > 100 ORDER BY count(*), 1 LIMIT 1`,
    )
    return `0x${found.rows[0]?.value.toString('hex')}`
  }

  test.each(cases)('%o filtered by %o', async (list, filters, expected) => {
    const values: Record<string, FilterValue> = {}
    for (const [name, value] of Object.entries(filters))
      values[name] = value === 'some' ? await someValue(list, name) : value
    const query = {
      order: 'desc',
      limit: 11,
      offset: 0,
      filters: values,
      fromBlock: 0,
      toBlock: 4_000,
    } as const
    const source = `${quoteIdentifier(store.schema)}.${list.table}`
    const position = list.key.map((_, index) => (index === 0 ? 2_000 : 3))
    const passed = { number: 3_990, hash: `0x${'11'.repeat(32)}` }
    const statements = [
      preparePage(store.schema, list, query, finalPage),
      preparePage(store.schema, list, { ...query, position, passed }, finalPage),
      preparePage(store.schema, list, { ...query, position }, finalPage),
      preparePage(store.schema, list, { ...query, position, order: 'asc' }, finalPage),
    ]
    for (const statement of statements) {
      const nodes = (await planOf(store, statement, { prepared: true })).filter(isOfPage)
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan')
      const scans = nodes.filter((node) => node['Index Name'] !== undefined)
      const definitions = await Promise.all(
        scans.map((node) => indexDefinition(store, node['Index Name'] ?? '')),
      )
      expect(definitions.map((definition) => /\("?(\w+)"?/.exec(definition)?.[1])).toEqual(expected)
    }
    const count = compileCount(list, query, 10_000, source).bind(query)
    const counted = await planOf(store, count, { prepared: true })
    const limited = counted.filter((node) => node['Node Type'] === 'Limit')
    expect(limited.length).toBeGreaterThan(0)
  })

  test('a transfer list of TIP-20 tokens walks an index that holds no others', async () => {
    for (const name of ['sender', 'recipient']) {
      const value = await someValue(transferList, name)
      const filters = { tip20: true, [name]: value }
      const query = { order: 'desc', limit: 11, offset: 0, filters, fromBlock: 0, toBlock: 4_000 } as const
      const statement = preparePage(store.schema, transferList, query, finalPage)
      const nodes = (await planOf(store, statement, { prepared: true })).filter(isOfPage)
      const scan = nodes.find((node) => node['Index Name'] !== undefined)
      expect(await indexDefinition(store, scan?.['Index Name'] ?? '')).toContain('20c000000000000000000000')
      expect(nodes.map((node) => node.Filter).filter((filter) => filter !== undefined)).toEqual([])
    }
  })

  test.each([firstFrom, lastTo])('a time becomes a block by the index: %s', async (condition) => {
    const text = `SELECT num FROM ${store.schema}.blocks WHERE ${condition}`
    const nodes = await planOf(store, { text, values: [1_770_500_000, 0, 4_900] }, { prepared: true })
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan')
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort')
  })
})
