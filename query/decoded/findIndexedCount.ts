/** Asks the newest log of an event how many of its parameters are indexed. */

import type { Postgres } from '#store/postgres.ts'
import { relationOf, toBytes } from '#store/sql.ts'
import type { FindIndexedCount } from './decodedTable.ts'

/** `schema` holds the chain's tables. */
export function findIndexedCountIn(postgres: Postgres, schema: string): FindIndexedCount {
  return async (topic0) => {
    // num_nonnulls counts the three topics behind the first; one step in the index of the event's
    // logs.
    const { rows } = await postgres.pool.query<{ count: number }>(
      `SELECT num_nonnulls(topic1, topic2, topic3) AS count FROM ${relationOf(schema, 'logs')}
       WHERE topic0 = $1 ORDER BY block_num DESC, log_idx DESC LIMIT 1`,
      [toBytes(topic0)],
    )
    return rows[0]?.count
  }
}
