/**
 * The analytics tables, computed from a node's raw answers with viem and rules written
 * anew here.
 */
import { decodeEventLog, type Hex, parseAbi } from 'viem'
import type { RpcObject } from '../../api/support/oracle.ts'
import type { RecordedBlock } from '../../chain/recordings.ts'

/** A row by column name, values as the API gives them. */
export type AnalyticsRow = Readonly<Record<string, string | number | boolean | null>>

const zero = `0x${'0'.repeat(40)}`
const exchange = '0xdec0000000000000000000000000000000000000'
const guard = '0xb10c000000000000000000000000000000000000'

const abi = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 amount)',
  'event Approval(address indexed owner, address indexed spender, uint256 amount)',
  'event PairCreated(bytes32 indexed key, address indexed base, address indexed quote)',
  'event OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)',
  'event OrderFilled(uint128 indexed orderId, address indexed maker, address indexed taker, uint128 amountFilled, bool partialFill)',
  'event OrderFlipped(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, int16 flipTick)',
  'event OrderCancelled(uint128 indexed orderId)',
])

interface Event {
  readonly name: string
  readonly args: RpcObject
  readonly emitter: string
  /** Columns every row of a log has. */
  readonly place: AnalyticsRow
  readonly block: number
  readonly seconds: number
}

/** Tables by name, rows in chain order. */
export function reduceAnalytics(chain: readonly RecordedBlock[]): Readonly<Record<string, AnalyticsRow[]>> {
  const events = chain.flatMap(eventsOf)
  const transfers = events.filter(({ name }) => name === 'Transfer')
  const deltas = transfers.flatMap(sidesOf)
  const belowZero = belowZeroOf(deltas)
  const balances = [...balancesOf(deltas)].map(([key, balance]) => {
    const [token = '', holder = ''] = key.split(' ')
    return { token, holder, balance: `${balance}`, approximate: belowZero.has(key) }
  })
  const holders = balances.filter(({ holder }) => holder !== guard)
  return {
    token_transfers: transfers.map(({ place, emitter, args }) => ({
      ...place,
      token: emitter,
      from: args['from'],
      to: args['to'],
      amount: `${args['amount']}`,
    })),
    token_approvals: events
      .filter(({ name }) => name === 'Approval')
      .map(({ place, emitter, args }) => ({ ...place, token: emitter, ...textOf(args) })),
    token_holder_deltas: deltas.map(deltaRow),
    address_holder_deltas: deltas.map(deltaRow),
    address_transfers: deltas.map(({ place, token, holder, other, leg, amount }) => ({
      ...place,
      address: holder,
      direction: leg === 1 ? 'in' : 'out',
      counterparty: other,
      token,
      amount: `${amount}`,
    })),
    token_balances: balances,
    address_balances: balances,
    token_holder_counts: [...Map.groupBy(holders, ({ token }) => token)].map(([token, rows]) => ({
      token,
      holder_count: `${rows.length}`,
    })),
    token_supply: suppliesOf(transfers),
    token_metadata: [...Map.groupBy(transfers, ({ emitter }) => emitter)].map(metadataOf),
    token_transfer_stats: [...Map.groupBy(transfers, dayAndToken)].map(statsOf),
    ...ofTransactions(chain),
    ...ofExchange(events, balances),
  }
}

function eventsOf({ block, receipts }: RecordedBlock): Event[] {
  const { timestamp } = block as RpcObject
  return (receipts as RpcObject[]).flatMap(({ logs }) =>
    (logs as RpcObject[]).flatMap((log) => {
      const decoded = decode(log)
      if (!decoded) return []
      const seconds = Number(timestamp)
      const number = Number(log['blockNumber'])
      const place = {
        block_num: `${number}`,
        block_timestamp: isoOf(seconds),
        log_idx: Number(log['logIndex']),
        tx_idx: Number(log['transactionIndex']),
        tx_hash: log['transactionHash'],
      }
      return [{ ...decoded, emitter: log['address'], place, block: number, seconds }]
    }),
  )
}

const exchangeEvents: ReadonlySet<string> = new Set([
  'PairCreated',
  'OrderPlaced',
  'OrderFilled',
  'OrderFlipped',
  'OrderCancelled',
])

function decode(log: RpcObject): { name: string; args: RpcObject } | null {
  try {
    const topics = log['topics'] as [Hex, ...Hex[]]
    const { eventName, args } = decodeEventLog({ abi, topics, data: log['data'], strict: true })
    if (exchangeEvents.has(eventName)) return log['address'] === exchange ? named(eventName, args) : null
    const isClean = topics.slice(1).every((topic) => topic.startsWith(`0x${'0'.repeat(24)}`))
    return isClean && log['data'].length === 66 ? named(eventName, args) : null
  } catch {
    return null
  }
}

/** viem writes addresses with their checksum. */
const named = (name: string, args: object) => ({
  name,
  args: Object.fromEntries(
    Object.entries(args).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.toLowerCase() : value,
    ]),
  ),
})

