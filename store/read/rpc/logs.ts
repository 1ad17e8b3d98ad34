/**
 * Logs of a range as a node tells them, from proved blocks: all of them or none, for the range is
 * compared with what is held in the moment of the rows.
 */
import { covers, parseMultirange } from '#ingest/range.ts'
import { readPlanned, readSnapshot } from '../../cancel.ts'
import { archivedPartSql } from '../../ledger/archive.ts'
import type { ChainState } from '../../ledger/ChainState.ts'
import type { Queryable } from '../../ledger/lane.ts'
import type { Postgres } from '../../postgres.ts'
import { relationOf, toBytes } from '../../sql.ts'
import { storedTypes } from '../lists/row.ts'
import { archivedLogs, type LogRow, type StoredLog, writeLogs } from './logTexts.ts'

export interface ChainLogsFilter {
  /** Empty for all. */
  readonly addresses: readonly string[]
  /** Values of each place; an empty list for any. */
  readonly topics: readonly (readonly string[])[]
}

export type ChainLogsPlace = { readonly by: 'hash'; readonly hash: string } | LogsRange

export interface LogsRange {
  readonly by: 'range'
  readonly from: number
  readonly to: number
}

export type ChainLogs =
  | { readonly kind: 'logs'; readonly logs: readonly StoredLog[] }
  /** Not all of these blocks are held. */
  | { readonly kind: 'uncovered' }
  /** More than may be read at once; up to this block they would be few enough. */
  | { readonly kind: 'tooMany'; readonly from: number; readonly to: number }

/** The chain's parts that logs are read with. */
export type LogsChain = Pick<ChainState, 'schema' | 'openParts'>

/** Logs of one answer. */
export const LOGS_MAX = 10_000
/** Logs of one block, which cannot be cut further. */
const BLOCK_LOGS_MAX = 100_000

export async function readChainLogs(
  postgres: Postgres,
  chain: LogsChain,
  filter: ChainLogsFilter,
  place: ChainLogsPlace,
  signal: AbortSignal,
  logsMax = LOGS_MAX,
): Promise<ChainLogs> {
  if (place.by === 'range') {
    const statement = rowsStatement(chain.schema, filter, place, logsMax)
    const { rows } = await readPlanned<FoundRow>(postgres, signal, statement)
    const found = foundIn(chain, rows, place, logsMax)
    if (found !== 'unlike') return found
  }
  return readSnapshot(postgres, signal, (client) => logsIn(client, chain, filter, place, logsMax))
}

/** In the snapshot of its client. */
export async function logsIn(
  client: Queryable,
  chain: LogsChain,
  filter: ChainLogsFilter,
  place: ChainLogsPlace,
  logsMax: number,
): Promise<ChainLogs> {
  const range = place.by === 'range' ? place : await rangeOfHash(client, chain.schema, place.hash)
  if (!range) return { kind: 'uncovered' }
  const { rows } = await client.query<FoundRow>(rowsStatement(chain.schema, filter, range, logsMax))
  const found = foundIn(chain, rows, range, logsMax)
  if (found !== 'unlike') return found
  return { kind: 'logs', logs: await archivedLogs(client, chain.schema, rows.filter(isLog)) }
}

/** A log; where none is found, one row without. */
type FoundRow = (LogRow | { readonly block_num: null }) & {
  /** Blocks held, with the first row. */
  readonly covered: string | null
}

const isLog = (row: FoundRow): row is LogRow & FoundRow => row.block_num !== null

/** `unlike` where the archive has them in words of its own. */
function foundIn(
  { openParts }: LogsChain,
  rows: readonly FoundRow[],
  range: LogsRange,
  logsMax: number,
): ChainLogs | 'unlike' {
  if (!covers(parseMultirange(rows[0]?.covered ?? '{}'), range)) return { kind: 'uncovered' }
  const logs = rows.filter(isLog)
  const beyond = logs[maxOf(range, logsMax)]
  if (beyond) return { kind: 'tooMany', from: range.from, to: Math.max(range.from, beyond.block_num - 1) }
  const written = writeLogs(logs, openParts)
  return written ? { kind: 'logs', logs: written } : 'unlike'
}

const maxOf = ({ from, to }: LogsRange, logsMax: number): number => (from === to ? BLOCK_LOGS_MAX : logsMax)

async function rangeOfHash(client: Queryable, schema: string, hash: string): Promise<LogsRange | undefined> {
  const { rows } = await client.query<{ num: number }>(
    `SELECT num FROM ${relationOf(schema, 'blocks')} WHERE hash = $1`,
    [toBytes(hash)],
  )
  return rows[0] && { by: 'range', from: rows[0].num, to: rows[0].num }
}

/** One log more than may be told, with the blocks held, and the archive of the first and the last. */
function rowsStatement(
  schema: string,
  { addresses, topics }: ChainLogsFilter,
  range: LogsRange,
  logsMax: number,
) {
  const values: unknown[] = [range.from, range.to, maxOf(range, logsMax) + 1]
  // A place for any value also fits a log without it, as in nodes on alloy; geth leaves those out.
  const conditions = [addresses, ...topics].flatMap((wanted, index) => {
    if (wanted.length === 0) return []
    values.push(wanted.map(toBytes))
    return [`${index === 0 ? 'address' : `topic${index - 1}`} = ANY ($${values.length}::bytea[])`]
  })
  const logs = relationOf(schema, 'logs')
  const text = `WITH found AS MATERIALIZED (
       SELECT block_num, log_idx, tx_idx, tx_hash, address, topic0, topic1, topic2, topic3, data,
         extract(epoch FROM block_timestamp)::bigint AS seconds,
         CASE WHEN (SELECT 'logIndexes' = ANY (loose_parts || dropped_parts) FROM ${relationOf(schema, 'chain')}) THEN (
           SELECT count(*)::int FROM ${logs} AS before
           WHERE before.block_num = logs.block_num AND before.tx_idx = logs.tx_idx AND before.log_idx < logs.log_idx
         ) END AS position
       FROM ${logs} AS logs
       WHERE ${['block_num BETWEEN $1 AND $2', ...conditions].join(' AND ')}
       ORDER BY block_num, log_idx LIMIT $3),
     placed AS (
       SELECT found.*, tx_idx AS idx, lag(log_idx) OVER neighbours IS NULL AS is_first, lead(log_idx) OVER neighbours IS NULL AS is_last
       FROM found WINDOW neighbours AS (ORDER BY block_num, log_idx))
     SELECT placed.*,
       (SELECT hash FROM ${relationOf(schema, 'blocks')} AS blocks WHERE num = placed.block_num) AS block_hash,
       CASE WHEN is_first OR is_last THEN (${archivedPartSql(schema, 'placed')}) END AS archived_part,
       CASE WHEN coalesce(is_first, true) THEN held.blocks END AS covered
     FROM (SELECT (${coveredSql(schema)}) AS blocks) AS held LEFT JOIN placed ON true
     ORDER BY block_num, log_idx`
  return { text, values, types: storedTypes }
}

const coveredSql = (schema: string): string =>
  `SELECT blocks::text FROM ${relationOf(schema, 'coverage')}
   WHERE store = 'postgres' AND projection = 'base' ORDER BY version DESC LIMIT 1`
