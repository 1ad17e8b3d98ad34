/** The restricted readers that analysts' SQL runs as, one on each engine. */
import { createHash } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import type { ClickHouseAccess } from '#store/clickhouse/client.ts'
import { viewDatabaseOf } from '#store/clickhouse/template.ts'
import { prepareReaderUser } from '../clickhouse/readerUser.ts'
import { prepareReaderRole, readerRoleName } from '../postgres/setup/roles.ts'

/** The reader of one store, on one engine. */
export interface ReaderOf {
  readonly chainIds: readonly number[]
  /** A cluster may hold several stores. */
  readonly storeUuid: string
  /** The key that the password is made of. */
  readonly key: string | Uint8Array
}

/**
 * Slots of the Postgres engine, and room for connections that were cut: they linger for up to half
 * a second.
 */
const CONNECTIONS_MAX = 32

/**
 * The URL of the restricted role. Roles belong to a cluster, so one that is shared gets a role per
 * store. @param ownsCluster whether nobody else uses the cluster
 * @throws ReaderRoleError
 */
export async function preparePostgresReader(
  pool: pg.Pool,
  databaseUrl: string,
  { chainIds, storeUuid, key }: ReaderOf,
  ownsCluster: boolean,
): Promise<string> {
  const name = ownsCluster ? readerRoleName : nameIn(storeUuid)
  const password = passwordOf(key)
  await prepareReaderRole(pool, { name, password, chainIds, connectionsMax: CONNECTIONS_MAX, ownsCluster })
  const url = new URL(databaseUrl)
  url.username = name
  url.password = password
  return url.href
}

/** On a server; the embedded engine has its reader built in. @throws ReaderUserError */
export async function prepareClickHouseReader(
  administrator: ClickHouseClient,
  url: string,
  { chainIds, storeUuid, key }: ReaderOf,
): Promise<ClickHouseAccess> {
  const username = nameIn(storeUuid)
  const password = passwordOf(key)
  const databases = chainIds.map(viewDatabaseOf)
  await prepareReaderUser(administrator, { name: username, password, databases })
  return { url, username, password }
}

const nameIn = (storeUuid: string): string => `${readerRoleName}_${storeUuid.slice(0, 8)}`

const passwordOf = (key: string | Uint8Array): string => createHash('sha256').update(key).digest('hex')