const textOf = (args: RpcObject): AnalyticsRow =>
  Object.fromEntries(
    Object.entries(args).map(([key, value]) => [key, typeof value === 'bigint' ? `${value}` : value]),
  )

const isoOf = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

interface Side {
  readonly place: AnalyticsRow
  readonly token: string
  readonly holder: string
  readonly other: string
  readonly leg: 1 | -1
  readonly amount: bigint
}

function sidesOf({ place, emitter: token, args }: Event): Side[] {
  const { from, to, amount } = args
  const sides: Side[] = [
    { place, token, holder: from, other: to, leg: -1, amount },
    { place, token, holder: to, other: from, leg: 1, amount },
  ]
  return sides.filter(({ holder }) => holder !== zero)
}

const deltaRow = ({ place, token, holder, leg, amount }: Side): AnalyticsRow => ({
  ...place,
  token,
  holder,
  leg,
  balance_delta: `${amount}`,
})

function balancesOf(sides: readonly Side[]): ReadonlyMap<string, bigint> {
  const balances = new Map<string, bigint>()
  for (const { token, holder, leg, amount } of sides) {
    const key = `${token} ${holder}`
    balances.set(key, (balances.get(key) ?? 0n) + BigInt(leg) * amount)
  }
  return new Map([...balances].filter(([, balance]) => balance > 0n))
}

/** Accounts whose sides summed up to less than nothing after some log. */
function belowZeroOf(sides: readonly Side[]): ReadonlySet<string> {
  const found = new Set<string>()
  const sums = new Map<string, bigint>()
  for (const [index, { token, holder, leg, amount, place }] of sides.entries()) {
    const key = `${token} ${holder}`
    const sum = (sums.get(key) ?? 0n) + BigInt(leg) * amount
    sums.set(key, sum)
    // The other side of a transfer to oneself is of the same log.
    const next = sides[index + 1]
    const isWhole = next?.holder !== holder || next.place !== place
    if (sum < 0n && isWhole) found.add(key)
  }
  return found
}

function suppliesOf(transfers: readonly Event[]): AnalyticsRow[] {
  const supplies = new Map<string, bigint>()
  for (const { emitter, args } of transfers) {
    const amount: bigint = args['amount']
    const change = (args['from'] === zero ? amount : 0n) - (args['to'] === zero ? amount : 0n)
    supplies.set(emitter, (supplies.get(emitter) ?? 0n) + change)
  }
  return [...supplies]
    .filter(([, supply]) => supply > 0n)
    .map(([token, supply]) => ({ token, supply: `${supply}` }))
}

const metadataOf = ([token, transfers]: [string, Event[]]): AnalyticsRow => ({
  token,
  first_seen_block: `${transfers.at(0)?.block}`,
  last_seen_block: `${transfers.at(-1)?.block}`,
  first_seen_timestamp: isoOf(transfers.at(0)?.seconds ?? 0),
  last_seen_timestamp: isoOf(transfers.at(-1)?.seconds ?? 0),
  transfer_count: `${transfers.length}`,
})

const dayAndToken = ({ seconds, emitter }: Event): string => `${isoOf(seconds).slice(0, 10)} ${emitter}`

function statsOf([key, transfers]: [string, Event[]]): AnalyticsRow {
  const [day = '', token = ''] = key.split(' ')
  const distinct = (side: 'from' | 'to') => `${new Set(transfers.map(({ args }) => args[side])).size}`
  return {
    day,
    token,
    transfer_count: `${transfers.length}`,
    volume: `${transfers.reduce((sum, { args }) => sum + BigInt(args['amount']), 0n)}`,
    unique_senders: distinct('from'),
    unique_recipients: distinct('to'),
  }
}

function ofTransactions(chain: readonly RecordedBlock[]) {
  const receipts = chain.flatMap(({ block, receipts }) =>
    (receipts as RpcObject[]).map((receipt, index) => ({
      receipt,
      tx: (block as RpcObject)['transactions'][index] as RpcObject,
      place: {
        block_num: `${Number((block as RpcObject)['number'])}`,
        block_timestamp: isoOf(Number((block as RpcObject)['timestamp'])),
        tx_idx: index,
        tx_hash: receipt['transactionHash'],
      },
    })),
  )
  return {
    address_txs: receipts.flatMap(({ tx, receipt, place }) => {
      const recipient = tx['to'] ?? receipt['to'] ?? null
      const sent = { ...place, address: tx['from'], direction: 'from', counterparty: recipient }
      const got = { ...place, address: recipient, direction: 'to', counterparty: tx['from'] }
      return recipient === null ? [sent] : [sent, got]
    }),
    contract_creations: receipts
      .filter(({ receipt }) => receipt['contractAddress'] && receipt['status'] === '0x1')
      .map(({ receipt, place }) => ({
        ...place,
        creator: receipt['from'],
        contract: receipt['contractAddress'],
      })),
  }
}

