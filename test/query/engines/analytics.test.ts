// Goal: each of the eighteen analytics tables of the contract, and the two beyond it, holds exactly
// what follows from the node's raw answers up to the horizon. Method: a recorded chain in
// ClickHouse up to what is final, and a reducer that knows only viem.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { relationsOf } from '#query/relations/views.ts'
import { type ChainApi, openChainApi } from '../../api/support/chainApi.ts'
import { readRecording } from '../../chain/recordings.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type AnalyticsRow, reduceAnalytics } from './analyticsReducer.ts'

const recording = 'tempo-dev-2k'
const finalBlock = 110

/** As the contract lists them. */
const names = [
  'token_balances',
  'token_holder_counts',
  'token_holder_deltas',
  'token_metadata',
  'token_supply',
  'token_transfers',
  'token_approvals',
  'token_transfer_stats',
  'address_balances',
  'address_transfers',
  'address_txs',
  'address_holder_deltas',
  'dex_pairs',
  'dex_orders',
  'dex_fills',
  'dex_ohlc_1m',
  'dex_pair_liquidity',
  'contract_creations',
]
const beyond = ['dex_order_events', 'dex_fills_enriched']

describe('analytics tables', () => {
  let api: ChainApi
  let expected: Readonly<Record<string, AnalyticsRow[]>>
  beforeAll(async () => {
    expected = reduceAnalytics(readRecording(recording).slice(0, finalBlock + 1))
    api = await openChainApi()
    await api.append(recordedBatches(recording, 10))
    await api.finalize(finalBlock)
    await api.fillClickHouse()
  })
  afterAll(() => api?.close())

  test('are the eighteen of the contract and two more', () => {
    expect(Object.keys(expected).sort()).toEqual([...names, ...beyond].sort())
    const served = relationsOf('clickhouse').map(({ name }) => name)
    expect(served).toEqual(expect.arrayContaining([...names, ...beyond]))
    expect(relationsOf('postgres').map(({ name }) => name)).not.toContain('token_balances')
  })

  test.each([...names, ...beyond])('%s is what follows from the node’s answers', async (name) => {
    const wanted = expected[name] ?? []
    const columns = Object.keys(wanted[0] ?? {})
    const rows = await readAll(name, columns)
    expect(wanted.length).toBeGreaterThan(0)
    expect(rows.length).toBe(wanted.length)
    expect(rows.map(lineOf).sort()).toEqual(wanted.map((row) => lineOf(Object.values(row))).sort())
  })

  /** In slices, since an answer has at most 10,000 rows. */
  async function readAll(name: string, columns: readonly string[]): Promise<unknown[][]> {
    const rows: unknown[][] = []
    const list = columns.map((column) => `"${column}"`).join(', ')
    const step = columns[0] === 'block_num' ? 20 : Number.POSITIVE_INFINITY
    for (let from = 0; from <= finalBlock; from += step) {
      const where =
        step === Number.POSITIVE_INFINITY ? '' : ` WHERE block_num >= ${from} AND block_num < ${from + step}`
      const { status, body } = await api.get(
        `/v1/indexer/query?engine=clickhouse&sql=${encodeURIComponent(`SELECT ${list} FROM ${name}${where}`)}`,
      )
      expect([status, body.error, body.truncated]).toEqual([200, undefined, false])
      rows.push(...body.rows)
    }
    return rows
  }
})

const lineOf = (values: readonly unknown[]): string => JSON.stringify(values)
