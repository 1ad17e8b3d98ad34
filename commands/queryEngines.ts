/** The two engines that run analysts' SQL, each as a restricted reader of the served chains' views. */
import { createHash } from 'node:crypto'
import { readLedgerIdentity } from '#store/ledger.ts'
import { viewSchemaOf } from '#store/postgres.ts'
import { readSecret } from '#store/secrets.ts'
import { ClickHouseUserQueryEngine } from '#store/userQuery/clickhouse/ClickHouseUserQueryEngine.ts'
import { PostgresUserQueryEngine } from '#store/userQuery/postgres/PostgresUserQueryEngine.ts'
import { bindViews, type Catalog } from '#store/userQuery/relations.ts'
import type { UserQueryEngine } from '#store/userQuery/result.ts'
import { prepareReaderRole, readerRoleName } from '#store/userQuery/roles.ts'
import { relationsOf } from '#store/views.ts'
import type { Chain } from '../chain.ts'
import type { Runtime } from '../runtime.ts'
import type { Logger } from '../telemetry.ts'
import type { Engines } from './engines.ts'

export interface QueryEngines {
  readonly postgres: UserQueryEngine
  readonly clickhouse: UserQueryEngine
}

/** Slots of the Postgres engine, and room for connections that were cut and linger for a second. */
const READER_CONNECTIONS_MAX = 12

export async function openQueryEngines(
  engines: Engines,
  chains: readonly Chain[],
  { clock }: Runtime,
  log: Logger,
): Promise<QueryEngines> {
  const url = await prepareReader(engines, chains)
  const { clickhouseReader } = engines
  return {
    postgres: new PostgresUserQueryEngine({
      url,
      catalogOf: (id) => postgresCatalog(chainOf(chains, id)),
      clock,
      log,
    }),
    clickhouse: new ClickHouseUserQueryEngine({
      ...clickhouseReader,
      catalogOf: (id) => clickhouseCatalog(chainOf(chains, id)),
      clock,
    }),
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

/** The URL of the restricted role. Roles belong to a cluster, so one that is shared gets a role per database of ours. */
async function prepareReader(engines: Engines, chains: readonly Chain[]): Promise<string> {
  const { postgres, databaseUrl, embedded } = engines
  const { storeUuid } = await readLedgerIdentity(postgres)
  const name = embedded.postgres ? readerRoleName : `${readerRoleName}_${storeUuid.slice(0, 8)}`
  const key = await readSecret(postgres, 'reader')
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
