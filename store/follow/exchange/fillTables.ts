/**
 * The rows of the order book that are written once: fills, and events of orders that nobody placed.
 */
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf, toBytes, toHex } from '../../sql.ts'
import { byteaText, insertRows } from '../foldTables.ts'
import type { Fill, Stray } from './book.ts'
import { orderKey } from './bookStates.ts'

/**
 * `swaps`: for each fill the log index of the first fill of its swap. `taken`: what takers paid or
 * got in the quote token, where that is another amount than their makers'.
 */
export async function insertFills(
  client: Queryable,
  schema: string,
  fills: readonly Fill[],
  swaps: readonly number[],
  taken: ReadonlyMap<Fill, bigint>,
): Promise<void> {
  const firstLogs = await readFirstLogs(client, schema, fills)
  const rows = fills.map((fill, index) => ({
    ...placeOf(fill),
    block_timestamp: new Date(fill.place.timestampSeconds * 1000).toISOString(),
    tx_idx: fill.place.txIndex,
    tx_log_idx: fill.place.logIndex - (firstLogs.get(fill.place.txHash) ?? fill.place.logIndex),
    tx_hash: byteaText(fill.place.txHash),
    swap_log_idx: swaps[index],
    order_id: byteaText(orderKey(fill.id)),
    maker: byteaText(fill.maker),
    taker: byteaText(fill.taker),
    pair: byteaText(fill.pair),
    base: byteaText(fill.base),
    quote: byteaText(fill.quote),
    is_bid: fill.isBid,
    tick: fill.tick,
    is_partial: fill.isPartial,
    amount: `${fill.amount}`,
    quote_amount: `${fill.quoteAmount}`,
    reserve0: `${fill.reserve0}`,
    reserve1: `${fill.reserve1}`,
    taker_quote_amount: taken.get(fill)?.toString() ?? null,
  }))
  await insertRows(client, relationOf(schema, 'exchange_fills'), rows)
}

export async function insertStrays(
  client: Queryable,
  schema: string,
  strays: readonly Stray[],
): Promise<void> {
  if (strays.length === 0) return
  const rows = strays.map((stray) => ({
    ...placeOf(stray),
    order_id: byteaText(orderKey(stray.id)),
    kind: stray.kind,
  }))
  await insertRows(client, relationOf(schema, 'exchange_strays'), rows)
}

/** Events of orders that nobody placed. */
export async function countStrays(client: Queryable, schema: string): Promise<number> {
  const found = await client.query<{ strays: number }>(
    `SELECT count(*) AS strays FROM ${relationOf(schema, 'exchange_strays')}`,
  )
  return found.rows[0]?.strays ?? 0
}

const placeOf = ({ place }: Pick<Fill, 'place'>) => ({
  block_num: place.blockNumber,
  log_idx: place.logIndex,
})

/** The first log of each transaction of the fills. */
async function readFirstLogs(
  client: Queryable,
  schema: string,
  fills: readonly Fill[],
): Promise<ReadonlyMap<string, number>> {
  const blocks = new Map(fills.map(({ place }) => [place.txHash, place.blockNumber]))
  const found = await client.query<{ tx_hash: Buffer; first: number }>(
    `SELECT asked.tx_hash, first.log_idx AS first FROM unnest($1::bytea[], $2::bigint[]) AS asked (tx_hash, block_num)
     CROSS JOIN LATERAL (SELECT min(log_idx) AS log_idx FROM ${relationOf(schema, 'logs')} AS logs
       WHERE logs.tx_hash = asked.tx_hash AND logs.block_num = asked.block_num) AS first`,
    [[...blocks.keys()].map(toBytes), [...blocks.values()]],
  )
  return new Map(found.rows.map((row) => [toHex(row.tx_hash), row.first]))
}
