/**
 * The two databases a command works with: the ones named by settings, else the embedded ones;
 * started here, or found running beside (`millrace verify` next to `npm start`).
 */
import type { ClickHouseClient } from '@clickhouse/client'
import { startClickHouse } from '#local/engines/clickhouse/clickhouse.ts'
import { readConnection, removeConnection, writeConnection } from '#local/engines/connection.ts'
import type { DataDir } from '#local/engines/dataDir.ts'
import { startPostgres } from '#local/engines/postgres/postgres.ts'
import type { Runtime } from '#runtime/runtime.ts'
import {
  accessFromUrl,
  assertClickHouseReachable,
  type ClickHouseAccess,
  openClickHouse,
} from '#store/clickhouse/client.ts'
import { viewDatabaseOf } from '#store/clickhouse/template.ts'
import { assertReachable, openPostgres, type Postgres } from '#store/postgres.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from './config.ts'

export interface Engines {
  readonly postgres: Postgres
  readonly databaseUrl: string
  readonly clickhouse: ClickHouseClient
  /** Without login. */
  readonly clickhouseUrl: string
  /** The folder from which the embedded engine that was started here reads rows; null for any other. */
  readonly clickhouseRowsFolder: string | null
  /**
   * Login that reads for analysts: the embedded engine's reader, or CLICKHOUSE_READER_URL; null
   * where one is to be made.
   */
  readonly clickhouseReader: ClickHouseAccess | null
  /** How a view is readable without rights on what is behind it. */
  readonly viewSecurity: string
  readonly embedded: { readonly postgres: boolean; readonly clickhouse: boolean }
  /** Rejects when an embedded engine died and could not be started again; never resolves. */
  readonly lost: Promise<never>
  close(): Promise<void>
}

interface Part {
  close(): Promise<void>
}

interface PostgresPart extends Part {
  readonly url: string
  readonly lost: Promise<never>
}

interface ClickHousePart extends Part {
  readonly admin: ClickHouseAccess
  readonly reader: ClickHouseAccess | null
  readonly rowsFolder: string | null
  readonly lost: Promise<never>
}

/** Connections of the indexing and of the serving pool each; the embedded server allows 100. */
const CONNECTIONS_MAX = 24

const never = new Promise<never>(() => {})

/**
 * Starts what is embedded, connects to what is not. @throws DataDirectoryError, EngineStartError,
 * StoreUnreachableError
 */
export async function startEngines(
  config: Config,
  dataDir: DataDir,
  chainIds: readonly number[],
  runtime: Runtime,
  log: Logger,
): Promise<Engines> {
  const parts: Part[] = []
  try {
    const [postgres, clickhouse] = await startBoth(
      startPostgresPart(config, dataDir, runtime, log),
      startClickHousePart(config, dataDir, chainIds, runtime, log),
    )
    parts.push(postgres, clickhouse)
    writeConnection(dataDir.path, {
      databaseUrl: postgres.url,
      clickhouseUrl: clickhouse.admin.url,
      clickhouseUsername: clickhouse.admin.username,
      clickhousePassword: clickhouse.admin.password,
    })
    parts.push({ close: async () => removeConnection(dataDir.path) })
    return await connect(config, postgres, clickhouse, parts, log)
  } catch (error) {
    await closeAll(parts)
    throw error
  }
}

/** Side by side, because each takes seconds. When one does not start, the other is ended again. */
async function startBoth<A extends Part, B extends Part>(
  first: Promise<A>,
  second: Promise<B>,
): Promise<[A, B]> {
  try {
    return await Promise.all([first, second])
  } catch (error) {
    for (const started of await Promise.allSettled([first, second]))
      if (started.status === 'fulfilled') await started.value.close()
    throw error
  }
}

/** Connects to the engines of a program that runs on this data directory; null when none does. */
export async function findEngines(config: Config, log: Logger): Promise<Engines | null> {
  const beside = readConnection(config.dataDir)
  if (!beside) return null
  const admin = {
    url: beside.clickhouseUrl,
    username: beside.clickhouseUsername,
    password: beside.clickhousePassword,
  }
  const close = async () => {}
  return connect(
    config,
    { url: beside.databaseUrl, lost: never, close },
    { admin, reader: null, rowsFolder: null, lost: never, close },
    [],
    log,
  )
}

async function connect(
  config: Config,
  postgresPart: PostgresPart,
  clickhousePart: ClickHousePart,
  parts: readonly Part[],
  log: Logger,
): Promise<Engines> {
  const postgres = openPostgres({
    url: postgresPart.url,
    applicationName: 'millrace',
    connectionsMax: CONNECTIONS_MAX,
    log,
  })
  const clickhouse = openClickHouse(clickhousePart.admin)
  const close = async () => {
    await clickhouse.close()
    await postgres.close()
    await closeAll(parts)
  }
  try {
    await assertReachable(postgres)
    await assertClickHouseReachable(clickhouse)
  } catch (error) {
    await clickhouse.close()
    await postgres.close()
    throw error
  }
  return {
    postgres,
    databaseUrl: postgresPart.url,
    clickhouse,
    clickhouseUrl: clickhousePart.admin.url,
    clickhouseRowsFolder: clickhousePart.rowsFolder,
    clickhouseReader: clickhousePart.reader,
    viewSecurity: `DEFINER = ${config.clickhouseUrl === null ? 'default' : 'CURRENT_USER'} SQL SECURITY DEFINER`,
    embedded: { postgres: config.databaseUrl === null, clickhouse: config.clickhouseUrl === null },
    lost: Promise.race([postgresPart.lost, clickhousePart.lost]),
    close,
  }
}

async function startPostgresPart(
  config: Config,
  dataDir: DataDir,
  runtime: Runtime,
  log: Logger,
): Promise<PostgresPart> {
  if (config.databaseUrl !== null) return { url: config.databaseUrl, lost: never, close: async () => {} }
  const server = await startPostgres({ dataDir: dataDir.path, log, runtime })
  return { url: server.url, lost: rejectWith(server.lost), close: () => server.stop() }
}

async function startClickHousePart(
  config: Config,
  dataDir: DataDir,
  chainIds: readonly number[],
  runtime: Runtime,
  log: Logger,
): Promise<ClickHousePart> {
  if (config.clickhouseUrl !== null) {
    const admin = accessFromUrl(config.clickhouseUrl)
    const reader = config.clickhouseReaderUrl === null ? null : accessFromUrl(config.clickhouseReaderUrl)
    return { admin, reader, rowsFolder: null, lost: never, close: async () => {} }
  }
  const readerGrants = chainIds.map((chainId) => `${viewDatabaseOf(chainId)}.*`)
  const engine = await startClickHouse({ dataDir: dataDir.path, readerGrants, log, runtime })
  const { url, username, password, readerUsername, readerPassword, rowsFolder } = engine
  return {
    admin: { url, username, password },
    reader: { url, username: readerUsername, password: readerPassword },
    rowsFolder,
    lost: rejectWith(engine.lost),
    close: () => engine.stop(),
  }
}

/** An engine's end, which resolves, as a rejection. */
async function rejectWith(lost: Promise<Error>): Promise<never> {
  throw await lost
}

/** Last started, first ended. */
async function closeAll(parts: readonly Part[]): Promise<void> {
  for (const part of parts.toReversed()) await part.close()
}
