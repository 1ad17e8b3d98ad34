/** How much waits to be sent, and how far chains were looked through. */
import { type ExpressionBuilder, sql } from 'kysely'
import { type Stream, streams } from '#store/read/pieces.ts'
import type { AppDatabase } from '../database.ts'
import type { AppSchema } from '../tables.ts'

/** Rows counted of each state: more are told as this many. */
const PENDING_MAX = 100_000

/** Messages by what they wait for. */
export interface Pending {
  readonly unfinal: number
  readonly waiting: number
  readonly sending: number
  readonly retrying: number
}

/** Rows of a state, as far as an index has them, up to the bound; `replay` narrows them. */
const counted = (
  row: ExpressionBuilder<AppSchema, never>,
  state: keyof Pending,
  replay?: 'is' | 'is not',
) => {
  const some = row
    .selectFrom('app.webhook_messages')
    .select('id')
    .where('state', '=', sql.lit(state))
    .$if(replay !== undefined, (query) => query.where('replay', replay ?? 'is', null))
    .limit(PENDING_MAX)
  return row.selectFrom(some.as('held')).select((held) => held.fn.countAll<number>().as('count'))
}

/** By state, each up to the bound. */
export async function countPending(app: AppDatabase): Promise<Pending> {
  const counts = await app
    .selectNoFrom((row) => [
      counted(row, 'unfinal').as('unfinal'),
      counted(row, 'waiting', 'is').as('live'),
      counted(row, 'waiting', 'is not').as('replayed'),
      counted(row, 'sending').as('sending'),
      counted(row, 'retrying').as('retrying'),
    ])
    .executeTakeFirstOrThrow()
  return {
    unfinal: counts.unfinal ?? 0,
    waiting: (counts.live ?? 0) + (counts.replayed ?? 0),
    sending: counts.sending ?? 0,
    retrying: counts.retrying ?? 0,
  }
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
