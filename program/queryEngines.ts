/**
 * The two engines that run analysts' SQL, each as a restricted reader of the served chains' views.
 */
import { createHash } from 'node:crypto'
import type { DeclaredContracts } from '#api/services.ts'
import { messageOf } from '#errors.ts'
import type { Readers } from '#local/engines/connection.ts'
import { runBehindOthers } from '#local/engines/priority.ts'
import { ClickHouseUserQueryEngine } from '#query/clickhouse/ClickHouseUserQueryEngine.ts'
import { prepareReaderUser } from '#query/clickhouse/readerUser.ts'
import { bindDecoded } from '#query/decoded/bindDecoded.ts'
import { readSignatures } from '#query/decoded/decodedTable.ts'
import { findIndexedCountIn } from '#query/decoded/findIndexedCount.ts'
import { memoryNote, readMemoryLimit } from '#query/postgres/memoryLimit.ts'
import { PostgresUserQueryEngine } from '#query/postgres/PostgresUserQueryEngine.ts'
import { prepareReaderRole, readerRoleName } from '#query/postgres/roles.ts'
import { relationsOf } from '#query/relations/views.ts'
import { bindViews, type Catalog, type CatalogOf } from '#query/relations.ts'
import type { Runtime } from '#runtime.ts'
import type { Secrets } from '#store/app/secrets.ts'
import type { ClickHouseAccess } from '#store/clickhouse/client.ts'
import { viewDatabaseOf } from '#store/clickhouse/template.ts'
import { readStoreUuid } from '#store/ledger/ledger.ts'
import { viewSchemaOf } from '#store/sql.ts'
import type { Logger } from '#telemetry.ts'
import type { Chain } from './chain/chain.ts'
import type { Engines } from './engines.ts'

export interface QueryEngines {
  readonly postgres: PostgresUserQueryEngine
  readonly clickhouse: ClickHouseUserQueryEngine
  /** The logins they run under, for an operator's own psql and curl. */
  readonly readers: Readers
  /** What an operator should know of them. */
  readonly notes: readonly string[]
}

/**
 * Slots of the Postgres engine, and room for connections that were cut: they linger for up to half
 * a second.
 */
const READER_CONNECTIONS_MAX = 32
/** Somebody may grant the reader more than it should have at any time. */
const WALLS_CHECK_MS = 3_600_000

export async function openQueryEngines(
  engines: Engines,
  chains: readonly Chain[],
  declaredOf: (chainId: number) => DeclaredContracts,
  secrets: Secrets,
  { clock }: Runtime,
  log: Logger,
): Promise<QueryEngines> {
  const catalogOf =
    (ofChain: (chain: Chain) => Catalog): CatalogOf =>
    async (id, signatures) => {
      const chain = chainOf(chains, id)
      const catalog = bindDecoded(ofChain(chain), declaredOf(id).tables)
      const findIndexedCount = findIndexedCountIn(engines.postgres, chain.state.schema)
      return bindDecoded(catalog, await readSignatures(signatures, findIndexedCount))
    }
  const url = await preparePostgresReader(engines, chains, secrets)
  const clickhouseReader = await prepareClickHouseReader(engines, chains, secrets)
  const memory = memoryNote(await readMemoryLimit(engines.postgres.pool))
  if (memory !== null) log.warn({}, memory)
  return {
    postgres: new PostgresUserQueryEngine({
      url,
      catalogOf: catalogOf(postgresCatalog),
      // A server of one's own decides for itself who goes first.
      behind: engines.embedded.postgres ? runBehindOthers : undefined,
      clock,
      log,
    }),
    clickhouse: new ClickHouseUserQueryEngine({
      ...clickhouseReader,
      catalogOf: catalogOf(clickhouseCatalog),
      clock,
    }),
    readers: {
      chainIds: chains.map(({ state }) => state.chainId),
      postgresUrl: url,
      clickhouse: clickhouseReader,
    },
    notes: memory === null ? [] : [memory],
  }
}

