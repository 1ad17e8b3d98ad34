// Goal: the reducer is exact where recordings are silent: flips in place, pairs that change, events
// that contradict each other.
// Method: a random book against a list of orders that is summed for each question; hand-made events
// for the rest.
import { expect, test } from 'vitest'
import { type Address, address, type Hash, hash } from '#primitives.ts'
import { BookContradictionError, type BookEvent, type BookStates, reduceBook } from './book.ts'
import { levelKey, orderKey, pairKey } from './bookStates.ts'

const [base, quote, otherQuote, maker, taker] = [1, 2, 3, 4, 5].map((n) =>
  address(`0x${`${n}`.repeat(40)}`),
) as [Address, Address, Address, Address, Address]
const pair = pairKey(base, quote)

const emptyBook = (): BookStates => ({ orders: new Map(), levels: new Map(), pairs: new Map() })

type Unplaced<Event> = Event extends BookEvent ? Omit<Event, 'place'> : never

/** Events of one block, one log after the other. */
const placed = (events: readonly Unplaced<BookEvent>[], blockNumber = 1): BookEvent[] =>
  events.map((event, logIndex) => ({
    ...event,
    place: {
      ...{ blockNumber, logIndex, timestampSeconds: 1_000 + blockNumber, txIndex: 0 },
      ...{ txHash: hash(`0x${'ab'.repeat(32)}`), emitter: base },
    },
  }))

type Placement = Unplaced<Extract<BookEvent, { kind: 'placed' }>>

const order = (id: bigint, change: Partial<Placement> = {}): Placement => ({
  ...({ kind: 'placed', id, maker, base, quote, amount: 1_000n, isBid: true, tick: 10 } as const),
  ...{ isFlip: false, flipTick: 0, ...change },
})
const fill = (id: bigint, amount: bigint, isPartial: boolean) =>
  ({ kind: 'filled', id, maker, taker, amount, isPartial }) as const

const sizeOf = (states: BookStates, key: Hash, isBid: boolean, tick: number) =>
  states.levels.get(levelKey(key, isBid, tick))?.size

test('a fill is rounded down for a bid maker and up for an ask maker', () => {
  const states = emptyBook()
  const { fills } = reduceBook(
    placed([order(1n), order(2n, { isBid: false }), fill(1n, 333n, true), fill(2n, 333n, true)]),
    states,
    0,
  )
  // 333 x 100010 / 100000 = 333.0333
  expect(fills.map(({ quoteAmount }) => quoteAmount)).toEqual([333n, 334n])
  // 667 x 1.0001 = 667.0667 is held back for the bid; 667 base tokens are left of the ask.
  expect(fills.map(({ reserve0, reserve1 }) => [reserve0, reserve1])).toEqual([
    [1_000n, 668n],
    [667n, 668n],
  ])
})

test('an order that flips in place keeps its id, changes sides, and the fill before it had the old side', () => {
  const states = emptyBook()
  const { fills } = reduceBook(
    placed([
      order(1n, { isFlip: true, flipTick: 20 }),
      fill(1n, 1_000n, false),
      { kind: 'flipped', id: 1n, amount: 1_000n, isBid: false, tick: 20, flipTick: 10 },
      fill(1n, 400n, true),
    ]),
    states,
    0,
  )
  expect(fills.map(({ isBid, tick }) => [isBid, tick])).toEqual([
    [true, 10],
    [false, 20],
  ])
  expect(sizeOf(states, pair, true, 10)).toBe(0n)
  expect(sizeOf(states, pair, false, 20)).toBe(600n)
  expect(states.orders.get(orderKey(1n))).toMatchObject({
    ...{ is_bid: false, tick: 20, flip_tick: 10, remaining: 600n, placed_log_idx: 2, state: 'open' },
  })
})

test('a flip that failed leaves the order filled', () => {
  const states = emptyBook()
  reduceBook(
    placed([order(1n, { isFlip: true }), fill(1n, 1_000n, false), { kind: 'flipFailed', id: 1n }]),
    states,
    0,
  )
  expect(states.orders.get(orderKey(1n))?.state).toBe('filled')
})

test('orders stay in the pair they were placed in when their base token is quoted in another one', () => {
  const states = emptyBook()
  reduceBook(placed([order(1n), order(2n, { quote: otherQuote }), { kind: 'cancelled', id: 1n }]), states, 7)
  expect(sizeOf(states, pair, true, 10)).toBe(0n)
  expect(sizeOf(states, pairKey(base, otherQuote), true, 10)).toBe(1_000n)
  // Neither was created by an event.
  for (const key of [pair, pairKey(base, otherQuote)])
    expect(states.pairs.get(key)).toMatchObject({
      ...{ created_block: 0, created_at: 7, created_tx: `0x${'00'.repeat(32)}` },
    })
})

test('events of orders that nobody placed are counted and change nothing', () => {
  const states = emptyBook()
  const { strays, fills } = reduceBook(placed([fill(0n, 5n, true), { kind: 'cancelled', id: 9n }]), states, 0)
  expect(strays.map(({ id, kind }) => [id, kind])).toEqual([
    [0n, 'filled'],
    [9n, 'cancelled'],
  ])
  expect([fills.length, states.orders.size, states.pairs.size]).toEqual([0, 0, 0])
})

const contradictions: Readonly<Record<string, readonly Unplaced<BookEvent>[]>> = {
  'a fill of more than is left': [order(1n), fill(1n, 1_001n, true)],
  'a partial fill of all that is left': [order(1n), fill(1n, 1_000n, true)],
  'a last fill that leaves some': [order(1n), fill(1n, 999n, false)],
  'a fill of a cancelled order': [order(1n), { kind: 'cancelled', id: 1n }, fill(1n, 1n, true)],
  'an order cancelled twice': [order(1n), { kind: 'cancelled', id: 1n }, { kind: 'cancelled', id: 1n }],
  'an order placed twice': [order(1n), order(1n)],
  'a flip of an order that is open': [
    order(1n),
    { kind: 'flipped', id: 1n, amount: 1n, isBid: false, tick: 0, flipTick: 0 },
  ],
  'a pair under the key of other tokens': [{ kind: 'paired', key: pair, base, quote: otherQuote }],
}

test.each(Object.entries(contradictions))('%s stops the fold', (_, events) => {
  expect(() => reduceBook(placed(events), emptyBook(), 0)).toThrow(BookContradictionError)
})
