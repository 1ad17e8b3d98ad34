/**
 * One writer in ClickHouse too. A statement may be held up between the check of the lease and the
 * engine, while the next writer takes over. An insert is then dropped by its token; a delete
 * carries the fencing number of who sent it, and the engine compares it with the newest it was told
 * when the statement arrives.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import type { Clock } from '#runtime/runtime.ts'
import { ClickHouseFailure, selectRows } from './client.ts'

const POLL_MS = 100
/** A mutation waits for merges of its parts; those of our partitions take seconds. */
const POLLS_MAX = 300

export interface FenceOptions {
  readonly clickhouse: ClickHouseClient
  readonly database: string
  readonly fence: bigint
  /** Throws when this process may no longer write (lease lost). */
  readonly assertMayWrite: () => void
  readonly clock: Clock
}

/**
 * Tells the engine who writes now, and waits for deletes that were let through before. @throws
 * ClickHouseFailure
 */
export async function claimClickHouse(options: FenceOptions): Promise<void> {
  const { clickhouse, database, fence, assertMayWrite } = options
  assertMayWrite()
  const told = await newestFence(clickhouse, database)
  if (told !== fence) {
    // A number above ours is of a Postgres that was restored from an older copy, or we lost the
    // lease since.
    assertMayWrite()
    if (told > fence) await clickhouse.command({ query: `TRUNCATE TABLE ${database}.fences` })
    await clickhouse.insert({
      table: `${database}.fences`,
      values: [{ fence: String(fence) }],
      format: 'JSONEachRow',
    })
  }
  await endDeletes(options)
}

/**
 * Deletes what meets the condition, unless a newer writer has claimed the engine; done when it
 * returns.
 */
export async function deleteFenced(
  clickhouse: ClickHouseClient,
  database: string,
  table: string,
  condition: string,
  fence: bigint,
): Promise<void> {
  const isNewest = `(SELECT max(fence) FROM ${database}.fences) <= ${fence}`
  await clickhouse.command({
    query: `ALTER TABLE ${database}.${table} DELETE WHERE (${condition}) AND ${isNewest}`,
    // Compared once, where the statement arrives, and not again by every part and replica.
    clickhouse_settings: { mutations_sync: '2', mutations_execute_subqueries_on_initiator: 1 },
  })
}

async function newestFence(clickhouse: ClickHouseClient, database: string): Promise<bigint> {
  const [row] = await selectRows<{ fence: string }>(
    clickhouse,
    `SELECT toString(max(fence)) AS fence FROM ${database}.fences`,
  )
  return BigInt(row?.fence ?? 0)
}

async function endDeletes({ clickhouse, database, clock }: FenceOptions): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    const [running] = await selectRows<{ n: string }>(
      clickhouse,
      `SELECT count() AS n FROM system.mutations WHERE database = {database: String} AND NOT is_done`,
      { database },
    )
    if (running?.n === '0') return
    await clock.sleep(POLL_MS)
  }
  throw new ClickHouseFailure(new Error('a delete of an earlier writer does not end'))
}
