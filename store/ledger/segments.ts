/**
 * The head lane's segments. After a long downtime the lane ends its segment where it stands and
 * begins another one at the head, so that fresh data comes first; the chunks of history fill what
 * lies between.
 */

import { ledgerTableNames, tables } from '#transform/tables.ts'
import { quoteIdentifier, relationOf, toBytes } from '../sql.ts'
import { assertFence, type Queryable, readCoverage, readLane, readRefOf } from './lane.ts'
import { dropDetached, partitionName } from './partitions.ts'

/**
 * Ends the head segment at its tip and lets the next begin at `next`, inside the caller's
 * transaction. An empty lane only begins elsewhere. Partitions stay as they are, also those that
 * reach above the tip: a bound that moves is proved by a look at every row, while readers wait. What
 * history brings for the gap moves into them (moveChunk.ts).
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
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.lanes SET from_block = $2::bigint, tip = $2::bigint - 1, tip_hash = NULL
     WHERE name = 'head' AND fence = $1`,
    [fence, Math.max(next, lane.tip + 1)],
  )
}

interface PlannedChunk {
  readonly from_block: number
  readonly to_block: number
  readonly tip: number
}

/**
 * The new start of an empty lane that a false head had sent above the chain: at `next` or above what is
 * held. Null when it may stay, because it is not empty, or because something above the chain's head is
 * held: then the node is behind.
 */
export async function restartPlace(
  client: Queryable,
  schema: string,
  next: number,
  head: number,
): Promise<number | null> {
  const lane = await readLane(client, schema)
  if (!lane || lane.tipHash !== null) return null
  const covered = (await readCoverage(client, schema, 'postgres')).at(-1)?.to ?? -1
  const chunks = await readPlanned(client, schema)
  const heldTo = Math.max(covered, ...chunks.filter(isBegun).map(({ tip }) => tip))
  const place = Math.max(next, covered + 1)
  return heldTo > head || place >= lane.fromBlock ? null : place
}

/**
 * Lets the empty lane begin at `place`, inside the caller's transaction: what was planned of
 * history from there on is dropped, and so are loaded blocks that finality has not reached.
 */
export async function restartSegment(
  client: Queryable,
  schema: string,
  fence: bigint,
  place: number,
): Promise<void> {
  await assertFence(client, schema, fence)
  for (const chunk of await readPlanned(client, schema)) {
    if (chunk.from_block >= place) await dropChunk(client, schema, chunk)
    else if (chunk.to_block >= place) await endChunk(client, schema, chunk, place - 1)
  }
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.lanes
     SET from_block = $2::bigint, tip = $2::bigint - 1, tip_hash = NULL, finalized = least(finalized, $2::bigint - 1)
     WHERE name = 'head' AND fence = $1 AND tip_hash IS NULL`,
    [fence, place],
  )
}

const isBegun = ({ from_block, tip }: PlannedChunk) => tip >= from_block

async function readPlanned(client: Queryable, schema: string): Promise<readonly PlannedChunk[]> {
  const { rows } = await client.query<PlannedChunk>(
    `SELECT from_block, to_block, tip FROM ${quoteIdentifier(schema)}.chunks ORDER BY from_block`,
  )
  return rows
}

async function dropChunk(client: Queryable, schema: string, { from_block }: PlannedChunk): Promise<void> {
  await client.query(`DELETE FROM ${quoteIdentifier(schema)}.chunks WHERE from_block = $1`, [from_block])
  await dropDetached(client, schema, from_block)
}

/** The chunk ends at `to`: what it holds above goes. */
async function endChunk(client: Queryable, schema: string, chunk: PlannedChunk, to: number): Promise<void> {
  const detached = (name: keyof typeof tables) => relationOf(schema, partitionName(name, chunk.from_block))
  if (chunk.tip > to) {
    const last = await readRefOf(client, detached('blocks'), to)
    for (const name of ledgerTableNames)
      await client.query(`DELETE FROM ${detached(name)} WHERE ${tables[name].blockColumn} > $1`, [to])
    await client.query(
      `UPDATE ${quoteIdentifier(schema)}.chunks SET tip = $2, tip_hash = $3 WHERE from_block = $1`,
      [chunk.from_block, to, last && toBytes(last.hash)],
    )
  }
  await client.query(`UPDATE ${quoteIdentifier(schema)}.chunks SET to_block = $2 WHERE from_block = $1`, [
    chunk.from_block,
    to,
  ])
}
