/**
 * The order book's fold against the least that could stand in its place: a reducer that keeps what
 * each order has left in an array, and nothing of levels, pairs, reserves, fills and histories. In
 * memory, and from the logs in Postgres to the rows in Postgres.
 */
import pg from 'pg'
import { type Address, address, hash } from '#primitives.ts'
import { type BookEvent, reduceBook } from '#store/follow/exchange/book.ts'
import { bookEvents, decodeBook, type LoggedEvent } from '#store/follow/exchange/bookEvents.ts'
import { bookFollower } from '#store/follow/exchange/bookFollower.ts'
import type { PlacedLog } from '#store/follow/fold.ts'
import { toBytes, toHex } from '#store/sql.ts'
import { stablecoinDexAddress } from '#transform/addresses.ts'
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

interface ArrayOrder {
  readonly id: bigint
  left: bigint
}

function reduceOrders(events: readonly (BookEvent | LoggedEvent)[]): ArrayOrder[] {
  const orders: ArrayOrder[] = []
  const places = new Map<bigint, number>()
  for (const event of events) {
    if (event.kind === 'placed') places.set(event.id, orders.push({ id: event.id, left: event.amount }) - 1)
    const order = 'id' in event ? orders[places.get(event.id) ?? -1] : undefined
    if (!order) continue
    if (event.kind === 'filled') order.left -= event.amount
    if (event.kind === 'flipped') order.left = event.amount
    if (event.kind === 'cancelled') order.left = 0n
  }
  return orders
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
      against: `${perSecond(EVENTS, median(bare))} events/s of an array that keeps only what orders have left`,
    },
  ]
}

/** The book of a chain that Postgres holds, folded again in transactions that are rolled back. */
export async function bookFoldLine(databaseUrl: string, schema: string, lastBlock: number): Promise<Line> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    let events = 0
    const ours: number[] = []
    const bare: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      ours.push((await measure(() => foldBook(client, schema, lastBlock))).wallSeconds)
      const rival = async () => {
        const read = await readBookEvents(client, schema)
        events = read.length
        reduceOrders(read)
      }
      bare.push((await measure(rival)).wallSeconds)
    }
    const [own, other] = [median(ours), median(bare)]
    return {
      subject: `exchange: fold, ${events} events from Postgres into Postgres`,
      value: `${perSecond(events, own)} events/s`,
      against: `${perSecond(events, other)} events/s of an array that reads and decodes the same logs and writes nothing`,
    }
  } finally {
    await client.end()
  }
}

/** As the driver does, in the same pieces; the genesis pairs begin with their first orders. */
async function foldBook(client: pg.Client, schema: string, lastBlock: number): Promise<void> {
  const follower = bookFollower({ callContracts: async (calls) => calls.map(() => null) })
  const transaction = { client: Object.assign(client, { release: () => {} }), schema, finalized: lastBlock }
  await client.query('BEGIN')
  await follower.clear(transaction)
  for (let from = 0; from <= lastBlock; )
    from = (await follower.apply(transaction, { from, to: lastBlock })) + 1
  await client.query('ROLLBACK')
}

interface LogRow extends Readonly<Record<'address' | 'topic0' | 'data', Buffer>> {
  readonly block_num: number
  readonly log_idx: number
  readonly tx_idx: number
  readonly tx_hash: Buffer
  readonly block_timestamp: Date
  readonly topic1: Buffer | null
  readonly topic2: Buffer | null
  readonly topic3: Buffer | null
}

async function readBookEvents(client: pg.Client, schema: string): Promise<LoggedEvent[]> {
  const { rows } = await client.query<LogRow>(
    `SELECT * FROM ${schema}.logs WHERE address = $1 AND topic0 = ANY ($2) ORDER BY block_num, log_idx`,
    [toBytes(stablecoinDexAddress), bookEvents.map(({ topic0 }) => toBytes(topic0))],
  )
  return decodeBook(rows.map(placedLog))
}

function placedLog(row: LogRow): PlacedLog {
  const emitter = address(toHex(row.address))
  const topics = [row.topic0, row.topic1, row.topic2, row.topic3].flatMap((topic) =>
    topic ? [hash(toHex(topic))] : [],
  )
  return {
    log: { address: emitter, topics, data: toHex(row.data) },
    place: {
      ...{ blockNumber: row.block_num, logIndex: row.log_idx, txIndex: row.tx_idx, emitter },
      ...{ timestampSeconds: row.block_timestamp.getTime() / 1000, txHash: hash(toHex(row.tx_hash)) },
    },
  }
}
