// Goal: 10,000 subscriptions and 100 firehoses catch up within 500 MB, and nobody's events are left out (W3).
// Method: a backlog of a recorded chain, and a matcher in a process of its own that says how much memory
// it took; what it stored is counted against the chain's rows.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { batchesOf, recorded } from './support/forks.ts'
import type { MatcherReport, MatcherTask } from './support/matcherProcess.ts'
import { copySubscription } from './support/openMatcher.ts'
import { openService, type Service } from './support/openService.ts'

const RESIDENT_MAX = 500 * 1024 * 1024
/** Memory of the child's JavaScript: what needs more ends it, and not this machine. */
const HEAP_MB = 400
const FIRST = 20
const LAST = 44

let service: Service
const main = recorded(60)
const run = promisify(execFile)

beforeAll(async () => {
  service = await openService()
  await service.append(batchesOf(main, 0, FIRST - 1))
})
afterAll(() => service.close())

test('10,000 subscriptions to every block and 100 to every transaction with its receipt catch up within 500 MB', async () => {
  const { store, id: chainId } = service
  const { postgres, schema } = store
  const count = async (text: string): Promise<number> => (await postgres.pool.query(text)).rows[0].n
  const destination = { type: 'url', url: 'http://127.0.0.1:9/' }
  const blocks = await service.subscribe({ eventType: 'block:created', destination })
  await copySubscription(postgres, blocks.id, 9_999)
  const filters = { includeReceipt: true }
  const firehose = await service.subscribe({ eventType: 'transaction:included', destination, filters })
  await copySubscription(postgres, firehose.id, 99)
  await service.append(batchesOf(main, FIRST, LAST))

  const task: MatcherTask = { databaseUrl: store.access.databaseUrl, chainId, schema }
  const child = join(import.meta.dirname, 'support/matcherProcess.ts')
  const { stdout } = await run(process.execPath, [`--max-old-space-size=${HEAP_MB}`, child], {
    env: { ...process.env, MATCHER_TASK: JSON.stringify(task) },
  })
  const { residentBytes }: MatcherReport = JSON.parse(stdout)
  expect(residentBytes).toBeLessThan(RESIDENT_MAX)
  const txs = await count(`SELECT count(*) AS n FROM ${schema}.txs WHERE block_num >= ${FIRST}`)
  expect(await count(`SELECT count(*) AS n FROM app.webhook_messages WHERE type = 'block:created'`)).toBe(
    10_000 * (LAST - FIRST + 1),
  )
  expect(
    await count(`SELECT count(*) AS n FROM app.webhook_messages WHERE type = 'transaction:included'`),
  ).toBe(100 * txs)
})
