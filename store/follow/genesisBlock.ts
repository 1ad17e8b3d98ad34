/** When a chain began. */
import type { Queryable } from '../ledger/lane.ts'
import { relationOf } from '../sql.ts'

/** Time of block 0. */
export async function readGenesisSeconds(client: Queryable, schema: string): Promise<number> {
  const found = await client.query<{ timestamp: Date }>(
    `SELECT timestamp FROM ${relationOf(schema, 'blocks')} WHERE num = 0`,
  )
  return (found.rows[0]?.timestamp.getTime() ?? 0) / 1000
}
