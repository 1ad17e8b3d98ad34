/** Drives one fold: reads its events from the logs held, reduces them, stores the changes. */
import type { BlockRange } from '#ingest/range.ts'
import { type Address, address, type Hash, hash } from '#primitives.ts'
import { quoteIdentifier, toBytes, toHex } from '../sql.ts'
import {
  decodeEvents,
  type Fold,
  type FoldChange,
  type FoldColumns,
  type PlacedLog,
  reduceEvents,
} from './fold.ts'
import { clearTables, deleteTail, insertChanges, readStates } from './foldTables.ts'
import type { BlockFollower, FollowerContext, FollowerTransaction } from './follower.ts'

/** Events reduced at once; with their states some 10 MB. */
const EVENTS_MAX = 5_000

/** `genesis` gives the changes that stand before the first block, such as tokens no event created. */
export function foldFollower<Columns extends FoldColumns>(
  fold: Fold<Columns>,
  genesis: (context: FollowerContext) => Promise<readonly FoldChange<Columns>[]>,
  eventsMax: number = EVENTS_MAX,
): BlockFollower {
  return {
    name: fold.name,
    version: fold.version,
    needs: ['base'],
    begins: 'early',
    prepare: async (context) => {
      const changes = await genesis(context)
      return ({ client, schema }) => insertChanges(client, schema, fold, changes)
    },
    clear: ({ client, schema }) => clearTables(client, schema, fold),
    apply: (transaction, range) => applyBlocks(fold, transaction, range, eventsMax),
    revert: ({ client, schema }, fromBlock) => deleteTail(client, schema, fold, fromBlock),
  }
}

async function applyBlocks<Columns extends FoldColumns>(
  fold: Fold<Columns>,
  { client, schema }: FollowerTransaction,
  range: BlockRange,
  eventsMax: number,
): Promise<number> {
  const { logs, to } = await readLogs(fold, { client, schema }, range, eventsMax)
  const events = decodeEvents(fold, logs)
  const states = await readStates(
    client,
    schema,
    fold,
    events.map(({ entity }) => entity),
  )
  await insertChanges(client, schema, fold, reduceEvents(events, states))
  return to
}

interface LogRow {
  block_num: number
  log_idx: number
  block_timestamp: Date
  address: Buffer
  topic0: Buffer
  topic1: Buffer | null
  topic2: Buffer | null
  topic3: Buffer | null
  data: Buffer
}

/** Logs that may be the fold's, whole blocks of them: as many blocks as hold no more than `eventsMax`, and at least one. */
async function readLogs(
  fold: Pick<Fold, 'reducers'>,
  { client, schema }: Pick<FollowerTransaction, 'client' | 'schema'>,
  range: BlockRange,
  eventsMax: number,
): Promise<{ readonly logs: readonly PlacedLog[]; readonly to: number }> {
  const topics = [...new Set(fold.reducers.map(({ event }) => event.topic0))].map(toBytes)
  const read = async (to: number, limit: number | null) => {
    const found = await client.query<LogRow>(
      `SELECT block_num, log_idx, block_timestamp, address, topic0, topic1, topic2, topic3, data
       FROM ${quoteIdentifier(schema)}.logs WHERE topic0 = ANY ($1) AND block_num BETWEEN $2 AND $3
       ORDER BY block_num, log_idx LIMIT $4`,
      [topics, range.from, to, limit],
    )
    return found.rows
  }
  const rows = await read(range.to, eventsMax + 1)
  const last = rows.at(-1)
  if (rows.length <= eventsMax || !last) return { logs: rows.map(placedLog), to: range.to }
  const to = Math.max(range.from, last.block_num - 1)
  const whole = last.block_num > range.from ? rows.filter((row) => row.block_num <= to) : await read(to, null)
  return { logs: whole.map(placedLog), to }
}

function placedLog(row: LogRow): PlacedLog {
  const emitter: Address = address(toHex(row.address))
  const topics: Hash[] = [row.topic0, row.topic1, row.topic2, row.topic3].flatMap((topic) =>
    topic ? [hash(toHex(topic))] : [],
  )
  return {
    log: { address: emitter, topics, data: toHex(row.data) },
    place: {
      blockNumber: row.block_num,
      logIndex: row.log_idx,
      timestampSeconds: row.block_timestamp.getTime() / 1000,
      emitter,
    },
  }
}
