/**
 * The order book as a pure reducer: every event of the exchange in order, exact to the last unit. A
 * fill says neither side, nor price, nor pair: all three come from its order as it stood before.
 */
import { failure } from '#errors.ts'
import type { Address, Hash } from '#primitives.ts'
import type { EventPlace, Touched } from '../fold.ts'
import {
  type BookLevel,
  type BookOrder,
  createdAt,
  createdAtGenesis,
  levelKey,
  orderKey,
  type Pair,
  pairKey,
} from './bookStates.ts'
import { escrowOf, quoteOfFill } from './price.ts'

/** An event of the exchange, with where it stands. */
export type BookEvent = { readonly place: EventPlace } & (
  | { readonly kind: 'paired'; readonly key: Hash; readonly base: Address; readonly quote: Address }
  | PlacedOrder
  | {
      readonly kind: 'filled'
      readonly id: bigint
      readonly maker: Address
      readonly taker: Address
      readonly amount: bigint
      readonly isPartial: boolean
    }
  | {
      readonly kind: 'flipped'
      readonly id: bigint
      readonly amount: bigint
      readonly isBid: boolean
      readonly tick: number
      readonly flipTick: number
    }
  | { readonly kind: 'cancelled'; readonly id: bigint }
  /** The order it names was filled before, and stays so. */
  | { readonly kind: 'flipFailed'; readonly id: bigint }
)

interface PlacedOrder {
  readonly kind: 'placed'
  readonly id: bigint
  readonly maker: Address
  readonly base: Address
  /** Quote token of the base at this log, which the event does not say. */
  readonly quote: Address
  readonly amount: bigint
  readonly isBid: boolean
  readonly tick: number
  readonly isFlip: boolean
  readonly flipTick: number
}

/** States by their keys; the reducer writes the new ones into them. */
export interface BookStates {
  readonly orders: Map<string, BookOrder>
  readonly levels: Map<string, BookLevel>
  readonly pairs: Map<string, Pair>
}

/** A fill with everything its event leaves out. */
export interface Fill {
  readonly place: EventPlace
  readonly id: bigint
  readonly maker: Address
  readonly taker: Address
  readonly pair: Hash
  readonly base: Address
  readonly quote: Address
  /** Side of the maker's order. */
  readonly isBid: boolean
  readonly tick: number
  readonly amount: bigint
  readonly quoteAmount: bigint
  readonly isPartial: boolean
  /** The reserves of the pair's open orders after it. */
  readonly reserve0: bigint
  readonly reserve1: bigint
}

export interface BookChanges {
  readonly orders: readonly Touched<BookOrder>[]
  readonly levels: readonly Touched<BookLevel>[]
  readonly pairs: readonly Touched<Pair>[]
  readonly fills: readonly Fill[]
  /** Events of orders that nobody placed. */
  readonly strays: readonly Stray[]
}

export interface Stray {
  readonly place: EventPlace
  readonly id: bigint
  readonly kind: BookEvent['kind']
}

/**
 * Reduces events in their order. `genesisSeconds` is the time of block 0, where pairs without an
 * event of their own began.
 * @throws BookContradictionError
 */
export function reduceBook(
  events: readonly BookEvent[],
  states: BookStates,
  genesisSeconds: number,
): BookChanges {
  const book = new Book(states, genesisSeconds)
  for (const event of events) book.take(event)
  return book.changes
}

/** States of one kind, and what became of them. */
class Kept<State> {
  readonly changes: Touched<State>[] = []
  readonly #states: Map<string, State>

  constructor(states: Map<string, State>) {
    this.#states = states
  }

  get(key: string): State | undefined {
    return this.#states.get(key)
  }

  set(key: string, place: EventPlace, state: State): void {
    this.#states.set(key, state)
    this.changes.push({ key, place, state })
  }
}

class Book {
  readonly #orders: Kept<BookOrder>
  readonly #levels: Kept<BookLevel>
  readonly #pairs: Kept<Pair>
  readonly #fills: Fill[] = []
  readonly #strays: Stray[] = []
  readonly #genesisSeconds: number

  constructor({ orders, levels, pairs }: BookStates, genesisSeconds: number) {
    this.#orders = new Kept(orders)
    this.#levels = new Kept(levels)
    this.#pairs = new Kept(pairs)
    this.#genesisSeconds = genesisSeconds
  }

  get changes(): BookChanges {
    return {
      orders: this.#orders.changes,
      levels: this.#levels.changes,
      pairs: this.#pairs.changes,
      fills: this.#fills,
      strays: this.#strays,
    }
  }

  take(event: BookEvent): void {
    if (event.kind === 'paired') this.#pair(event)
    if (event.kind === 'placed') this.#place(event)
    if (event.kind === 'filled') this.#fill(event)
    if (event.kind === 'flipped') this.#flip(event)
    if (event.kind === 'cancelled') this.#cancel(event)
  }

