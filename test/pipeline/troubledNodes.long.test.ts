// Goal: on the five nodes on which other indexers lost rows or had to be restarted, every log is
// held once and nothing else is: one without trouble; six reorgs of depth 1 to 10; one that answers
// null, old blocks and a head behind its own; one that refuses, drops, cuts off and errs; and one
// with a tight quota.
// Method: the recording grows under the whole pipeline on real engines, in one process that is
// never restarted; at the end block, index and transaction of every log are compared with what the
// node, calm by then, says. Forks carry no valid roots, so blocks are checked for shape and links
// only.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { selectRows } from '#store/clickhouse/client.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { toHex } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { type Replay, startReplay } from '../chain/startReplay.ts'
import { freshDatabase } from '../support/engines.ts'
import { loadRecordedChain } from '../support/recordedChain.ts'
import { type IndexedChain, openIndexedChain } from './support/indexedChain.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const [HEAD, LAST, FINALITY] = [60, 122, 15]
const converged = { timeout: 120_000, interval: 200 }

const nodes: Readonly<Record<string, readonly string[]>> = {
  'has no trouble': [],
  'changes its mind six times, up to ten blocks deep': ['--reorg-at', '65:1,70:2,80:4,90:6,100:8,115:10'],
  'answers null, old blocks and a head behind its own': [
    ...['--missing', '0.1', '--stale', '0.1', '--behind', '0.2', '--reorg-at', '75:3,100:5'],
  ],
  'refuses, drops, cuts off and errs': [
    ...[
      '--fail-429',
      '0.05',
      '--fail-503',
      '0.05',
      '--drop',
      '0.05',
      '--truncate',
      '0.03',
      '--rpc-error',
      '0.02',
    ],
  ],
  'allows 50 requests a second, 50 blocks and 2,000 logs': [
    ...['--rate', '50', '--max-range', '50', '--max-logs', '2000'],
  ],
}

/** Block, index and transaction of each log, in order. */
type Logs = readonly string[]
const named = (block: number, index: number, hash: string) => `${block} ${index} ${hash}`

describe('every log is held once of a node that', () => {
  test.each(Object.keys(nodes))('%s', async (name) => {
    const size = ['--head', `${HEAD}`, '--block-time', '150', '--finality', `${FINALITY}`]
    const replay = await startReplay('--shape', 'tempo', ...size, ...(nodes[name] ?? []))
    onTestFinished(() => replay.close())
    const indexed = await openIndexed(replay)
    onTestFinished(() => indexed.close())
    await indexed.chain.start()
    const coverage = (store: 'postgres' | 'clickhouse') =>
      readCoverage(indexed.postgres.pool, indexed.schema, store)
    await expect.poll(() => coverage('postgres'), converged).toEqual([{ from: 0, to: LAST }])
    await calm(replay)
    const told = await logsOf(replay)
    expect(told.length).toBeGreaterThan(2_000)
    // A fork of the last blocks may be noticed only now.
    await expect.poll(() => logsInPostgres(indexed), converged).toEqual(told)
    const final = LAST - FINALITY
    await expect.poll(() => coverage('clickhouse'), converged).toEqual([{ from: 0, to: final }])
    const isFinal = (log: string) => Number.parseInt(log, 10) <= final
    expect(await logsInClickHouse(indexed)).toEqual(told.filter(isFinal))
    expect(indexed.chain.headStatus.state).toBe('running')
  })
})

async function openIndexed(replay: Replay): Promise<IndexedChain> {
  const source = createSource({
    chainId: 42431,
    urls: [replay.url],
    finalityDepth: FINALITY,
    runtime: systemRuntime(),
    log: silentLogger,
    batchBlocksMax: 10,
  })
  const recorded = await loadRecordedChain('tempo-dev-2k', LAST, FINALITY)
  return openIndexedChain({ access: await freshDatabase(), recorded, source, checks: 'links' })
}

const calm = (replay: Replay) =>
  replay.control('replay_set', {
    ...{ 'fail-429': 0, 'fail-503': 0, drop: 0, truncate: 0, 'rpc-error': 0 },
    ...{ missing: 0, stale: 0, behind: 0, rate: 0 },
  })

interface Log {
  readonly blockNumber: string
  readonly logIndex: string
  readonly transactionHash: string
}

async function logsOf(replay: Replay): Promise<Logs> {
  const told: string[] = []
  for (let block = 0; block <= LAST; block++) {
    const receipts = await replay.control('eth_getBlockReceipts', `0x${block.toString(16)}`)
    for (const { logs } of receipts as readonly { readonly logs: readonly Log[] }[])
      for (const { blockNumber, logIndex, transactionHash } of logs)
        told.push(named(Number(blockNumber), Number(logIndex), transactionHash))
  }
  return told
}

async function logsInPostgres({ postgres, schema }: IndexedChain): Promise<Logs> {
  const { rows } = await postgres.pool.query<{ block_num: number; log_idx: number; tx_hash: Buffer }>(
    `SELECT block_num, log_idx, tx_hash FROM ${schema}.logs ORDER BY block_num, log_idx`,
  )
  return rows.map((row) => named(Number(row.block_num), row.log_idx, toHex(row.tx_hash)))
}

async function logsInClickHouse({ clickhouse, database }: IndexedChain): Promise<Logs> {
  const rows = await selectRows<{ block: number; index: number; hash: string }>(
    clickhouse,
    `SELECT toUInt32(block_num) AS block, toUInt32(log_idx) AS index, lower(concat('0x', hex(tx_hash))) AS hash
     FROM ${database}.logs ORDER BY block_num, log_idx`,
  )
  return rows.map(({ block, index, hash }) => named(block, index, hash))
}
