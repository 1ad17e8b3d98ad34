/** Drives folds: reads their events from the logs held, reduces them, stores the changes. */
import type { BlockRange } from '#ingest/range.ts'
import { type Address, address, type Hash, hash } from '#primitives.ts'
import type { ContractEvent } from '#transform/events/event.ts'
import { quoteIdentifier, relationOf, toBytes, toHex } from '../sql.ts'
import {
  decodeEvents,
  type Fold,
  type FoldChange,
  type FoldColumns,
  type FoldEvent,
  type FoldState,
  type FoldTable,
  type PlacedLog,
  reduceEvents,
} from './fold.ts'
import { clearTables, deleteTail, insertChanges, readStates } from './foldTables.ts'
import type { BlockFollower, FollowerContext, FollowerTransaction } from './follower.ts'
import { describeStopped, stoppedTable, storeOrStop } from './stoppedEntities.ts'

/** Events reduced at once; with their states some 10 MB. */
const EVENTS_MAX = 5_000
/** Data of the logs reduced at once, but for one block that has more. */
const DATA_BYTES_MAX = 16 << 20

/** A follower of the events of some contracts, whatever it keeps of them. */
export interface EventFollower {
  readonly name: string
  readonly version: number
  /** Projections it reads beside the logs. */
  readonly needs: readonly string[]
  readonly events: readonly Pick<ContractEvent, 'topic0'>[]
  readonly tables: readonly FoldTable[]
  /** Tables of rows that stand alone, each of a block in `block_num`. */
  readonly rowTables?: readonly string[]
  readonly eventsMax?: number
  /** Blocks of one piece, where something else than logs is read of each. */
  readonly blocksMax?: number
  prepare: BlockFollower['prepare']
  /** Takes in the logs of some blocks, all of those that may be its events. */
  take(transaction: FollowerTransaction, logs: readonly PlacedLog[], blocks: BlockRange): Promise<void>
}

/**
 * The engine of all folds: reads logs in pieces, and takes blocks back by deleting the tail of its
 * tables.
 */
export function eventFollower(of: EventFollower): BlockFollower {
  const { name, version, needs, tables, rowTables = [], eventsMax = EVENTS_MAX, blocksMax = Infinity } = of
  const each = (schema: string) => rowTables.map((table) => relationOf(schema, table))
  return {
    name,
    version,
    needs: ['base', ...needs],
    begins: 'early',
    prepare: of.prepare,
    clear: async ({ client, schema }) => {
      for (const table of tables) await clearTables(client, schema, table)
      for (const table of each(schema)) await client.query(`TRUNCATE ${table}`)
    },
    apply: async (transaction, range) => {
      const piece = { from: range.from, to: Math.min(range.to, range.from + blocksMax - 1) }
      const { logs, to } = await readLogs(of.events, transaction, piece, eventsMax)
      await of.take(transaction, logs, { from: range.from, to })
      return to
    },
    revert: async ({ client, schema }, fromBlock) => {
      for (const table of tables) await deleteTail(client, schema, table, fromBlock)
      for (const table of each(schema))
        await client.query(`DELETE FROM ${table} WHERE block_num >= $1`, [fromBlock])
    },
  }
}

/**
 * `genesis` gives the changes that stand before the first block, such as tokens no event created.
 */
export function foldFollower<Columns extends FoldColumns>(
  fold: Fold<Columns>,
  genesis: (context: FollowerContext) => Promise<readonly FoldChange<Columns>[]>,
  eventsMax?: number,
): BlockFollower {
  const folds: readonly Fold[] = [fold, ...(fold.beside ?? [])]
  const { name } = fold
  const follower = eventFollower({
    name,
    rowTables: [stoppedTable(name)],
    version: fold.version,
    needs: [],
    events: folds.flatMap(({ reducers }) => reducers.map(({ event }) => event)),
    tables: folds,
    ...(eventsMax !== undefined && { eventsMax }),
    prepare: async (context) => {
      const changes = await genesis(context)
      return ({ client, schema }) => insertChanges(client, schema, fold, changes)
    },
    take: async (transaction, logs) => {
      for (const each of folds) await takeFold(transaction, name, each, logs)
    },
  })
  return {
    ...follower,
    inspect: async (client, schema) => ({ strays: 0, differs: await describeStopped(client, schema, name) }),
  }
}

async function takeFold(
  { client, schema }: FollowerTransaction,
  follower: string,
  fold: Fold,
  logs: readonly PlacedLog[],
): Promise<void> {
  const store = async (events: readonly FoldEvent<FoldState<FoldColumns>>[]) => {
    const entities = events.map(({ entity }) => entity)
    const states = await readStates(client, schema, fold, entities)
    await insertChanges(client, schema, fold, reduceEvents(events, states))
  }
  await storeOrStop({ client, schema, follower, fold, store }, decodeEvents(fold, logs))
}

interface LogRow {
  block_num: number
  log_idx: number
  block_timestamp: Date
  tx_hash: Buffer
  tx_idx: number
  address: Buffer
  topic0: Buffer
  topic1: Buffer | null
  topic2: Buffer | null
  topic3: Buffer | null
  data: Buffer
  /** Bytes of this log and those before it. */
  data_bytes: string
}

/**
 * Logs that may be the fold's, whole blocks of them: as many blocks as hold no more than
 * `eventsMax` and DATA_BYTES_MAX, and at least one.
 */
async function readLogs(
  events: EventFollower['events'],
  { client, schema }: Pick<FollowerTransaction, 'client' | 'schema'>,
  range: BlockRange,
  eventsMax: number,
): Promise<{ readonly logs: readonly PlacedLog[]; readonly to: number }> {
  const topics = [...new Set(events.map(({ topic0 }) => topic0))].map(toBytes)
  const read = async (to: number, limit: number | null, bytesMax: number | null) => {
    const found = await client.query<LogRow>(
      `SELECT * FROM (
         SELECT block_num, log_idx, block_timestamp, tx_hash, tx_idx, address, topic0, topic1, topic2, topic3, data,
           sum(octet_length(data)) OVER (ORDER BY block_num, log_idx ROWS UNBOUNDED PRECEDING) AS data_bytes
         FROM (SELECT * FROM ${quoteIdentifier(schema)}.logs WHERE topic0 = ANY ($1) AND block_num BETWEEN $2 AND $3
               ORDER BY block_num, log_idx LIMIT $4) AS logs) AS summed
       WHERE $5::bigint IS NULL OR data_bytes - octet_length(data) <= $5 ORDER BY block_num, log_idx`,
      [topics, range.from, to, limit, bytesMax],
    )
    return found.rows
  }
  const rows = await read(range.to, eventsMax + 1, DATA_BYTES_MAX)
  const last = rows.at(-1)
  const isAll = rows.length <= eventsMax && Number(last?.data_bytes ?? 0) <= DATA_BYTES_MAX
  if (isAll || !last) return { logs: rows.map(placedLog), to: range.to }
  const to = Math.max(range.from, last.block_num - 1)
  const whole =
    last.block_num > range.from ? rows.filter((row) => row.block_num <= to) : await read(to, null, null)
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
      txHash: hash(toHex(row.tx_hash)),
      txIndex: row.tx_idx,
      emitter,
    },
  }
}
