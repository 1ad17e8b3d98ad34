/** A chain's two stores, opened as the program opens them, on the engines of the run. */
import type { ClickHouseClient } from '@clickhouse/client'
import type { RawRange } from '#ingest/source.ts'
import { hash } from '#primitives.ts'
import { type Failpoint, systemRuntime } from '#runtime.ts'
import { BatchCache } from '#store/clickhouse/batchCache.ts'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { ClickHouseJournal } from '#store/clickhouse/journal.ts'
import { ClickHouseLane } from '#store/clickhouse/lane.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { adoptClickHouse, openChain, readLedgerIdentity } from '#store/ledger.ts'
import { migrateApp, migrateChain, migrateClickHouse } from '#store/migrate.ts'
import { openPostgres, type Postgres, schemaOf } from '#store/postgres.ts'
import { ClickHouseSink } from '#store/sinks/clickhouse.ts'
import { PostgresHistorySink } from '#store/sinks/history.ts'
import { PostgresHeadSink } from '#store/sinks/postgres.ts'
import { silentLogger } from '#telemetry.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { decodeRange } from '#transform/decodeRange.ts'
import { freshDatabase } from '../../support/engines.ts'
import { devProfile, recordedRanges } from '../../transform/ranges.ts'

export interface ChainStore {
  readonly chainId: number
  readonly schema: string
  readonly database: string
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  readonly head: PostgresHeadSink
  readonly history: PostgresHistorySink
  readonly lane: ClickHouseLane
  readonly journal: ClickHouseJournal
  readonly cache: BatchCache
  close(): Promise<void>
}

export interface ChainStoreOptions {
  /** First block of the head lane. */
  readonly headFrom: number
  readonly failpoint?: Failpoint
  /** Bytes of the batch cache; 0 makes ClickHouse read everything from the archive. */
  readonly cacheBytes?: number
}

const fence = 1n

/** Opens a new chain in a new database. */
export async function openChainStore(options: ChainStoreOptions): Promise<ChainStore> {
  const { headFrom, failpoint = () => {}, cacheBytes = 1 << 28 } = options
  const access = await freshDatabase()
  const postgres = openPostgres({ url: access.databaseUrl, applicationName: 'test', log: silentLogger })
  const clickhouse = openClickHouse({
    url: access.clickhouseUrl,
    username: access.clickhouseUsername,
    password: access.clickhousePassword,
  })
  const { chainId } = access
  const schema = schemaOf(chainId)
  await migrateApp(postgres)
  await migrateChain(postgres, chainId)
  await migrateClickHouse(clickhouse, chainId, { cluster: null })
  const genesisHash = hash(`0x${'00'.repeat(32)}`)
  await openChain(postgres, { chainId, genesisHash, headerRule: 'ethereum', startBlock: 0 }, headFrom, fence)
  await adoptClickHouse(postgres, clickhouse, chainId)
  const { ledgerId } = await readLedgerIdentity(postgres)
  const cache = new BatchCache(cacheBytes)
  const listener = {
    appended: async (batch: EncodedBatch) => cache.add(batch),
    reverted: (range: { from: number; to: number }) => cache.drop(range),
  }
  const sinkOptions = { postgres, schema, fence, listener, failpoint }
  const journal = new ClickHouseJournal(postgres, schema)
  const { clock } = systemRuntime()
  const sink = new ClickHouseSink({
    client: clickhouse,
    database: databaseOf(chainId),
    ledgerId,
    journal,
    assertMayWrite: () => {},
    clock,
    failpoint,
  })
  const lane = new ClickHouseLane({
    postgres,
    schema,
    sink,
    journal,
    cache,
    decode: async (raw) => decode(raw),
    clock,
    log: silentLogger,
    seal: async () => true,
    onWritten: () => {},
  })
  return {
    chainId,
    schema,
    database: databaseOf(chainId),
    postgres,
    clickhouse,
    head: new PostgresHeadSink(sinkOptions),
    history: new PostgresHistorySink(sinkOptions),
    lane,
    journal,
    cache,
    close: async () => {
      await clickhouse.close()
      await postgres.close()
      await access.drop()
    },
  }
}

/** The recorded chain as batches of `width` blocks. */
export function recordedBatches(name: string, width: number): EncodedBatch[] {
  return recordedRanges(name, width).map(({ range, bytes }) =>
    decode({ range, bytes, endpoint: 'recording' }),
  )
}

/** A batch of its own buffers: the test runs the worker's code without its thread. */
export function decode(raw: RawRange): EncodedBatch {
  return structuredClone(decodeRange(devProfile, raw.bytes, raw.range).batch)
}
