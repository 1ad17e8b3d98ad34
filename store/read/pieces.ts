/** Rows of a piece of a chain, in which events are looked for. */
import { type BlockRange, intersection, parseMultirange, type RangeSet } from '#ingest/range.ts'
import type { TableName } from '#transform/tables.ts'
import { exchangeProjection } from '../follow/exchange/bookFollower.ts'
import { revertedFromSql } from '../follow/follower.ts'
import { finalRangeSql, lowestLinkedSql, type Queryable, readCoverage, readLane } from '../ledger/lane.ts'
import { preparedName } from '../postgres.ts'
import { relationOf, toBytes, toHex } from '../sql.ts'
import { type FillColumns, type FillRow, fillRow, fillsOf } from './exchange/fills.ts'
import { type StoredRow, storedTypes } from './lists/row.ts'

/**
 * The streams that are looked through. `blocks`: as soon as a block is held; `fills`: once the order book
 * has taken it in.
 */
export const streams = ['blocks', 'fills'] as const
export type Stream = (typeof streams)[number]

export interface StreamOf {
  readonly chainId: number
  readonly stream: Stream
}

/** The last block that was looked through; its hash is null before the first. */
export interface ScanPlace {
  readonly number: number
  readonly hash: string | null
}

export interface PieceTables {
  readonly blocks: readonly StoredRow<'blocks'>[]
  readonly txs: readonly StoredRow<'txs'>[]
  readonly logs: readonly StoredRow<'logs'>[]
  readonly token_transfers: readonly StoredRow<'token_transfers'>[]
  readonly native_transfers: readonly StoredRow<'native_transfers'>[]
  readonly exchange_fills: readonly FillRow[]
}

/** Blocks of one piece. */
export const PIECE_BLOCKS_MAX = 200
/** Logs and transactions of one piece; a block that has more is a piece of its own. */
const ROWS_MAX = 20_000
/** Gas of one piece: the cheapest byte, one of a log, costs 8, so what was emitted and sent is 16 MiB. */
const GAS_MAX = 8 * 16 * 1024 * 1024

/** Blocks of a range from its start on, as many as are good to hold together, and no more than `most`. */
export async function readPieceBlocks(
  client: Queryable,
  schema: string,
  { from, to }: BlockRange,
  most = PIECE_BLOCKS_MAX,
): Promise<readonly StoredRow<'blocks'>[]> {
  const { rows } = await client.query<StoredRow<'blocks'>>({
    text: `SELECT * FROM ${relationOf(schema, 'blocks')} WHERE num BETWEEN $1 AND $2 ORDER BY num LIMIT ${most}`,
    values: [from, to],
    types: storedTypes,
  })
  let [count, gas] = [0, 0]
  const end = rows.findIndex((row) => {
    count += row.tx_count + row.log_count
    gas += Number(row.gas_used)
    return count > ROWS_MAX || gas > GAS_MAX
  })
  return end === -1 ? rows : rows.slice(0, Math.max(1, end))
}

/** Rows of the blocks, of those tables alone that are asked for. */
export async function readPiece(
  client: Queryable,
  schema: string,
  blocks: PieceTables['blocks'],
  tables: ReadonlySet<keyof PieceTables>,
): Promise<PieceTables> {
  const [first, last] = [Number(blocks[0]?.num ?? 0), Number(blocks.at(-1)?.num ?? -1)]
  const read = async <Name extends TableName>(name: Name & keyof PieceTables, order: string) => {
    if (!tables.has(name)) return []
    const { rows } = await client.query<StoredRow<Name>>({
      text: `SELECT * FROM ${relationOf(schema, name)} WHERE block_num BETWEEN $1 AND $2 ORDER BY block_num, ${order}`,
      values: [first, last],
      types: storedTypes,
    })
    return rows
  }
  return {
    blocks,
    txs: await read('txs', 'idx'),
    logs: await read('logs', 'log_idx'),
    token_transfers: await read('token_transfers', 'log_idx'),
    native_transfers: await read('native_transfers', 'log_idx, tx_idx'),
    exchange_fills: tables.has('exchange_fills') ? await readFills(client, schema, first, last) : [],
  }
}

/** The rows of each block, in the order of the chain. */
export function rowsByBlock(rows: PieceTables): readonly PieceTables[] {
  const of = <Row>(all: readonly Row[], blockOf: (row: Row) => number | bigint) => {
    const held = Map.groupBy(all, (row) => Number(blockOf(row)))
    return (number: number): readonly Row[] => held.get(number) ?? []
  }
  const txs = of(rows.txs, (row) => row.block_num)
  const logs = of(rows.logs, (row) => row.block_num)
  const transfers = of(rows.token_transfers, (row) => row.block_num)
  const coins = of(rows.native_transfers, (row) => row.block_num)
  const fills = of(rows.exchange_fills, (row) => row.blockNumber)
  return rows.blocks.map((block) => {
    const number = Number(block.num)
    return {
      blocks: [block],
      ...{ txs: txs(number), logs: logs(number), token_transfers: transfers(number) },
      native_transfers: coins(number),
      exchange_fills: fills(number),
    }
  })
}

async function readFills(client: Queryable, schema: string, from: number, to: number): Promise<FillRow[]> {
  const { rows } = await client.query<FillColumns>(
    `SELECT * FROM ${fillsOf(schema)} WHERE block_num BETWEEN $1 AND $2 ORDER BY block_num, log_idx`,
    [from, to],
  )
  return rows.map(fillRow)
}

