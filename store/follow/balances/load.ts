/**
 * The first load of balances. What fits one piece is taken in like any blocks. More is summed piece
 * by piece into tables cut by holder, each written in order and read once; then each of these
 * becomes balances, in the order of their key. Every piece is a transaction that the next start
 * goes on from, and none of them looks at more than its share of the rows.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { quoteIdentifier, relationOf } from '../../sql.ts'
import type { FollowerTransaction } from '../follower.ts'
import { applyBlocks, keepChanges, movedByLogSql, movedTotalsSql, totalsSql } from './applyBlocks.ts'
import { firstBelowSql } from './movedSql.ts'

/** Transfers of one piece: a few seconds, and as many rows of sums at most. */
export const PIECE_TRANSFERS = 1_000_000
/** Cut by the first byte of the holder: of 200 million balances each has under a million. */
const PARTS = 256
/** Memory of one sort or aggregate. */
const WORK_MEMORY = '64MB'

export interface LoadOptions {
  readonly hotBlocks: number
  readonly pieceTransfers: number
}

/** How far a load has come. */
interface Load {
  readonly to_block: number
  readonly summed_to: number
  readonly parts_stored: number
}

/**
 * Takes in one piece of the blocks up to `range.to`, which the first piece decides for all. Returns
 * the last block once all is loaded, null before.
 */
export async function loadPiece(
  transaction: FollowerTransaction,
  range: BlockRange,
  { hotBlocks, pieceTransfers }: LoadOptions,
): Promise<number | null> {
  const { client, schema, finalized } = transaction
  await client.query(`SET LOCAL work_mem = '${WORK_MEMORY}'`)
  const load = await readLoad(client, schema)
  const to = load?.to_block ?? range.to
  const from = (load?.summed_to ?? range.from - 1) + 1
  if (from <= to) {
    const end = await pieceEnd(client, schema, { from, to }, pieceTransfers)
    if (!load && end === to) return applyBlocks(transaction, range, hotBlocks)
    if (!load) await begin(client, schema, to)
    await sumBlocks(client, schema, { from, to: end })
    return null
  }
  if (load && load.parts_stored < PARTS) {
    await storePart(client, schema, load.parts_stored, to)
    return null
  }
  await keepChanges(transaction, { from: range.from, to }, Math.min(finalized, to - hotBlocks))
  await clearLoad(client, schema)
  return to
}

/** Forgets a load that is under way. */
export async function clearLoad(client: Queryable, schema: string): Promise<void> {
  const parts = await client.query<{ name: string }>(
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass',
    [relationOf(schema, 'balance_sums')],
  )
  if (parts.rows.length > 0) await client.query(`DROP TABLE ${parts.rows.map(({ name }) => name).join(', ')}`)
  await client.query(`DELETE FROM ${relationOf(schema, 'balance_load')}`)
}

async function readLoad(client: Queryable, schema: string): Promise<Load | undefined> {
  const { rows } = await client.query<Load>(`SELECT * FROM ${relationOf(schema, 'balance_load')}`)
  return rows[0]
}

const partName = (schema: string, part: number): string => relationOf(schema, `balance_sums_${part}`)

/** First holder of a part, as a bound of partitions. */
const boundOf = (part: number): string =>
  part === 0 ? 'MINVALUE' : part === PARTS ? 'MAXVALUE' : `'\\x${part.toString(16).padStart(2, '0')}'`

async function begin(client: Queryable, schema: string, to: number): Promise<void> {
  const parts = Array.from(
    { length: PARTS },
    (_, part) =>
      `CREATE TABLE ${partName(schema, part)} PARTITION OF ${relationOf(schema, 'balance_sums')}
       FOR VALUES FROM (${boundOf(part)}) TO (${boundOf(part + 1)})`,
  )
  await client.query(parts.join(';'))
  const load = relationOf(schema, 'balance_load')
  await client.query(`INSERT INTO ${load} (to_block, summed_to) VALUES ($1, -1)`, [to])
}

/** Last block of a piece with as many transfers; at least the first. */
async function pieceEnd(
  client: Queryable,
  schema: string,
  { from, to }: BlockRange,
  transfers: number,
): Promise<number> {
  const { rows } = await client.query<{ block_num: number }>(
    `SELECT block_num FROM ${relationOf(schema, 'token_transfers')} WHERE block_num BETWEEN $1 AND $2
     ORDER BY block_num, log_idx OFFSET $3 LIMIT 1`,
    [from, to, transfers],
  )
  return rows[0] ? Math.max(from, rows[0].block_num - 1) : to
}

async function sumBlocks(client: Queryable, schema: string, { from, to }: BlockRange): Promise<void> {
  const s = quoteIdentifier(schema)
  await client.query(
    `INSERT INTO ${s}.balance_sums (holder, token, delta, from_block, lowest)
     SELECT holder, token, sum(delta), $1, min(so_far) FROM (${movedByLogSql(s)}) AS moved GROUP BY holder, token`,
    [from, to],
  )
  // Holders and supply come with the balances.
  const none = 'SELECT NULL::bytea AS token, 0 AS holders, 0 AS supply WHERE false'
  await client.query(`WITH ${totalsSql(s, none)}`, [from, to])
  await client.query(`UPDATE ${s}.balance_load SET summed_to = $1`, [to])
}

async function storePart(client: Queryable, schema: string, part: number, to: number): Promise<void> {
  const s = quoteIdentifier(schema)
  await client.query(
    `WITH pieces AS (
       SELECT *, sum(delta) OVER (PARTITION BY holder, token ORDER BY from_block) - delta AS before
       FROM ${partName(schema, part)}),
     sums AS (
       SELECT token, holder, sum(delta) AS balance, min(before + lowest) AS lowest FROM pieces GROUP BY holder, token),
     changed AS (
       INSERT INTO ${s}.balances (token, holder, balance, below_since)
       SELECT token, holder, balance, CASE WHEN lowest < 0 THEN (${firstBelowSql(schema, 'sums.holder', 'sums.token', '0', to)}) END
       FROM sums ORDER BY holder, token
       RETURNING token, 0::numeric AS before, balance AS after),
     moved AS (${movedTotalsSql})
     UPDATE ${s}.token_totals AS t SET holder_count = t.holder_count + holders, total_supply = t.total_supply + supply
     FROM moved WHERE t.token = moved.token`,
  )
  await client.query(`DROP TABLE ${partName(schema, part)}`)
  await client.query(`UPDATE ${s}.balance_load SET parts_stored = $1::int + 1`, [part])
}
