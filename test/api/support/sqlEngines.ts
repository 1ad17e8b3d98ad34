/**
 * Both engines of analysts' SQL over a test's chain, each as the restricted reader of its views.
 */

import type { Engine } from '#primitives.ts'
import { ClickHouseUserQueryEngine } from '#query/clickhouse/ClickHouseUserQueryEngine.ts'
import { type DecodedTable, readSignatures } from '#query/decoded/decodedTable.ts'
import { findIndexedCountIn } from '#query/decoded/findIndexedCount.ts'
import { PostgresUserQueryEngine } from '#query/postgres/PostgresUserQueryEngine.ts'
import { prepareReaderRole } from '#query/postgres/setup/roles.ts'
import { bindDecoded } from '#query/relations/bindDecoded.ts'
import { bindViews, type CatalogOf } from '#query/relations/catalog.ts'
import { relationsOf } from '#query/relations/views.ts'
import type { UserQueryEngine } from '#query/result.ts'
import { replaceClickHouseViews, replacePostgresViews } from '#query/setup/replaceViews.ts'
import { exportDebts } from '#rows/access/exportDebts.ts'
import { appDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { viewSchemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import type { ChainStore } from '../../store/support/chainStore.ts'

export interface SqlEngines {
  readonly postgres: UserQueryEngine
  readonly clickhouse: UserQueryEngine
}

export async function openSqlEngines(
  store: ChainStore,
  declared: readonly DecodedTable[] = [],
): Promise<SqlEngines> {
  const { access, chainId, postgres, clickhouse } = store
  const { clock } = systemRuntime()
  const schema = viewSchemaOf(chainId)
  const app = appDatabase(postgres)
  await replacePostgresViews(postgres, chainId)
  await replaceClickHouseViews(clickhouse, chainId, 'DEFINER = default SQL SECURITY DEFINER')
  const catalogOf =
    (engine: Engine): CatalogOf =>
    async (_chainId, signatures) =>
      bindDecoded(
        bindDecoded(bindViews(relationsOf(engine), schema), declared),
        await readSignatures(signatures, findIndexedCountIn(postgres, store.schema)),
      )
  return {
    postgres: new PostgresUserQueryEngine({
      url: await readerUrl(store),
      catalogOf: catalogOf('postgres'),
      exportDebts: exportDebts(app, 'postgres'),
      clock,
      log: silentLogger,
    }),
    clickhouse: new ClickHouseUserQueryEngine({
      url: access.clickhouseUrl,
      username: access.readerUsername,
      password: access.readerPassword,
      catalogOf: catalogOf('clickhouse'),
      exportDebts: exportDebts(app, 'clickhouse'),
      clock,
    }),
  }
}

/** Roles belong to the cluster, so each chain has one of its own. */
async function readerUrl({ access, chainId, postgres }: ChainStore): Promise<string> {
  const name = `reader_${chainId}`
  await prepareReaderRole(postgres.pool, {
    name,
    password: 'reader',
    chainIds: [chainId],
    connectionsMax: 10,
    ownsCluster: false,
  })
  const url = new URL(access.databaseUrl)
  url.username = name
  url.password = 'reader'
  return url.href
}
