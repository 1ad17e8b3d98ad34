/** How much waits to be sent, and how far chains were looked through. */
import { sql } from 'kysely'
import { type Stream, streams } from '#store/read/pieces.ts'
import type { AppDatabase } from '../database.ts'

/** Rows counted of each state: more are told as this many. */
const PENDING_MAX = 100_000

/** Messages by what they wait for. */
export interface Pending {
  readonly unfinal: number
  readonly waiting: number
  readonly sending: number
  readonly retrying: number
}

const nothing: Pending = { unfinal: 0, waiting: 0, sending: 0, retrying: 0 }

/** Rows of a condition that an index has, up to the bound. */
const counted = (condition: string) =>
  sql.raw<number>(
    `(SELECT count(*) FROM (SELECT FROM app.webhook_messages WHERE ${condition} LIMIT ${PENDING_MAX}) AS held)`,
  )

/** By state, each up to the bound. */
export async function countPending(app: AppDatabase): Promise<Pending> {
  const { rows } = await sql<Pending>`
    SELECT ${counted(`state = 'unfinal'`)} AS unfinal,
      ${counted(`state = 'waiting' AND replay IS NULL`)} + ${counted(`state = 'waiting' AND replay IS NOT NULL`)} AS waiting,
      ${counted(`state = 'sending'`)} AS sending, ${counted(`state = 'retrying'`)} AS retrying`.execute(app)
  return rows[0] ?? nothing
}

export interface Reached {
  readonly chainId: number
  readonly stream: Stream
  /** Last block that was looked through. */
  readonly block: number
}

export async function readReached(app: AppDatabase): Promise<Reached[]> {
  const rows = await app
    .selectFrom('app.webhook_positions')
    .select(['chain_id', 'stream', 'block_num'])
    .orderBy('chain_id')
    .orderBy('stream')
    .execute()
  return rows.flatMap(({ chain_id: chainId, stream: name, block_num: block }) => {
    const stream = streams.find((one) => one === name)
    return stream ? [{ chainId, stream, block }] : []
  })
}