/** Blocks of which all that a stream looks through is held. */
export async function readCovered(client: Queryable, schema: string, stream: Stream): Promise<RangeSet> {
  const base = await readCoverage(client, schema, 'postgres')
  if (stream === 'fills') return intersection(base, await readBookCovered(client, schema))
  const tokens = await readCoverage(client, schema, 'postgres', 'token_transfers')
  const coins = await readCoverage(client, schema, 'postgres', 'native_transfers')
  return intersection(intersection(base, tokens), coins)
}

/**
 * The newest final block, if nothing else can have changed for a stream that stands at a block: it is
 * held, and the next one is not. Null where it is worth a look. One statement, for it is asked at
 * every commit.
 */
export async function readStill(
  client: Queryable,
  schema: string,
  stream: Stream,
  { number, hash }: ScanPlace,
): Promise<number | null> {
  const [needed, version] =
    stream === 'fills' ? [exchangeProjection.name, exchangeProjection.version] : ['base', null]
  const text = `SELECT ${finalFromSql(schema)} AS finalized,
     (SELECT hash FROM ${relationOf(schema, 'blocks')} WHERE num = $1::bigint) IS DISTINCT FROM $2::bytea
       OR EXISTS (SELECT FROM ${relationOf(schema, 'coverage')} WHERE store = 'postgres' AND projection = $3
         AND version = coalesce($4::int, version) AND blocks @> $1::bigint + 1) AS moved`
  const values = [number, hash === null ? null : toBytes(hash), needed, version]
  const { rows } = await client.query<{ finalized: number | null; moved: boolean }>({
    name: preparedName(text),
    text,
    values,
  })
  const [row] = rows
  return row && !row.moved && hash !== null ? (row.finalized ?? -1) : null
}

/** Blocks in the order book: what it has not undone yet is not counted. */
async function readBookCovered(client: Queryable, schema: string): Promise<RangeSet> {
  const { name, version } = exchangeProjection
  const { rows } = await client.query<{ blocks: string; reverted: number | null }>(
    `SELECT held.blocks::text AS blocks, (${revertedFromSql(schema, 'followers.seq')}) AS reverted
     FROM ${relationOf(schema, 'followers')} AS followers
     JOIN ${relationOf(schema, 'coverage')} AS held ON held.store = 'postgres' AND held.projection = followers.name
       AND held.version = followers.version
     WHERE followers.name = $1 AND followers.version = $2`,
    [name, version],
  )
  const [row] = rows
  if (!row) return []
  const { blocks, reverted } = row
  const held = parseMultirange(blocks)
  return reverted === null ? held : intersection(held, [{ from: 0, to: reverted - 1 }])
}

/**
 * The newest final block, if it is at this place or blocks held without a gap link both; -1 elsewhere. The
 * blocks above the place are no more than history then, which may be of a branch that is not the chain.
 */
export async function readFinalFrom(client: Queryable, schema: string, place: number): Promise<number> {
  const { rows } = await client.query<{ finalized: number | null }>(
    `SELECT ${finalFromSql(schema)} AS finalized`,
    [place],
  )
  return rows[0]?.finalized ?? -1
}

/** As a scalar, null for none; the place is $1. */
const finalFromSql = (schema: string) =>
  `(SELECT newest FROM ${finalRangeSql(schema)} WHERE newest <= $1::bigint OR lowest <= $1::bigint + 1)`

/**
 * The blocks that are final, held without a gap up to the newest one that envelopes of a stream name final:
 * what was told below a gap stays final. Null while there are none.
 */
export async function readToldFinal(
  client: Queryable,
  schema: string,
  { chainId, stream }: StreamOf,
): Promise<BlockRange | null> {
  const { rows } = await client.query<{ from: number | null; to: number }>(
    `SELECT ${lowestLinkedSql(schema, 'told')} AS "from", told AS "to"
     FROM (SELECT least(p.finalized, l.finalized) AS told
       FROM app.webhook_positions AS p JOIN ${relationOf(schema, 'lanes')} AS l ON l.name = 'head'
       WHERE p.chain_id = $1 AND p.stream = $2) AS position`,
    [chainId, stream],
  )
  const { from = null, to = -1 } = rows[0] ?? {}
  return from === null ? null : { from, to }
}

/** The first place of a search in a chain that was never searched: its tip. */
export async function headPlace(client: Queryable, schema: string): Promise<ScanPlace> {
  const lane = await readLane(client, schema)
  return { number: lane?.tip ?? -1, hash: lane?.tipHash ?? null }
}

/** First block looked through in whose place another is held; null while there is none. */
export async function findFork(client: Queryable, schema: string, of: StreamOf): Promise<number | null> {
  const { rows } = await client.query<{ fork: number | null }>(
    `SELECT min(walked.block_num) AS fork FROM app.webhook_blocks AS walked
     JOIN ${relationOf(schema, 'blocks')} AS held ON held.num = walked.block_num
     WHERE chain_id = $1 AND stream = $2 AND held.hash <> walked.block_hash`,
    [of.chainId, of.stream],
  )
  return rows[0]?.fork ?? null
}

/** The last block looked through below another. */
export async function walkedBelow(client: Queryable, of: StreamOf, block: number): Promise<ScanPlace> {
  const { rows } = await client.query<{ block_num: number; block_hash: Buffer }>(
    `SELECT block_num, block_hash FROM app.webhook_blocks
     WHERE chain_id = $1 AND stream = $2 AND block_num < $3 ORDER BY block_num DESC LIMIT 1`,
    [of.chainId, of.stream, block],
  )
  const [row] = rows
  return row ? { number: row.block_num, hash: toHex(row.block_hash) } : { number: block - 1, hash: null }
}
