/** The quote tokens of orders in transactions; their events name the base token alone. */
import { type Address, address } from '#primitives.ts'
import { type ActivityFacts, listOccurrences } from '#transform/activities/activity.ts'
import { orderFlipped, orderPlaced } from '#transform/events/exchange/stablecoinDex.ts'
import { orderKey, ordersTable } from '../../follow/exchange/bookStates.ts'
import { readQuoteTokens } from '../../follow/exchange/quoteTokens.ts'
import { relationOf, toBytes, toHex } from '../../sql.ts'
import type { PageSource } from '../lists/read.ts'

type Where = Pick<PageSource, 'client' | 'schema'>

/**
 * By order id, of the bids in these transactions: an ask holds base tokens. An order has the quote
 * token of its base at the log that placed it; one that flips in place keeps it.
 */
export async function readOrderQuotes(
  where: Where,
  transactions: readonly ActivityFacts[],
): Promise<(orderId: bigint) => Address | null> {
  const bids = transactions.flatMap((facts) =>
    [...listOccurrences(facts, orderPlaced), ...listOccurrences(facts, orderFlipped)]
      .filter(({ args }) => args.isBid)
      .map(({ log, args }) => ({
        ...{ id: args.orderId, token: args.token, flips: !('isFlipOrder' in args) },
        ...{ blockNumber: facts.block.number, logIndex: log.logIndex },
      })),
  )
  const told = await readQuoteTokens(where.client, where.schema, bids)
  const placed = await readPlacedQuotes(
    where,
    bids.filter(({ flips }) => flips),
  )
  const quotes = new Map(bids.map(({ id }, index) => [id, placed.get(id) ?? told[index] ?? null]))
  return (orderId) => quotes.get(orderId) ?? null
}

/** The order book's quote tokens of these orders: none while it is behind, or cannot be. */
async function readPlacedQuotes(
  { client, schema }: Where,
  orders: readonly { readonly id: bigint; readonly token: Address }[],
): Promise<ReadonlyMap<bigint, Address>> {
  if (orders.length === 0) return new Map()
  const found = await client.query<{ order_id: Buffer; quote: Buffer }>(
    `SELECT orders.order_id, orders.quote FROM unnest($1::bytea[], $2::bytea[]) AS asked (order_id, base)
     JOIN ${relationOf(schema, `${ordersTable.name}_current`)} AS orders USING (order_id, base)`,
    [orders.map(({ id }) => toBytes(orderKey(id))), orders.map(({ token }) => toBytes(token))],
  )
  return new Map(found.rows.map((row) => [BigInt(toHex(row.order_id)), address(toHex(row.quote))]))
}