function ofExchange(events: readonly Event[], balances: readonly AnalyticsRow[]) {
  const of = (wanted: string) => events.filter(({ name }) => name === wanted)
  const row = ({ place, emitter, args }: Event): AnalyticsRow => ({
    ...place,
    address: emitter,
    ...numbered(textOf(args)),
  })
  const pairs = of('PairCreated').map(row)
  const { fills, open } = ordersOf(events)
  return {
    dex_pairs: pairs,
    dex_orders: of('OrderPlaced').map(row),
    dex_order_events: events
      .filter(({ name }) => name === 'OrderPlaced' || name === 'OrderFlipped')
      .map((event) => ({ ...row(event), eventType: event.name })),
    dex_fills: of('OrderFilled').map(row),
    dex_fills_enriched: fills.map(({ event, order }) => enriched(row(event), event.args, order)),
    dex_ohlc_1m: candlesOf(fills),
    dex_pair_liquidity: pairs.map(({ key, base, quote, block_num, log_idx, block_timestamp, tx_hash }) => {
      const held = balances.find(({ token, holder }) => token === base && holder === exchange)
      const asks = open.filter((order) => !order.isBid && order.base === base && order.quote === quote)
      return {
        ...{ key, base, quote, block_num, log_idx, block_timestamp, tx_hash },
        liquidity: `${asks.reduce((sum, { left }) => sum + left, 0n)}`,
        balance: held?.['balance'] ?? '0',
      }
    }) as AnalyticsRow[],
  }
}

interface Order {
  readonly base: string
  readonly quote: string
  readonly isBid: boolean
  readonly tick: number
  readonly left: bigint
}

interface PricedFill {
  readonly event: Event
  /** As it stood before the fill. */
  readonly order: Order
}

/** In chain order, so that an order is the one placed before its fill. */
function ordersOf(events: readonly Event[]) {
  const quotes = new Map<string, string>()
  const orders = new Map<bigint, Order>()
  const fills: PricedFill[] = []
  for (const event of events) {
    const { name, args } = event
    const id = args['orderId']
    if (name === 'PairCreated') quotes.set(args['base'], args['quote'])
    if (name === 'OrderCancelled') orders.delete(id)
    if (name === 'OrderPlaced') {
      const { token: base, isBid, tick, amount: left } = args
      orders.set(id, { base, quote: quotes.get(base) ?? '', isBid, tick, left })
    }
    const order = name === 'OrderFilled' ? orders.get(id) : undefined
    if (!order) continue
    fills.push({ event, order })
    orders.set(id, { ...order, left: order.left - args['amountFilled'] })
  }
  return { fills, open: [...orders.values()] }
}

const quoteAmountOf = (amount: bigint, { tick, isBid }: Order): bigint =>
  (amount * BigInt(100_000 + tick) + (isBid ? 0n : 99_999n)) / 100_000n

function enriched(row: AnalyticsRow, args: RpcObject, order: Order): AnalyticsRow {
  const { base, quote, isBid, tick } = order
  const amount: bigint = args['amountFilled']
  const given = { token: base, amount: `${amount}` }
  const got = { token: quote, amount: `${quoteAmountOf(amount, order)}` }
  const [source, destination] = isBid ? [given, got] : [got, given]
  return {
    ...row,
    ...{
      token: base,
      isBid: Number(isBid),
      tick,
      at_peg: Number(tick === 0),
      price: (100_000 + tick) / 100_000,
    },
    ...{ quote_amount: got.amount, quote_token: quote },
    ...{ source_token: source.token, source_amount: source.amount },
    ...{ destination_token: destination.token, destination_amount: destination.amount },
  }
}

/** Flags are 0 and 1 in these tables. */
const numbered = (row: AnalyticsRow): AnalyticsRow =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, typeof value === 'boolean' ? Number(value) : value]),
  )

interface Candle {
  readonly rates: number[]
  base: bigint
  quote: bigint
}

function candlesOf(fills: readonly PricedFill[]): AnalyticsRow[] {
  const candles = new Map<string, Candle>()
  for (const { event, order } of fills) {
    const { seconds, args } = event
    const key = `${isoOf(seconds - (seconds % 60))} ${order.base} ${order.quote}`
    const candle = candles.get(key) ?? { rates: [], base: 0n, quote: 0n }
    candles.set(key, candle)
    candle.rates.push((100_000 + order.tick) / 100_000)
    candle.base += args['amountFilled']
    candle.quote += quoteAmountOf(args['amountFilled'], order)
  }
  return [...candles].map(([key, { rates, base, quote }]) => {
    const [bucket = '', token = '', quote_token = ''] = key.split(' ')
    return {
      ...{
        bucket,
        token,
        quote_token,
        open: rates.at(0) ?? 0,
        high: Math.max(...rates),
        low: Math.min(...rates),
      },
      ...{ close: rates.at(-1) ?? 0, base_volume: `${base}`, quote_volume: `${quote}` },
      fill_count: `${rates.length}`,
    }
  })
}