/**
 * Proves that the readers cannot do more than they should; an engine with an open wall serves
 * nobody.
 */
export async function checkAllWalls(
  { postgres, clickhouse }: QueryEngines,
  chains: readonly Chain[],
  log: Logger,
): Promise<void> {
  for (const engine of [postgres, clickhouse])
    for (const { state } of chains) await checkWalls(engine, state.chainId, log)
}

/** Proves it again every hour, until aborted. */
export async function keepWallsChecked(
  engines: QueryEngines,
  chains: readonly Chain[],
  { clock }: Runtime,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(WALLS_CHECK_MS, signal).catch(() => {})
    if (!signal.aborted) await checkAllWalls(engines, chains, log)
  }
}

async function checkWalls(
  engine: PostgresUserQueryEngine | ClickHouseUserQueryEngine,
  chainId: number,
  log: Logger,
): Promise<void> {
  try {
    const open = await engine.checkWalls(chainId)
    if (open.length > 0)
      log.error(
        { engine: engine.engine, chainId, open },
        'the SQL reader may do what it must not; its engine serves nobody',
      )
  } catch (error) {
    log.warn(
      { engine: engine.engine, chainId, error: messageOf(error) },
      'the walls around SQL could not be checked',
    )
  }
}

/** In Postgres whatever is attached is covered. */
const postgresCatalog = ({ state }: Chain): Catalog =>
  bindViews(relationsOf('postgres'), viewSchemaOf(state.chainId))

/** ClickHouse may hold rows of a batch that is not known to be whole yet; they are not shown. */
const clickhouseCatalog = ({ state }: Chain): Catalog =>
  bindViews(relationsOf('clickhouse'), viewSchemaOf(state.chainId), () => state.coverage('clickhouse'))

function chainOf(chains: readonly Chain[], chainId: number): Chain {
  const chain = chains.find((candidate) => candidate.state.chainId === chainId)
  if (!chain) throw new Error(`chain ${chainId} is not served`)
  return chain
}

/**
 * The URL of the restricted role. Roles belong to a cluster, so one that is shared gets a role per
 * database of ours.
 */
async function preparePostgresReader(
  engines: Engines,
  chains: readonly Chain[],
  secrets: Secrets,
): Promise<string> {
  const { postgres, databaseUrl, embedded } = engines
  const storeUuid = await readStoreUuid(postgres)
  const name = embedded.postgres ? readerRoleName : `${readerRoleName}_${storeUuid.slice(0, 8)}`
  const [key] = await secrets.keys('reader')
  const password = createHash('sha256').update(key).digest('hex')
  await prepareReaderRole(postgres.pool, {
    name,
    password,
    chainIds: chains.map(({ state }) => state.chainId),
    connectionsMax: READER_CONNECTIONS_MAX,
    ownsCluster: embedded.postgres,
  })
  const url = new URL(databaseUrl)
  url.username = name
  url.password = password
  return url.href
}

/**
 * On the embedded engine the reader is there; on a server it is made, unless CLICKHOUSE_READER_URL
 * names one.
 */
async function prepareClickHouseReader(
  engines: Engines,
  chains: readonly Chain[],
  secrets: Secrets,
): Promise<ClickHouseAccess> {
  const { postgres, clickhouse, clickhouseReader, clickhouseUrl } = engines
  if (clickhouseReader) return clickhouseReader
  const [key] = await secrets.keys('clickhouse-reader')
  const storeUuid = await readStoreUuid(postgres)
  const username = `${readerRoleName}_${storeUuid.slice(0, 8)}`
  const password = createHash('sha256').update(key).digest('hex')
  const databases = chains.map(({ state }) => viewDatabaseOf(state.chainId))
  await prepareReaderUser(clickhouse, { name: username, password, databases })
  return { url: clickhouseUrl, username, password }
}
