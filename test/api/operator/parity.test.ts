// Goal: both stores are compared by content, the comparison can be asked for, and a difference is
// an alarm until it is mended. Method: the recorded chain in both stores, rows of ClickHouse
// damaged behind the program's back.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BlockRange } from '#ingest/range.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { ParityWatch } from '#store/compare/ParityWatch.ts'
import { compareRange, newestShared } from '#store/compare/parity.ts'
import { type Logger, metrics } from '#telemetry.ts'
import { analyticsTableNames } from '#transform/tables.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'

const final = 110

describe('parity', () => {
  let api: ChainApi
  const alarms: string[] = []
  const log: Logger = {
    debug() {},
    info() {},
    warn() {},
    error: (_fields, message) => alarms.push(message),
  }
  beforeAll(async () => {
    api = await openChainApi()
    await api.append(recordedBatches('tempo-dev-2k', 10))
    await api.finalize(final)
    await api.fillClickHouse()
  })
  afterAll(() => api?.close())

  const stores = () => {
    const { postgres, clickhouse, schema, database } = api.store
    return { postgres, clickhouse, schema, database }
  }
  const command = (query: string) =>
    api.store.clickhouse.command({ query, clickhouse_settings: { mutations_sync: '2' } })
  const openWatch = (): ParityWatch => {
    // Comparing again before an alarm is a matter of order here, not of time.
    const clock = { ...systemRuntime().clock, sleep: async () => {} }
    const coverage = (store: 'postgres' | 'clickhouse') => api.state.coverage(store)
    return new ParityWatch({ ...stores(), chainId: api.chainId, coverage, clock, log })
  }
  const steps = async (watch: ParityWatch, count: number) => {
    for (let step = 0; step < count; step++) await watch.step(new AbortController().signal)
  }

  test('every table is digested by each store on its own, and equal', async () => {
    const { status, body } = await api.get('/v1/indexer/digest?from=0&to=110')
    expect([status, body.from, body.to, body.equal]).toEqual([200, 0, final, true])
    expect(body.tables.map(({ table }: { table: string }) => table)).toEqual(analyticsTableNames)
    for (const { table, postgres, clickhouse } of body.tables) {
      // Tempo has no coin of its own.
      if (table === 'native_transfers') expect(postgres.rows).toBe(0)
      else expect(postgres.rows, table).toBeGreaterThan(0)
      expect(clickhouse, table).toEqual(postgres)
    }
  })

  test('without bounds it is the newest hundred blocks that both hold', async () => {
    const { body } = await api.get('/v1/indexer/digest')
    expect([body.from, body.to]).toEqual([11, final])
    expect(newestShared([{ from: 0, to: 9 }], [])).toBeUndefined()
  })

  test.each([
    ['from=0&to=115', 409, 'coverage_incomplete'],
    ['from=9&to=8', 422, 'range_invalid'],
    ['from=0&to=1000', 400, 'query_invalid'],
  ])('%s is %i %s', async (range, status, code) => {
    const answer = await api.get(`/v1/indexer/digest?${range}`)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
  })

  test('the watch compares each block once, then all of them again', async () => {
    const watch = openWatch()
    expect(watch.status).toEqual({ state: 'waiting', comparedBlocks: 0, rounds: 0, problem: null })
    await steps(watch, 1)
    expect(watch.status).toMatchObject({ state: 'equal', comparedBlocks: final + 1, rounds: 0 })
    await steps(watch, 2)
    expect(watch.status).toMatchObject({ state: 'equal', comparedBlocks: final + 1, rounds: 1 })
    expect(alarms).toEqual([])
  })

  test.each([
    ['lost', 'DELETE WHERE block_num = 40 AND log_idx = 3'],
    ['changed', 'UPDATE amount = amount + 1 WHERE block_num = 50 AND log_idx = 2'],
  ])('a row that was %s is an alarm until it is mended', async (_, damage) => {
    const range: BlockRange = { from: 0, to: final }
    await command(
      `CREATE TABLE ${api.store.database}.kept ENGINE = Memory AS SELECT * FROM ${api.store.database}.holder_deltas`,
    )
    const watch = openWatch()
    await steps(watch, 1)
    await command(`ALTER TABLE ${api.store.database}.holder_deltas ${damage}`)
    const [found] = (await compareRange(stores(), range)).filter((table) => table.firstDifference !== null)
    expect([found?.table, found?.firstDifference]).toEqual(['holder_deltas', damage.includes('40') ? 40 : 50])
    alarms.length = 0
    await steps(watch, 2)
    expect(watch.status).toMatchObject({
      state: 'differs',
      problem: expect.stringContaining('holder_deltas differs between the stores from block'),
    })
    expect(alarms).toHaveLength(1)
    expect(await gauge()).toBe(1)
    const { body } = await api.get('/v1/indexer/digest?from=0&to=110')
    expect([body.equal, body.tables.filter(({ equal }: { equal: boolean }) => !equal).length]).toEqual([
      false,
      1,
    ])

    await command(`TRUNCATE TABLE ${api.store.database}.holder_deltas`)
    await command(`INSERT INTO ${api.store.database}.holder_deltas SELECT * FROM ${api.store.database}.kept`)
    await command(`DROP TABLE ${api.store.database}.kept`)
    await steps(watch, 2)
    expect([watch.status.state, await gauge()]).toEqual(['equal', 0])
    expect(alarms).toHaveLength(1)
  })

  const gauge = async (): Promise<number | undefined> =>
    (await metrics.parityDifferences.get()).values.find(({ labels }) => labels.chain === `${api.chainId}`)
      ?.value
})
