/** The chains that the two stores hold, whatever the settings name today. */
import type { ClickHouseClient } from '@clickhouse/client'
import type { RangeSet } from '#ingest/range.ts'
import { selectRows } from '../clickhouse/client.ts'
import { databaseOf } from '../clickhouse/template.ts'
import { readCoverage, readLane } from '../ledger/lane.ts'
import { type ChainIdentity, readChainIdentity } from '../ledger/ledger.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, schemaOf } from '../sql.ts'

export interface HeldChain {
  readonly identity: ChainIdentity
  /** Newest block in Postgres; -1 when it holds none. */
  readonly tip: number
  readonly finalized: number
  readonly coverage: { readonly postgres: RangeSet; readonly clickhouse: RangeSet }
  /** On disk, with indexes and the raw archive. */
  readonly bytes: { readonly postgres: number; readonly clickhouse: number }
}

/** Ids of the chains Postgres holds, ascending. */
export async function listChainIds(postgres: Postgres): Promise<number[]> {
  const found = await postgres.pool.query<{ chain_id: number }>(
    `SELECT substring(nspname FROM '^chain_([0-9]+)$')::bigint AS chain_id FROM pg_namespace
     WHERE nspname ~ '^chain_[0-9]+$' ORDER BY 1`,
  )
  return found.rows.map((row) => row.chain_id)
}

/** Null when the chain is not held, or was never opened. */
export async function readHeldChain(
  postgres: Postgres,
  clickhouse: ClickHouseClient,
  chainId: number,
): Promise<HeldChain | null> {
  const { pool } = postgres
  const schema = schemaOf(chainId)
  if (!(await listChainIds(postgres)).includes(chainId)) return null
  const identity = await readChainIdentity(postgres, chainId)
  if (!identity) return null
  const lane = await readLane(pool, schema)
  const coverage = {
    postgres: await readCoverage(pool, schema, 'postgres'),
    clickhouse: await readCoverage(pool, schema, 'clickhouse'),
  }
  return {
    identity,
    tip: coverage.postgres.at(-1)?.to ?? -1,
    finalized: lane?.finalized ?? -1,
    coverage,
    bytes: {
      postgres: await postgresBytes(postgres, schema),
      clickhouse: await clickhouseBytes(clickhouse, databaseOf(chainId)),
    },
  }
}

async function postgresBytes({ pool }: Postgres, schema: string): Promise<number> {
  const found = await pool.query<{ bytes: string | null }>(
    `SELECT sum(pg_total_relation_size(oid))::text AS bytes FROM pg_class
     WHERE relnamespace = $1::regnamespace AND relkind = 'r'`,
    [quoteIdentifier(schema)],
  )
  return Number(found.rows[0]?.bytes ?? 0)
}

async function clickhouseBytes(clickhouse: ClickHouseClient, database: string): Promise<number> {
  const [found] = await selectRows<{ bytes: string }>(
    clickhouse,
    `SELECT toString(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE active AND database = {database: String}`,
    { database },
  )
  return Number(found?.bytes ?? 0)
}
