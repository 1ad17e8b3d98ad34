/**
 * The head lane's segments. After a long downtime the lane ends its segment where it stands and begins another one at the
 * head, so that fresh data comes first; the chunks of history fill what lies between.
 */

import { quoteIdentifier, relationOf } from '../sql.ts'
import { assertFence, type Queryable, readLane } from './lane.ts'
import { listPartitions } from './partitions.ts'

/**
 * Ends the head segment at its tip and lets the next begin at `next`, inside the caller's transaction. An empty lane only
 * begins elsewhere.
 */
export async function sealSegment(
  client: Queryable,
  schema: string,
  fence: bigint,
  next: number,
): Promise<void> {
  await assertFence(client, schema, fence)
  const lane = await readLane(client, schema)
  if (!lane) return
  await shrinkPartitions(client, schema, lane.tip)
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.lanes SET from_block = $2::bigint, tip = $2::bigint - 1, tip_hash = NULL
     WHERE name = 'head' AND fence = $1`,
    [fence, Math.max(next, lane.tip + 1)],
  )
}

/** Partitions reaching above the tip end at it, so that chunks can be attached right above. */
async function shrinkPartitions(client: Queryable, schema: string, tip: number): Promise<void> {
  for (const { parent, child, range } of await listPartitions(client, schema)) {
    if (range.to <= tip) continue
    const parentName = relationOf(schema, parent)
    const childName = relationOf(schema, child)
    await client.query(`ALTER TABLE ${parentName} DETACH PARTITION ${childName}`)
    if (range.from > tip) await client.query(`DROP TABLE ${childName}`)
    else
      await client.query(
        `ALTER TABLE ${parentName} ATTACH PARTITION ${childName} FOR VALUES FROM (${range.from}) TO (${tip + 1})`,
      )
  }
}
