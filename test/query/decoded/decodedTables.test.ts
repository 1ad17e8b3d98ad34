// Goal: tables of random events mean on both engines what the events hold.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { QueryResult, UserQueryEngine } from '#query/result.ts'
import { arbitraryEvent, signatureOf } from '../../support/arbitraryEvent.ts'
import { arbitraryDamagedLog, arbitraryLog } from '../../support/arbitraryLog.ts'
import { seedsFrom } from '../../support/breadth.ts'
import { openEngine } from '../support/engine.ts'
import { expectedRow, logRow } from '../support/eventLogs.ts'
import { createExampleChain, type ExampleChain } from '../support/exampleChain.ts'

const seed = 5
const events = seedsFrom(0, 15, 60).map((index) => {
  const [event] = fc.sample(arbitraryEvent(`Event${index}`), { seed: seed + index, numRuns: 1 })
  if (!event) throw new Error('no event')
  return {
    event,
    intact: fc.sample(arbitraryLog(event), { seed, numRuns: 8 }),
    damaged: fc.sample(arbitraryDamagedLog(event), { seed, numRuns: 12 }),
  }
})

let chain: ExampleChain
let postgres: UserQueryEngine
let clickhouse: UserQueryEngine

beforeAll(async () => {
  const logs = events.flatMap(({ intact, damaged }, number) => [
    ...intact.map((log, index) => logRow(log, number, index)),
    ...damaged.map((log, index) => logRow(log, number + 1_000, index)),
  ])
  chain = await createExampleChain({ logs })
  postgres = openEngine(chain, 'postgres')
  clickhouse = openEngine(chain, 'clickhouse')
})

afterAll(async () => {
  await postgres?.close()
  await clickhouse?.close()
  await chain?.close()
})

const run = (engine: UserQueryEngine, sql: string, signatures: readonly string[]): Promise<QueryResult> =>
  engine.run({ chainId: chain.chainId, sql, signatures, limit: 1_000, timeoutMs: 20_000 })

describe('tables of random events', () => {
  it.each(events.map((each) => ({ ...each, signature: signatureOf(each.event) })))(
    'have viem’s values on both engines: $signature',
    async ({ event, signature, intact }) => {
      const columns = event.inputs.map(({ name }) => name).join(', ')
      const sql = `SELECT ${columns} FROM ${event.name} WHERE block_num < 1000 ORDER BY log_idx`
      const [one, two] = [await run(postgres, sql, [signature]), await run(clickhouse, sql, [signature])]
      expect(one.rows).toEqual(intact.map((log) => expectedRow(event, log)))
      expect(two.rows).toEqual(one.rows)
      expect(two.columnTypes).toEqual(one.columnTypes)
      expect(two.columns).toEqual(one.columns)
    },
  )

  it.each(events.map((each) => ({ ...each, signature: signatureOf(each.event) })))(
    'read damaged logs alike on both engines: $signature',
    async ({ event, signature }) => {
      const sql = `SELECT * FROM ${event.name} WHERE block_num >= 1000 ORDER BY log_idx`
      const [one, two] = [await run(postgres, sql, [signature]), await run(clickhouse, sql, [signature])]
      expect(two.rows).toEqual(one.rows)
      expect(two.columns).toEqual(one.columns)
    },
  )
})
