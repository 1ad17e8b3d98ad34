// Goal: a number that nobody can prove, and no column holds, ends nothing when every endpoint tells it.
// Method: a whole pipeline on real engines before two nodes that agree on it.
import { expect, onTestFinished, test } from 'vitest'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { isRecord } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { readArchivedHeader } from '#store/ledger/archive.ts'
import { silentLogger } from '#telemetry.ts'
import { startReplay } from '../chain/startReplay.ts'
import { forward, startNode } from '../ingest/support/proxyNode.ts'
import { migratedDatabase } from '../support/engines.ts'
import { loadRecordedChain } from '../support/recordedChain.ts'
import { openIndexedChain } from './support/indexedChain.ts'

const [HEAD, FINALITY] = [60, 5]
const told = { size: '0x10000000000000000', effectiveGasPrice: `0x${'f'.repeat(64)}` }

test('a size of 2^64 and a price of 2^256 - 1 from both of two endpoints: the chain goes on, the answer is kept', async () => {
  const replay = await startReplay('--shape', 'anvil', '--head', `${HEAD}`, '--finality', `${FINALITY}`)
  onTestFinished(() => replay.close())
  const nodes = await Promise.all(
    [1, 2].map(() =>
      startNode({
        call: async (call) => {
          const answer = await forward(replay.url, call)
          return 'result' in answer ? { result: withNumbers(call.method, answer.result) } : answer
        },
      }),
    ),
  )
  onTestFinished(async () => {
    for (const node of nodes) await node.close()
  })
  const { drop, ...access } = await migratedDatabase()
  onTestFinished(drop)
  const source = createSource({
    chainId: 42431,
    urls: nodes.map(({ url }) => url),
    finalityDepth: FINALITY,
    runtime: systemRuntime(),
    log: silentLogger,
    batchBlocksMax: 10,
  })
  const recorded = await loadRecordedChain('tempo-dev-2k', HEAD, FINALITY)
  const { chain, postgres, schema, close } = await openIndexedChain({ access, recorded, source })
  onTestFinished(close)
  await chain.start()
  const wait = { timeout: 120_000, interval: 50 }
  await expect.poll(() => chain.state.coverage('postgres'), wait).toEqual([{ from: 0, to: HEAD }])
  await expect
    .poll(() => chain.state.coverage('clickhouse'), wait)
    .toEqual([{ from: 0, to: HEAD - FINALITY }])
  expect(chain.headStatus).toEqual({ state: 'running', problem: null })

  const { rows } = await postgres.pool.query(
    `SELECT count(*)::int AS blocks, count(size)::int AS sizes,
       (SELECT max(effective_gas_price)::text FROM ${schema}.txs) AS price FROM ${schema}.blocks`,
  )
  expect(rows).toEqual([{ blocks: HEAD + 1, sizes: 0, price: `${2n ** 256n - 1n}` }])
  const archived = await readArchivedHeader(postgres.pool, schema, HEAD)
  expect(archived?.block).toMatchObject({ size: told.size })
})

/** A node's answer with those numbers in it. */
function withNumbers(method: string, result: unknown): unknown {
  if (method === 'eth_getBlockByNumber' && isRecord(result)) return { ...result, size: told.size }
  if (method !== 'eth_getBlockReceipts' || !Array.isArray(result)) return result
  return result.map((receipt: object) => ({ ...receipt, effectiveGasPrice: told.effectiveGasPrice }))
}
