/**
 * The order book's reducer against the least that could stand in its place: one pass that keeps
 * what each order has left, and nothing of levels, pairs, reserves, fills and histories.
 */
import { type Address, address, hash } from '#primitives.ts'
import { type BookEvent, reduceBook } from '#store/follow/exchange/book.ts'
import { type Line, measure, median, perSecond } from '../harness.ts'

const EVENTS = 50_000
const ROUNDS = 5
/** Every so manieth event is a cancel, and two of three others a fill. */
const CANCEL_EVERY = 10
const AMOUNT = 1_000_000n

const account = (n: number): Address => address(`0x${n.toString(16).padStart(40, '0')}`)
const txHash = hash(`0x${'ab'.repeat(32)}`)

/** Orders at forty prices of eight pairs; the oldest open one is filled in thirds, or cancelled. */
function makeEvents(): BookEvent[] {
  const events: BookEvent[] = []
  const open: { id: bigint; left: bigint }[] = []
  for (let n = 0; n < EVENTS; n++) {
    const place = {
      ...{ blockNumber: Math.floor(n / 20), logIndex: n % 20, timestampSeconds: n, txHash, txIndex: 0 },
      emitter: account(1),
    }
    const [oldest] = open
    if (n % CANCEL_EVERY === 0 && oldest) {
      open.shift()
      events.push({ kind: 'cancelled', place, id: oldest.id })
    } else if (n % 3 > 0 && oldest) {
      const amount = oldest.left > AMOUNT / 3n ? AMOUNT / 3n : oldest.left
      oldest.left -= amount
      if (oldest.left === 0n) open.shift()
      const isPartial = oldest.left > 0n
      events.push({
        kind: 'filled',
        place,
        id: oldest.id,
        maker: account(2),
        taker: account(3),
        amount,
        isPartial,
      })
    } else {
      open.push({ id: BigInt(n), left: AMOUNT })
      events.push({
        ...{ kind: 'placed', place, id: BigInt(n), maker: account(2), amount: AMOUNT },
        ...{ base: account(10 + (n % 8)), quote: account(9), isBid: n % 2 === 0 },
        ...{ tick: ((n % 40) - 20) * 10, isFlip: false, flipTick: 0 },
      })
    }
  }
  return events
}

function reduceOrders(events: readonly BookEvent[]): Map<bigint, bigint> {
  const left = new Map<bigint, bigint>()
  for (const event of events) {
    if (event.kind === 'placed') left.set(event.id, event.amount)
    if (event.kind === 'filled') left.set(event.id, (left.get(event.id) ?? 0n) - event.amount)
    if (event.kind === 'cancelled') left.delete(event.id)
  }
  return left
}

export async function foldLines(): Promise<Line[]> {
  const events = makeEvents()
  const ours: number[] = []
  const bare: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const states = { orders: new Map(), levels: new Map(), pairs: new Map() }
    ours.push((await measure(() => void reduceBook(events, states, 0))).wallSeconds)
    bare.push((await measure(() => void reduceOrders(events))).wallSeconds)
  }
  return [
    {
      subject: 'exchange: reducer, in memory',
      value: `${perSecond(EVENTS, median(ours))} events/s`,
      against: `${perSecond(EVENTS, median(bare))} events/s of one pass that keeps only what orders have left`,
    },
  ]
}
