/**
 * Child process: indexes a node into given engines until it has caught up, or until its failpoint
 * kills it.
 */
import { openRelay } from '#ingest/relay/openRelay.ts'
import { createSource } from '#ingest/rpc/rpcSource.ts'
import { hash } from '#primitives.ts'
import { Chain } from '#program/chain/Chain.ts'
import { postgresLeases } from '#rows/leases.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { adoptClickHouse } from '#store/clickhouse/adopt.ts'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { migrateApp, migrateChain, migrateClickHouse } from '#store/maintain/migrate.ts'
import { openPostgres } from '#store/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import type { Checks } from '#transform/profile.ts'
import { namedHolder } from '../../support/namedHolder.ts'

/** The parent's task, as JSON in the environment. */
export interface IndexerTask {
  readonly databaseUrl: string
  readonly clickhouseUrl: string
  readonly clickhouseUsername: string
  readonly clickhousePassword: string
  readonly chainId: number
  readonly nodeUrl: string
  readonly nodeChainId: number
  readonly checks: Checks
  readonly failpoint: string
}

/** Small batches, so that there are many places to die in. */
const BATCH_BLOCKS_MAX = 8

const task: IndexerTask = JSON.parse(process.env['INDEXER_TASK'] ?? '{}')
const runtime = systemRuntime(task.failpoint)
const postgres = openPostgres({
  url: task.databaseUrl,
  applicationName: 'crashing indexer',
  log: silentLogger,
})
const clickhouse = openClickHouse({
  url: task.clickhouseUrl,
  username: task.clickhouseUsername,
  password: task.clickhousePassword,
})
await migrateApp(postgres)
await migrateChain(postgres, task.chainId, { leases: postgresLeases(postgres) })
await migrateClickHouse(clickhouse, task.chainId, { cluster: null })
await adoptClickHouse(postgres, clickhouse, task.chainId)
const source = createSource({
  chainId: task.nodeChainId,
  urls: [task.nodeUrl],
  finalityDepth: 0,
  runtime,
  log: silentLogger,
  batchBlocksMax: BATCH_BLOCKS_MAX,
})
const chain = new Chain({
  identity: {
    chainId: task.chainId,
    genesisHash: hash(`0x${'00'.repeat(32)}`),
    headerRule: 'ethereum',
    startBlock: 0,
  },
  kind: 'tempo',
  checks: task.checks,
  source,
  relay: openRelay(source, { clock: runtime.clock }),
  postgres,
  clickhouse,
  clickhouseRowsFolder: null,
  callContracts: async (calls) => calls.map(() => null),
  workerThreads: 1,
  holder: namedHolder('crashing indexer'),
  runtime,
  log: silentLogger,
})
await chain.start()
const never = new AbortController().signal
while (!chain.caughtUp('all')) await chain.state.bell.wait(runtime.clock, 100, never)
await chain.stop()
process.stdout.write('caught up\n')
process.exit(0)