  #pair({ key, base, quote, place }: Extract<BookEvent, { kind: 'paired' }>): void {
    if (key !== pairKey(base, quote))
      throw new BookContradictionError(place, `pair ${key} is of other tokens`)
    const created = createdAt(place.blockNumber, place.logIndex, place.timestampSeconds, place.txHash)
    const { reserve0, reserve1 } = this.#pairs.get(key) ?? empty
    this.#pairs.set(key, place, { base, quote, ...created, reserve0, reserve1 })
  }

  #place(event: Extract<BookEvent, { kind: 'placed' }>): void {
    const { id, place, base, quote, maker, amount, isBid, tick, isFlip, flipTick } = event
    if (this.#order(id)) throw new BookContradictionError(place, `order ${id} is placed a second time`)
    this.#open(place, id, {
      ...{ maker, pair: pairKey(base, quote), base, quote, is_bid: isBid, tick, amount, remaining: amount },
      ...{ is_flip: isFlip, flip_tick: flipTick, state: 'open' },
      ...placedAt(place),
    })
  }

  #flip({ id, place, amount, isBid, tick, flipTick }: Extract<BookEvent, { kind: 'flipped' }>): void {
    const order = this.#order(id)
    if (!order) {
      this.#strays.push({ place, id, kind: 'flipped' })
      return
    }
    if (order.state === 'open') throw new BookContradictionError(place, `order ${id} flips while it is open`)
    this.#open(place, id, {
      ...order,
      ...{ is_bid: isBid, tick, amount, remaining: amount, flip_tick: flipTick, state: 'open' },
      ...placedAt(place),
    })
  }

  #fill(event: Extract<BookEvent, { kind: 'filled' }>): void {
    const { id, place, maker, taker, amount, isPartial } = event
    const order = this.#order(id)
    if (!order) {
      this.#strays.push({ place, id, kind: 'filled' })
      return
    }
    const remaining = order.remaining - amount
    if (order.state !== 'open' || remaining < 0n)
      throw new BookContradictionError(place, `order ${id} is filled beyond what it has left`)
    if (remaining > 0n !== isPartial)
      throw new BookContradictionError(
        place,
        `order ${id} has ${remaining} left, and the chain says otherwise`,
      )
    const filled: BookOrder = { ...order, remaining, state: isPartial ? 'open' : 'filled' }
    this.#orders.set(orderKey(id), place, filled)
    const { reserve0, reserve1 } = this.#rest(place, order, filled)
    const { pair, base, quote, is_bid: isBid, tick } = order
    this.#fills.push({
      ...{ place, id, maker, taker, pair, base, quote, isBid, tick, amount, isPartial, reserve0, reserve1 },
      quoteAmount: quoteOfFill(amount, tick, isBid),
    })
  }

  #cancel({ id, place }: Extract<BookEvent, { kind: 'cancelled' }>): void {
    const order = this.#order(id)
    if (!order) {
      this.#strays.push({ place, id, kind: 'cancelled' })
      return
    }
    if (order.state !== 'open') throw new BookContradictionError(place, `order ${id} was closed before`)
    const cancelled: BookOrder = { ...order, state: 'cancelled' }
    this.#orders.set(orderKey(id), place, cancelled)
    this.#rest(place, order, cancelled)
  }

  #open(place: EventPlace, id: bigint, order: BookOrder): void {
    this.#orders.set(orderKey(id), place, order)
    this.#rest(place, null, order)
  }

  /** Moves the order's level and pair from what it held there before to what it holds now. */
  #rest(place: EventPlace, before: BookOrder | null, now: BookOrder): Pair {
    const { pair, is_bid, tick, base, quote } = now
    const key = levelKey(pair, is_bid, tick)
    const level = this.#levels.get(key) ?? { pair, is_bid, tick, size: 0n, order_count: 0 }
    const [had, has] = [restingOf(before), restingOf(now)]
    this.#levels.set(key, place, {
      ...level,
      size: level.size + has - had,
      order_count: level.order_count + Number(has > 0n) - Number(had > 0n),
    })
    const genesis = createdAtGenesis(this.#genesisSeconds)
    const held = this.#pairs.get(pair) ?? { base, quote, ...genesis, ...empty }
    const moved: Pair = is_bid
      ? { ...held, reserve1: held.reserve1 + escrowOf(has, tick) - escrowOf(had, tick) }
      : { ...held, reserve0: held.reserve0 + has - had }
    this.#pairs.set(pair, place, moved)
    return moved
  }

  #order(id: bigint): BookOrder | undefined {
    return this.#orders.get(orderKey(id))
  }
}

/** The amount that an order still offers. */
const restingOf = (order: BookOrder | null): bigint => (order?.state === 'open' ? order.remaining : 0n)

const empty = { reserve0: 0n, reserve1: 0n } as const
const placedAt = ({ blockNumber, logIndex, timestampSeconds, txHash }: EventPlace) => ({
  placed_block: blockNumber,
  placed_log_idx: logIndex,
  placed_at: timestampSeconds,
  placed_tx: txHash,
})

/**
 * The exchange's events contradict each other, or our reading of them: no number of ours could be
 * trusted.
 */
export class BookContradictionError extends failure('BookContradictionError', 'book_contradiction', 'stop') {
  readonly blockNumber: number
  readonly logIndex: number

  constructor({ blockNumber, logIndex }: EventPlace, problem: string) {
    super(`the order book contradicts itself at block ${blockNumber}, log ${logIndex}: ${problem}`)
    this.blockNumber = blockNumber
    this.logIndex = logIndex
  }
}
