// Goal: plans of both engines are read as steps below steps. Method: plans as the engines gave
// them, shortened.
import { expect, test } from 'vitest'
import { RequestFailure } from './queryAnswer.ts'
import { parseQueryPlan, planAnswer, planSummary } from './queryPlan.ts'

const answerOf = (engine: string, plan: unknown, relations: readonly string[] = ['blocks', 'logs']) => ({
  ok: true,
  ...{ engine, relations },
  estimate: { rows: 9251, bytes: 535_315, time_ms: 12 },
  price: { amount: '0.000003010', currency: 'USD' },
  plan: [{ Plan: plan }],
})

test('a plan of Postgres shows tables, indexes, conditions and expected rows', () => {
  const plan = parseQueryPlan(
    answerOf('postgres', {
      'Node Type': 'Sort',
      'Plan Rows': 1200,
      'Sort Key': ['num DESC', 'hash'],
      Plans: [
        {
          'Node Type': 'Index Scan',
          'Relation Name': 'blocks_from_0',
          'Index Name': 'blocks_from_0_pkey',
          'Index Cond': '(num >= 0)',
          Filter: '(gas_used > 1)',
          'Plan Rows': 7,
        },
      ],
    }),
  )
  expect(planAnswer(plan).rows).toEqual([
    ['Sort', '1,200', '', 'num DESC, hash'],
    ['↳ Index Scan', '7', 'blocks by primary key', '(num >= 0), (gas_used > 1)'],
  ])
  expect(planSummary(plan)).toBe('Not run. Reads about 9,251 rows (535 kB) in 12 ms for 0.00000301 dollars.')
})

test('a plan of ClickHouse shows what its indexes leave to be read', () => {
  const index = { Type: 'PrimaryKey', 'Initial Granules': 12, 'Selected Granules': 3 }
  const read = { 'Node Type': 'ReadFromMergeTree', Description: 'chain_1.logs', Indexes: [index] }
  const filter = { 'Node Type': 'Filter', Description: 'WHERE', Plans: [read] }
  const { rows } = planAnswer(
    parseQueryPlan(answerOf('clickhouse', { 'Node Type': 'Limit', Plans: [filter] })),
  )
  expect(rows).toEqual([
    ['Limit', '', '', ''],
    ['↳ Filter', '', '', 'WHERE'],
    ['  ↳ ReadFromMergeTree', '', 'logs', 'PrimaryKey leaves 3 of 12 granules'],
  ])
})

test('steps name the tables of the query, not those that they are stored in', () => {
  const scan = (table: string, condition: string) => ({
    'Node Type': 'Index Scan',
    'Relation Name': table,
    'Index Name': `${table}_block_num_idx`,
    'Index Cond': condition,
  })
  const join = {
    'Node Type': 'Nested Loop',
    Plans: [scan('txs_from_0', '(block_num > 5)'), scan('logs_from_500', '(txs_from_0.hash = tx_hash)')],
  }
  const named = (plan: unknown, ...relations: string[]) =>
    parseQueryPlan(answerOf('postgres', plan, relations)).steps.map(({ reads, condition }) => [
      reads,
      condition,
    ])
  expect(named(join, 'logs', 'receipts')).toEqual([
    ['', ''],
    ['receipts by block_num_idx', '(block_num > 5)'],
    ['logs by block_num_idx', '(txs.hash = tx_hash)'],
  ])
  const read = (table: string) => ({ 'Node Type': 'ReadFromMergeTree', Description: `chain_1.${table}` })
  expect(named(read('holder_deltas'), 'address_transfers', 'token_holder_deltas')).toEqual([
    ['address_transfers or token_holder_deltas', ''],
  ])
  expect(named(read('txs'), 'receipts', 'txs')).toEqual([['txs', '']])
  expect(named({ 'Node Type': 'Result' }, 'blocks')).toEqual([['', '']])
  expect(named(read('system.one'))).toEqual([['system.one', '']])
})

test('an answer that is no plan is refused, and a plan of unknown shape has no steps', () => {
  for (const body of [null, {}, { ok: true }, { ok: false, estimate: {}, price: {} }])
    expect(() => parseQueryPlan(body)).toThrow(RequestFailure)
  expect(parseQueryPlan({ ...answerOf('postgres', 7), plan: 'text' }).steps).toEqual([])
  expect(parseQueryPlan(answerOf('postgres', 7)).steps).toEqual([])
})
