/**
 * Logs of a range as a node tells them, from proved blocks: all of them or none, for the range is
 * compared with what is held in the moment of the rows.
 */
import { covers } from '#ingest/range.ts'
import { isRecord } from '#primitives.ts'
import { readSnapshot } from '../../cancel.ts'
import { readArchivedTxs } from '../../ledger/archive.ts'
import type { ChainState } from '../../ledger/chainState.ts'
import { type Queryable, readCoverage } from '../../ledger/lane.ts'
import type { Postgres } from '../../postgres.ts'
import { quoteIdentifier, toBytes } from '../../sql.ts'

export interface ChainLogsFilter {
  /** Empty for all. */
  readonly addresses: readonly string[]
  /** Values of each place; an empty list for any. */
  readonly topics: readonly (readonly string[])[]
}

export type ChainLogsPlace =
  | { readonly by: 'hash'; readonly hash: string }
  | { readonly by: 'range'; readonly from: number; readonly to: number }

export type ChainLogs =
  | { readonly kind: 'logs'; readonly logs: readonly StoredLog[] }
  /** Not all of these blocks are held. */
  | { readonly kind: 'uncovered' }
  /** More than may be read at once; up to this block they would be few enough. */
  | { readonly kind: 'tooMany'; readonly from: number; readonly to: number }

/** The node's own fields of a log, and where it stands. */
export interface StoredLog {
  readonly blockNumber: number
  readonly logIndex: number
  readonly fields: Readonly<Record<string, unknown>>
}

/** Logs of one answer. */
export const LOGS_MAX = 10_000
/** Logs of one block, which cannot be cut further. */
const BLOCK_LOGS_MAX = 100_000

export async function readChainLogs(
  postgres: Postgres,
  { schema }: Pick<ChainState, 'schema'>,
  filter: ChainLogsFilter,
  place: ChainLogsPlace,
  signal: AbortSignal,
  logsMax = LOGS_MAX,
): Promise<ChainLogs> {
  return readSnapshot(postgres, signal, (client) => logsIn(client, schema, filter, place, logsMax))
}

/** In the snapshot of its client. */
export async function logsIn(
  client: Queryable,
  schema: string,
  filter: ChainLogsFilter,
  place: ChainLogsPlace,
  logsMax: number,
): Promise<ChainLogs> {
  const range = place.by === 'range' ? place : await rangeOfHash(client, schema, place.hash)
  if (!range || !covers(await readCoverage(client, schema, 'postgres'), range)) return { kind: 'uncovered' }
  const max = range.from === range.to ? BLOCK_LOGS_MAX : logsMax
  const places = await readPlaces(client, schema, filter, range, max + 1)
  const beyond = places[max]
  if (beyond) return { kind: 'tooMany', from: range.from, to: Math.max(range.from, beyond.block_num - 1) }
  return { kind: 'logs', logs: await readLogs(client, schema, places) }
}

interface PlaceRow {
  block_num: number
  log_idx: number
  tx_idx: number
  /** Position among the logs of its transaction, where a log's number may be another than told. */
  position: number | null
}

async function rangeOfHash(client: Queryable, schema: string, hash: string) {
  const { rows } = await client.query<{ num: number }>(
    `SELECT num FROM ${quoteIdentifier(schema)}.blocks WHERE hash = $1`,
    [toBytes(hash)],
  )
  return rows[0] && { from: rows[0].num, to: rows[0].num }
}

async function readPlaces(
  client: Queryable,
  schema: string,
  { addresses, topics }: ChainLogsFilter,
  { from, to }: { readonly from: number; readonly to: number },
  max: number,
): Promise<PlaceRow[]> {
  const values: unknown[] = [from, to, max]
  // A place for any value also fits a log without it, as in nodes on alloy; geth leaves those out.
  const conditions = [addresses, ...topics].flatMap((wanted, index) => {
    if (wanted.length === 0) return []
    values.push(wanted.map(toBytes))
    return [`${index === 0 ? 'address' : `topic${index - 1}`} = ANY ($${values.length}::bytea[])`]
  })
  const { rows } = await client.query<PlaceRow>(
    `SELECT block_num, log_idx, tx_idx,
       CASE WHEN (SELECT 'logIndexes' = ANY (loose_parts) FROM ${quoteIdentifier(schema)}.chain) THEN (
         SELECT count(*)::int FROM ${quoteIdentifier(schema)}.logs AS before
         WHERE before.block_num = logs.block_num AND before.tx_idx = logs.tx_idx AND before.log_idx < logs.log_idx
       ) END AS position
     FROM ${quoteIdentifier(schema)}.logs AS logs
     WHERE ${['block_num BETWEEN $1 AND $2', ...conditions].join(' AND ')}
     ORDER BY block_num, log_idx LIMIT $3`,
    values,
  )
  return rows
}

async function readLogs(
  client: Queryable,
  schema: string,
  places: readonly PlaceRow[],
): Promise<readonly StoredLog[]> {
  const txs = [...new Map(places.map((row) => [txKey(row), row])).values()]
  const archived = await readArchivedTxs(
    client,
    schema,
    txs.map((row) => ({ blockNumber: row.block_num, txIndex: row.tx_idx })),
  )
  // Each receipt is parsed once, whatever the number of its logs.
  const logs = new Map(txs.map((row, index) => [txKey(row), logsOf(archived[index]?.receipt)]))
  return places.map((row) => {
    const told = logs.get(txKey(row)) ?? []
    const fields =
      row.position === null ? told.find((log) => Number(log['logIndex']) === row.log_idx) : told[row.position]
    if (!fields) throw new Error(`receipt ${txKey(row)} has no log ${row.log_idx}, but a row says so`)
    return { blockNumber: row.block_num, logIndex: row.log_idx, fields }
  })
}

const txKey = (row: PlaceRow): string => `${row.block_num}/${row.tx_idx}`

function logsOf(receipt: Readonly<Record<string, unknown>> | undefined) {
  const logs: unknown = receipt?.['logs']
  const records = Array.isArray(logs) ? logs.filter(isRecord) : []
  return records
}
