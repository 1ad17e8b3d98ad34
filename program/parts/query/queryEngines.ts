/**
 * The two engines that run analysts' SQL, each as a restricted reader of the served chains' views.
 */
import { type ChainReads, readsOf } from '#api/services.ts'
import type { Readers } from '#local/engines/connection.ts'
import { runBehindOthers } from '#local/engines/priority.ts'
import { ClickHouseUserQueryEngine } from '#query/clickhouse/ClickHouseUserQueryEngine.ts'
import { readSignatures } from '#query/decoded/decodedTable.ts'
import { findIndexedCountIn } from '#query/decoded/findIndexedCount.ts'
import { memoryNote, readMemoryLimit } from '#query/postgres/memoryLimit.ts'
import { PostgresUserQueryEngine } from '#query/postgres/PostgresUserQueryEngine.ts'
import { bindDecoded } from '#query/relations/bindDecoded.ts'
import { bindViews, type Catalog, type CatalogOf } from '#query/relations/catalog.ts'
import { relationsOf } from '#query/relations/views.ts'
import { prepareClickHouseReader, preparePostgresReader } from '#query/setup/readers.ts'
import { exportDebts } from '#rows/access/exportDebts.ts'
import { appDatabase } from '#rows/database.ts'
import type { Secrets } from '#rows/secrets.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { readStoreUuid } from '#store/ledger/ledger.ts'
import { viewSchemaOf } from '#store/sql.ts'
import type { Logger } from '#telemetry.ts'
import type { Engines } from '../../engines.ts'

export interface QueryEngines {
  readonly postgres: PostgresUserQueryEngine
  readonly clickhouse: ClickHouseUserQueryEngine
  /** The logins they run under, for an operator's own psql and curl. */
  readonly readers: Readers
  /** Notes on them for the operator. */
  readonly notes: readonly string[]
}

export async function openQueryEngines(
  engines: Engines,
  chains: ReadonlyMap<number, ChainReads>,
  secrets: Secrets,
  { clock }: Runtime,
  log: Logger,
): Promise<QueryEngines> {
  const catalogOf =
    (ofChain: (chain: ChainReads) => Catalog): CatalogOf =>
    async (id, signatures) => {
      const chain = readsOf({ chains }, id)
      const catalog = bindDecoded(ofChain(chain), chain.declared.tables)
      const findIndexedCount = findIndexedCountIn(engines.postgres, chain.state.schema)
      return bindDecoded(catalog, await readSignatures(signatures, findIndexedCount))
    }
  const { postgres, databaseUrl, embedded, clickhouse, clickhouseUrl } = engines
  const of = { chainIds: [...chains.keys()], storeUuid: await readStoreUuid(postgres) }
  const [key] = await secrets.keys('reader')
  const url = await preparePostgresReader(postgres.pool, databaseUrl, { ...of, key }, embedded.postgres)
  // The embedded engine has its reader, or CLICKHOUSE_READER_URL names one.
  const clickhouseReader =
    engines.clickhouseReader ??
    (await prepareClickHouseReader(clickhouse, clickhouseUrl, {
      ...of,
      key: (await secrets.keys('clickhouse-reader'))[0],
    }))
  const app = appDatabase(postgres)
  const memory = memoryNote(await readMemoryLimit(postgres.pool))
  if (memory !== null) log.warn({}, memory)
  return {
    postgres: new PostgresUserQueryEngine({
      url,
      catalogOf: catalogOf(postgresCatalog),
      // A server of one's own decides for itself who goes first.
      behind: embedded.postgres ? runBehindOthers : undefined,
      exportDebts: exportDebts(app, 'postgres'),
      clock,
      log,
    }),
    clickhouse: new ClickHouseUserQueryEngine({
      ...clickhouseReader,
      catalogOf: catalogOf(clickhouseCatalog),
      exportDebts: exportDebts(app, 'clickhouse'),
      clock,
    }),
    readers: {
      chainIds: of.chainIds,
      postgresUrl: url,
      clickhouse: clickhouseReader,
    },
    notes: memory === null ? [] : [memory],
  }
}

/** In Postgres whatever is attached is covered. */
const postgresCatalog = ({ state }: ChainReads): Catalog =>
  bindViews(relationsOf('postgres'), viewSchemaOf(state.chainId))

/** ClickHouse may hold rows of a batch that is not known to be whole yet; they are not shown. */
const clickhouseCatalog = ({ state }: ChainReads): Catalog => {
  state.demand.ask()
  return bindViews(relationsOf('clickhouse'), viewSchemaOf(state.chainId), () => state.coverage('clickhouse'))
}
