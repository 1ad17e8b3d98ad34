/** A recorded chain put together as the program does it, on databases given by address. */
import type { ClickHouseClient } from '@clickhouse/client'
import { Relay } from '#ingest/relay/Relay.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { hash } from '#primitives.ts'
import { Chain, type ChainLimits } from '#program/chain/Chain.ts'
import { postgresLeases } from '#rows/leases.ts'
import { type Runtime, systemRuntime } from '#runtime/runtime.ts'
import { adoptClickHouse } from '#store/clickhouse/adopt.ts'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { migrateApp, migrateChain, migrateClickHouse } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { type Logger, silentLogger } from '#telemetry.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import type { ChainKind, Checks } from '#transform/profile.ts'
import type { FreshDatabase } from '../../support/engines.ts'
import { namedHolder } from '../../support/namedHolder.ts'
import { type RecordedChain, recordedSource } from '../../support/recordedChain.ts'

/** The addresses of the databases; plain data, so that it can be handed to another process. */
export type Access = Omit<FreshDatabase, 'drop'>

export interface IndexedChainOptions {
  readonly access: Access
  /** Left out where another chain comes from `source`, whose block 0 is not looked at. */
  readonly recorded?: RecordedChain
  /** The source of blocks; the recording itself unless said otherwise. */
  readonly source?: RpcSource
  readonly kind?: ChainKind
  readonly checks?: Checks
  readonly startBlock?: number
  readonly batchBlocks?: number
  readonly holder?: string
  readonly limits?: Partial<ChainLimits>
  readonly runtime?: Runtime
  readonly log?: Logger
}

export interface IndexedChain {
  readonly chain: Chain
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  readonly schema: string
  readonly database: string
  close(): Promise<void>
}

/** Opens the databases and the chain; `chain.start()` begins to index. */
export async function openIndexedChain(options: IndexedChainOptions): Promise<IndexedChain> {
  const { access, recorded, checks = 'roots', runtime = systemRuntime(), log = silentLogger } = options
  const { chainId } = access
  const source = options.source ?? (recorded && sourceOf(recorded, chainId, options.batchBlocks))
  if (!source) throw new TypeError('neither a recording nor a source')
  const { postgres, clickhouse } = await openDatabases(access, log)
  const chain = new Chain({
    identity: {
      chainId,
      genesisHash: recorded?.refAt(0).hash ?? hash(`0x${'00'.repeat(32)}`),
      headerRule: 'ethereum',
      startBlock: options.startBlock ?? 0,
    },
    kind: options.kind ?? 'tempo',
    checks,
    source,
    relay: new Relay([], runtime.clock, false, { number: -1, finalized: -1 }),
    postgres,
    clickhouse,
    clickhouseRowsFolder: access.clickhouseRowsFolder,
    callContracts: async (calls) => calls.map(() => null),
    workerThreads: 1,
    holder: namedHolder(options.holder ?? 'test'),
    ...(options.limits && { limits: options.limits }),
    runtime,
    log,
  })
  return {
    chain,
    postgres,
    clickhouse,
    schema: schemaOf(chainId),
    database: databaseOf(chainId),
    close: async () => {
      await chain.stop()
      await clickhouse.close()
      await postgres.close()
    },
  }
}

/** The recording as a node. */
export function sourceOf(recorded: RecordedChain, chainId: number, batchBlocks = 5): RpcSource {
  return {
    ...recordedSource(recorded, chainId, batchBlocks),
    notes: [],
    finalityHeld: null,
    endpoints: () => [],
    call: async () => null,
    callAll: async (calls) => calls.map(() => null),
    callEach: async () => [],
  }
}

/** Both stores of a database, migrated as for a start. */
export async function openDatabases(access: Access, log: Logger) {
  const { chainId } = access
  const postgres = openPostgres({ url: access.databaseUrl, applicationName: 'indexer', log })
  const clickhouse = openClickHouse({
    url: access.clickhouseUrl,
    username: access.clickhouseUsername,
    password: access.clickhousePassword,
  })
  await migrateApp(postgres)
  await migrateChain(postgres, chainId, { leases: postgresLeases(postgres) })
  await migrateClickHouse(clickhouse, chainId, { cluster: null })
  await adoptClickHouse(postgres, clickhouse, chainId)
  return { postgres, clickhouse }
}

/** The chain's blocks as its node holds them now, encoded: what both stores must hold of them. */
export function encoded(
  recorded: RecordedChain,
  range: { readonly from: number; readonly to: number },
  checks: Checks = 'roots',
): EncodedBatch {
  const profile = { chainId: 0, kind: 'tempo', headerRule: 'ethereum', checks } as const
  return structuredClone(decodeRange(profile, recorded.range(range).bytes, range).batch)
}
