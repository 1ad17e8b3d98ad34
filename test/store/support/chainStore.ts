/** A chain's two stores, opened as the program opens them, on the engines of the run. */
import type { ClickHouseClient } from '@clickhouse/client'
import type { BlockRange } from '#ingest/range.ts'
import type { RawRange } from '#ingest/source.ts'
import { hash } from '#primitives.ts'
import { postgresLeases } from '#rows/leases.ts'
import { type Clock, type Failpoint, systemRuntime } from '#runtime/runtime.ts'
import { adoptClickHouse } from '#store/clickhouse/adopt.ts'
import { BatchCache } from '#store/clickhouse/BatchCache.ts'
import { ClickHouseSink } from '#store/clickhouse/ClickHouseSink.ts'
import { ClickHouseTables } from '#store/clickhouse/ClickHouseTables.ts'
import { openClickHouse } from '#store/clickhouse/client.ts'
import { ClickHouseJournal } from '#store/clickhouse/journal.ts'
import type { ClickHouseLane } from '#store/clickhouse/lane.ts'
import { openClickHouseLane } from '#store/clickhouse/openLane.ts'
import { databaseOf } from '#store/clickhouse/template.ts'
import { openChain, readLedgerIdentity } from '#store/ledger/ledger.ts'
import { PostgresHeadSink } from '#store/ledger/PostgresHeadSink.ts'
import { PostgresHistorySink } from '#store/ledger/PostgresHistorySink.ts'
import { migrateApp, migrateChain, migrateClickHouse } from '#store/maintain/migrate.ts'
import { openPostgres, type Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { decodeRaw } from '#transform/decode/decodeRange.ts'
import type { Checks } from '#transform/profile.ts'
import { type FreshDatabase, migratedDatabase } from '../../support/engines.ts'
import { devProfile, recordedRanges } from '../../transform/ranges.ts'

export interface ChainStore {
  readonly access: FreshDatabase
  readonly chainId: number
  readonly schema: string
  readonly database: string
  readonly ledgerId: string
  readonly fence: bigint
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  readonly head: PostgresHeadSink
  readonly history: PostgresHistorySink
  readonly sink: ClickHouseSink
  readonly lane: ClickHouseLane
  readonly journal: ClickHouseJournal
  readonly cache: BatchCache
  close(): Promise<void>
}

export interface ChainStoreOptions {
  /** First block of the head lane. */
  readonly headFrom: number
  /** The first block of the chain's history; 0 unless said otherwise. */
  readonly startBlock?: number
  readonly failpoint?: Failpoint
  /** Bytes of the batch cache; 0 makes ClickHouse read everything from the archive. */
  readonly cacheBytes?: number
  /** Bytes of history that one transaction moves into a partition of the head lane. */
  readonly pieceBytes?: number
  /** Opens the databases of another store: the next process of the same chain. */
  readonly beside?: ChainStore
  /** Fencing number of the writer; 1 unless said otherwise. */
  readonly fence?: bigint
  readonly assertMayWrite?: () => void
  readonly checks?: Checks
  /** The engines as the sinks see them, for engines that misbehave. */
  readonly wrapPostgres?: (postgres: Postgres) => Postgres
  readonly wrapClickHouse?: (clickhouse: ClickHouseClient) => ClickHouseClient
  /** Another one than the engine's. */
  readonly rowsFolder?: string
}

const genesisHash = hash(`0x${'00'.repeat(32)}`)

/** Opens a new chain in a new database, or one more writer of a chain that is open. */
export async function openChainStore(options: ChainStoreOptions): Promise<ChainStore> {
  const { headFrom, startBlock = 0, beside, fence = 1n } = options
  const access = beside?.access ?? (await migratedDatabase())
  const { chainId } = access
  const postgres = openPostgres({ url: access.databaseUrl, applicationName: 'test', log: silentLogger })
  const clickhouse = openClickHouse({
    url: access.clickhouseUrl,
    username: access.clickhouseUsername,
    password: access.clickhousePassword,
  })
  await migrateApp(postgres)
  await migrateChain(postgres, chainId, { leases: postgresLeases(postgres) })
  await migrateClickHouse(clickhouse, chainId, { cluster: null })
  await openChain(postgres, { chainId, genesisHash, headerRule: 'ethereum', startBlock }, headFrom, fence)
  await adoptClickHouse(postgres, clickhouse, chainId)
  const { ledgerId } = await readLedgerIdentity(postgres, schemaOf(chainId))
  return {
    access,
    chainId,
    schema: schemaOf(chainId),
    database: databaseOf(chainId),
    ledgerId,
    fence,
    postgres,
    clickhouse,
    ...openSinks(options, access, ledgerId, postgres, clickhouse),
    close: async () => {
      await clickhouse.close()
      await postgres.close()
      if (!beside) await access.drop()
    },
  }
}

function openSinks(
  options: ChainStoreOptions,
  { chainId, clickhouseRowsFolder }: FreshDatabase,
  ledgerId: string,
  realPostgres: Postgres,
  clickhouse: ClickHouseClient,
) {
  const { failpoint = () => {}, cacheBytes = 1 << 28, fence = 1n, assertMayWrite = () => {} } = options
  const postgres = options.wrapPostgres?.(realPostgres) ?? realPostgres
  const schema = schemaOf(chainId)
  const cache = new BatchCache(cacheBytes)
  const listener = {
    appended: async (batch: EncodedBatch) => cache.add(batch),
    reverted: (range: BlockRange) => cache.drop(range),
    withdraw: (range: BlockRange, revert: () => Promise<void>) => lane.withdraw(range, revert),
  }
  const { pieceBytes } = options
  const sinkOptions = { postgres, schema, fence, listener, failpoint, ...(pieceBytes && { pieceBytes }) }
  const journal = new ClickHouseJournal(postgres, schema, fence)
  const clock = hurryingClock()
  const client = options.wrapClickHouse?.(clickhouse) ?? clickhouse
  // A statement that a test holds up on its way has to carry its rows.
  const rowsFolder = options.wrapClickHouse ? null : (options.rowsFolder ?? clickhouseRowsFolder)
  const sink = new ClickHouseSink({
    tables: new ClickHouseTables({ client, database: databaseOf(chainId), clock, rowsFolder }),
    ledgerId: () => ledgerId,
    journal,
    fence,
    assertMayWrite,
    failpoint,
  })
  const lane = openClickHouseLane({
    postgres,
    clickhouse: client,
    rowsFolder,
    chainId,
    lease: { fence, assertHeld: assertMayWrite },
    runtime: { ...systemRuntime(), clock, failpoint },
    cache,
    decode: async (raw) => decode(raw, options.checks),
    log: silentLogger,
    onWritten: () => {},
  })
  const [head, history] = [new PostgresHeadSink(sinkOptions), new PostgresHistorySink(sinkOptions)]
  return { head, history, sink, lane, journal, cache }
}

/** Time in which a small batch has always waited long enough for company. */
function hurryingClock(): Clock {
  let nowMs = 0
  return { ...systemRuntime().clock, monotonic: () => (nowMs += 60_000) }
}

/** Loads the blocks of a batch as one chunk of history, and attaches it. */
export async function attachHistory({ history }: ChainStore, batch: EncodedBatch): Promise<void> {
  const [chunk] = await history.openChunks(batch.range)
  if (!chunk) throw new Error('a chunk is open there')
  await history.appendToChunk(chunk, batch)
  const [loaded] = await history.openChunks(batch.range)
  if (!loaded) throw new Error('it is open until it is attached')
  await history.attachChunk(loaded)
}

/** Writes everything ClickHouse lacks. */
export async function writeAll(store: ChainStore): Promise<void> {
  while (await store.lane.step());
}

/** The recorded chain as batches of `width` blocks. */
export function recordedBatches(name: string, width: number): EncodedBatch[] {
  return recordedRanges(name, width).map(({ range, bytes }) =>
    decode({ range, bytes, endpoint: 'recording' }),
  )
}

/** Blocks of the wide batches of `recordedRuns`. */
const RUN_BLOCKS = 10

/**
 * The recorded chain as batches of exactly the blocks that are asked for, both inclusive: ten blocks each
 * from ten to ten and one each at both ends, for a commit costs the same for ten blocks as for one.
 */
export function recordedRuns(name: string): (from: number, to: number) => readonly EncodedBatch[] {
  const [single, ten] = [batchesOf(name, 1), batchesOf(name, RUN_BLOCKS)]
  return (from, to) => {
    const run: EncodedBatch[] = []
    for (let block = from; block <= to; block = (run.at(-1)?.range.to ?? to) + 1) {
      const isWide = block % RUN_BLOCKS === 0 && block + RUN_BLOCKS - 1 <= to
      run.push(isWide ? ten(block / RUN_BLOCKS) : single(block))
    }
    return run
  }
}

/** The batches of a width by their place, each decoded when it is first asked for. */
function batchesOf(name: string, width: number): (place: number) => EncodedBatch {
  const ranges = recordedRanges(name, width)
  const known = new Map<number, EncodedBatch>()
  return (place) => {
    const recorded = ranges[place]
    if (!recorded) throw new RangeError(`${name} has fewer blocks`)
    const { range, bytes } = recorded
    const batch = known.get(place) ?? decode({ range, bytes, endpoint: 'recording' })
    known.set(place, batch)
    return batch
  }
}

/** A batch of its own buffers: the test runs the worker's code without its thread. */
export function decode(raw: RawRange, checks: Checks = 'roots', profile = devProfile): EncodedBatch {
  return structuredClone(decodeRaw({ ...profile, checks }, raw).batch)
}
