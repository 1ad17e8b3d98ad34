/**
 * The order book as a follower: what its events say of orders, levels, pairs and fills, after every
 * block.
 */

import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import type { Queryable } from '../../ledger/lane.ts'
import type { PlacedLog } from '../fold.ts'
import { eventFollower } from '../foldFollower.ts'
import { insertTouched, readStates } from '../foldTables.ts'
import type { BlockFollower, FollowerTransaction } from '../follower.ts'
import { readGenesisSeconds } from '../genesisBlock.ts'
import { BookContradictionError, type BookEvent, type BookStates, type Fill, reduceBook } from './book.ts'
import { bookEvents, decodeBook, type LoggedEvent, withQuotes } from './bookEvents.ts'
import {
  type BookOrder,
  levelKey,
  levelsTable,
  orderKey,
  ordersTable,
  pairKey,
  pairsTable,
} from './bookStates.ts'
import { countStrays, insertFills, insertStrays } from './fillTables.ts'
import { completePairs } from './genesisPairs.ts'
import { readQuoteTokens } from './quoteTokens.ts'
import { assignSwaps, swapsOf } from './swaps.ts'
import { readMoved, takerQuotes } from './takerAmounts.ts'

export const exchangeProjection = { name: 'exchange', version: 3 } as const

export interface BookOptions {
  /** Tells pairs of genesis; null on chains without an exchange. */
  readonly callContracts: CallContracts | null
  /** Events of one piece; tests have fewer than usual. */
  readonly eventsMax?: number | undefined
}

export function bookFollower({ callContracts, eventsMax }: BookOptions): BlockFollower {
  const follower = eventFollower({
    ...exchangeProjection,
    needs: ['tokens', 'token_transfers'],
    // On other chains the address is anybody's, and what it logs says nothing.
    events: callContracts ? bookEvents : [],
    tables: [ordersTable, levelsTable, pairsTable],
    rowTables: ['exchange_fills', 'exchange_strays'],
    ...(eventsMax !== undefined && { eventsMax }),
    prepare: async () => async () => {},
    take,
  })
  return {
    ...follower,
    ...(callContracts && {
      complete: (context) => completePairs(callContracts, context, exchangeProjection),
    }),
    inspect: async (client, schema) => ({ strays: await countStrays(client, schema), differs: null }),
  }
}

async function take({ client, schema }: FollowerTransaction, logs: readonly PlacedLog[]): Promise<void> {
  const logged = decodeBook(logs)
  if (logged.length === 0) return
  const events = await nameQuotes(client, schema, logged)
  const states = await readBook(client, schema, events)
  const changes = reduceBook(events, states, await readGenesisSeconds(client, schema))
  await insertTouched(client, schema, ordersTable, changes.orders)
  await insertTouched(client, schema, levelsTable, changes.levels)
  await insertTouched(client, schema, pairsTable, changes.pairs)
  await storeFills(client, schema, changes.fills, events)
  await insertStrays(client, schema, changes.strays)
}

async function storeFills(
  client: Queryable,
  schema: string,
  fills: readonly Fill[],
  events: readonly BookEvent[],
): Promise<void> {
  if (fills.length === 0) return
  const swaps = swapsOf(fills, events)
  const taken = takerQuotes(swaps, await readMoved(client, schema, swaps, events))
  await insertFills(client, schema, fills, assignSwaps(fills, swaps), taken)
}

async function nameQuotes(
  client: Queryable,
  schema: string,
  logged: readonly LoggedEvent[],
): Promise<readonly BookEvent[]> {
  const placed = logged.flatMap((event) => (event.kind === 'placed' ? [event] : []))
  const asked = placed.map(({ base, place }) => ({ token: base, ...place }))
  const quotes = await readQuoteTokens(client, schema, asked)
  return withQuotes(logged, quotes, ({ place }) => {
    throw new BookContradictionError(place, 'nothing tells what the token of an order is quoted in')
  })
}

/** Everything the events touch, as it stands before them. */
async function readBook(
  client: Queryable,
  schema: string,
  events: readonly BookEvent[],
): Promise<BookStates> {
  const ids = events.flatMap((event) => ('id' in event ? [orderKey(event.id)] : []))
  const orders = await readStates(client, schema, ordersTable, ids)
  const pairOfId = new Map([...orders].map(([key, { pair }]) => [key, pair]))
  const pairs = new Set<string>(pairOfId.values())
  const levels = new Set([...orders.values()].map(levelOf))
  for (const event of events) {
    if (event.kind === 'paired') pairs.add(event.key)
    if (event.kind === 'placed') pairOfId.set(orderKey(event.id), pairKey(event.base, event.quote))
    if (event.kind !== 'placed' && event.kind !== 'flipped') continue
    const pair = pairOfId.get(orderKey(event.id))
    if (pair === undefined) continue
    pairs.add(pair)
    levels.add(levelKey(pair, event.isBid, event.tick))
  }
  return {
    orders,
    levels: await readStates(client, schema, levelsTable, [...levels]),
    pairs: await readStates(client, schema, pairsTable, [...pairs]),
  }
}

const levelOf = ({ pair, is_bid, tick }: BookOrder): string => levelKey(pair, is_bid, tick)
