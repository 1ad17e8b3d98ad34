/** Which Postgres a ClickHouse belongs to: read, recorded, and adopted at the start. */
import type { ClickHouseClient } from '@clickhouse/client'
import { failure } from '#errors.ts'
import { type LedgerIdentity, readLedgerIdentity } from '../ledger/ledger.ts'
import type { Postgres } from '../postgres.ts'
import { schemaOf } from '../sql.ts'
import { selectRows } from './client.ts'
import { forgetClickHouse } from './journal.ts'
import { databaseOf } from './template.ts'

/** Which ledger a ClickHouse database says it follows, or null when it is new or was wiped. */
export async function readStoreIdentity(
  clickhouse: ClickHouseClient,
  database: string,
): Promise<LedgerIdentity | null> {
  const [row] = await selectRows<{ store: string; ledger: string }>(
    clickhouse,
    `SELECT toString(store_uuid) AS store, toString(ledger_id) AS ledger FROM ${database}.store_identity FINAL`,
  )
  return row ? { storeUuid: row.store, ledgerId: row.ledger } : null
}

export async function recordStoreIdentity(
  clickhouse: ClickHouseClient,
  database: string,
  { storeUuid, ledgerId }: LedgerIdentity,
): Promise<void> {
  await clickhouse.insert({
    table: `${database}.store_identity`,
    columns: ['store_uuid', 'ledger_id'],
    values: [{ store_uuid: storeUuid, ledger_id: ledgerId }],
    format: 'JSONEachRow',
  })
}

/**
 * Checks that ClickHouse belongs to this Postgres. One that is empty or wiped is taken: its
 * coverage becomes empty and it is rebuilt from the raw archive. @throws ForeignStoreError when it
 * belongs to another Postgres
 */
export async function adoptClickHouse(
  postgres: Postgres,
  clickhouse: ClickHouseClient,
  chainId: number,
): Promise<'known' | 'rebuilding'> {
  const ours = await readLedgerIdentity(postgres, schemaOf(chainId))
  const database = databaseOf(chainId)
  const theirs = await readStoreIdentity(clickhouse, database)
  // Another ledger of the same store is settled under the lease (clickhouse/reconcile.ts).
  if (theirs?.storeUuid === ours.storeUuid) return 'known'
  if (theirs) throw new ForeignStoreError(database)
  await postgres.transaction((client) => forgetClickHouse(client, schemaOf(chainId)))
  await recordStoreIdentity(clickhouse, database, ours)
  return 'rebuilding'
}

/** ClickHouse holds data of another Postgres database. */
export class ForeignStoreError extends failure('ForeignStoreError', 'foreign_store', 'stop') {
  constructor(database: string) {
    super(
      `CLICKHOUSE_URL: database ${database} belongs to another Postgres than DATABASE_URL; drop it to have it rebuilt here`,
    )
  }
}
