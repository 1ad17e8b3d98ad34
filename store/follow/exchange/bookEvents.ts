/** Events of the exchange, decoded for the order book's reducer. */

import type { Address } from '#primitives.ts'
import {
  flipFailed,
  orderCancelled,
  orderFilled,
  orderFlipped,
  orderPlaced,
  pairCreated,
} from '#transform/events/exchange/stablecoinDex.ts'
import type { EventPlace, PlacedLog } from '../fold.ts'
import type { BookEvent } from './book.ts'

export const bookEvents = [
  pairCreated,
  orderPlaced,
  orderFilled,
  orderFlipped,
  orderCancelled,
  flipFailed,
] as const

/** An event as its log has it: a placed order's quote token is still to be found. */
export type LoggedEvent =
  | Exclude<BookEvent, { kind: 'placed' }>
  | Omit<Extract<BookEvent, { kind: 'placed' }>, 'quote'>

/**
 * The exchange's events among the logs, in their order; look-alikes of other contracts are none of
 * them.
 */
export const decodeBook = (logs: readonly PlacedLog[]): LoggedEvent[] =>
  logs.flatMap((log) => decodeLog(log) ?? [])

function decodeLog({ log, place }: PlacedLog): LoggedEvent | null {
  switch (log.topics[0]) {
    case pairCreated.topic0: {
      const args = pairCreated.decode(log)
      return args && { kind: 'paired', place, ...args }
    }
    case orderPlaced.topic0: {
      const args = orderPlaced.decode(log)
      return args && placed(args, place)
    }
    case orderFilled.topic0: {
      const args = orderFilled.decode(log)
      if (!args) return null
      const { orderId: id, maker, taker, amountFilled: amount, partialFill: isPartial } = args
      return { kind: 'filled', place, id, maker, taker, amount, isPartial }
    }
    case orderFlipped.topic0: {
      const args = orderFlipped.decode(log)
      if (!args) return null
      const { orderId: id, amount, isBid, tick, flipTick } = args
      return { kind: 'flipped', place, id, amount, isBid, tick, flipTick }
    }
    case orderCancelled.topic0: {
      const args = orderCancelled.decode(log)
      return args && { kind: 'cancelled', place, id: args.orderId }
    }
    case flipFailed.topic0: {
      const args = flipFailed.decode(log)
      return args && { kind: 'flipFailed', place, id: args.orderId }
    }
    default:
      return null
  }
}

type PlacedArgs = NonNullable<ReturnType<typeof orderPlaced.decode>>

function placed(args: PlacedArgs, place: EventPlace): LoggedEvent {
  const { orderId: id, maker, token: base, amount, isBid, tick, isFlipOrder: isFlip, flipTick } = args
  return { kind: 'placed', place, id, maker, base, amount, isBid, tick, isFlip, flipTick }
}

/** Gives each placed order its quote token, in order. */
export function withQuotes(
  events: readonly LoggedEvent[],
  quotes: readonly (Address | null)[],
  unknown: (event: LoggedEvent) => never,
): BookEvent[] {
  let nth = 0
  return events.map((event): BookEvent => {
    if (event.kind !== 'placed') return event
    const quote = quotes[nth++] ?? unknown(event)
    return { ...event, quote }
  })
}
