/**
 * Takers' payments and receipts if they differ from those of makers. The exchange keeps the whole of an
 * exact input and pays no more than an exact output, while each fill is at its price, rounded; so the last
 * fill of a leg may leave a unit or two with the exchange. The truth is the taker's transfer beside the
 * swap: before its fills for an exact input, after them for an exact output.
 */
import { stablecoinDexAddress } from '#transform/addresses.ts'
import type { Queryable } from '../../ledger/lane.ts'
import { relationOf, toBytes, toHex } from '../../sql.ts'
import type { BookEvent, Fill } from './book.ts'
import { legOf, type Swap } from './swaps.ts'

/** Units that rounding leaves with the exchange, at most: more is a transfer we read wrongly. */
const LEFT_OVER_MAX = 2n
/** Logs looked at on either side of a swap: its own transfers are next to it. */
const LOGS_BESIDE = 8

/** The taker's movement beside a swap; null if it took all from, or left all in, the exchange. */
export interface Moved {
  /** Given before the first fill. */
  readonly before: bigint | null
  /** Given after the last fill. */
  readonly after: bigint | null
  /** Got after the last fill. */
  readonly got: bigint | null
}

/** For each fill whose taker paid or got another amount in the quote token than its maker: that amount. */
export function takerQuotes(
  swaps: readonly Swap[],
  movedOf: (swap: Swap) => Moved,
): ReadonlyMap<Fill, bigint> {
  const found = new Map<Fill, bigint>()
  for (const swap of swaps) {
    const moved = movedOf(swap)
    const isExactIn = isForward(swap) ?? isGivenFirst(moved)
    if (isExactIn === true) keepInput(found, swap, moved.before)
    if (isExactIn === false) keepOutput(found, swap, moved.got)
  }
  return found
}

/** Keeps the part of a leg's input that is not turned. @param given null: nobody tells the input */
function keepInput(found: Map<Fill, bigint>, swap: Swap, given: bigint | null): void {
  let input = given
  for (const leg of swap) {
    if (input !== null) keep(found, leg, 'ask', input - sumOf(leg, inOf))
    input = sumOf(leg, outOf)
  }
}

/** Keeps the part of a leg's output that was not asked for. */
function keepOutput(found: Map<Fill, bigint>, swap: Swap, got: bigint | null): void {
  let output = got
  for (const leg of swap.toReversed()) {
    if (output !== null) keep(found, leg, 'bid', sumOf(leg, outOf) - output)
    output = sumOf(leg, inOf)
  }
}

/** Null where the taker gave nothing but what the exchange held of its. */
function isGivenFirst({ before, after }: Moved): boolean | null {
  if (before !== null) return true
  return after === null ? null : false
}

/** An exact input fills the first leg first, an exact output the last one; null of one leg. */
function isForward(swap: Swap): boolean | null {
  const [first, second] = swap.map((leg) => leg[0]?.place.logIndex ?? 0)
  return first === undefined || second === undefined ? null : first < second
}

/** The last fill of the leg bears what is left over; only one side of the book has any. */
function keep(found: Map<Fill, bigint>, leg: readonly Fill[], side: 'ask' | 'bid', leftOver: bigint): void {
  const last = leg.at(-1)
  if (!last || last.isBid !== (side === 'bid') || leftOver <= 0n || leftOver > LEFT_OVER_MAX) return
  found.set(last, side === 'ask' ? last.quoteAmount + leftOver : last.quoteAmount - leftOver)
}

const inOf = ({ isBid, amount, quoteAmount }: Fill): bigint => (isBid ? amount : quoteAmount)
const outOf = ({ isBid, amount, quoteAmount }: Fill): bigint => (isBid ? quoteAmount : amount)
const sumOf = (leg: readonly Fill[], of: (fill: Fill) => bigint): bigint =>
  leg.reduce((sum, fill) => sum + of(fill), 0n)

interface MovedRow {
  readonly nth: number
  readonly log_idx: number
  readonly token: Buffer
  readonly is_given: boolean
  readonly amount: string
}

/** Transfers between takers and the exchange beside their swaps. `events` are all of the exchange. */
export async function readMoved(
  client: Queryable,
  schema: string,
  swaps: readonly Swap[],
  events: readonly BookEvent[],
): Promise<(swap: Swap) => Moved> {
  const places = placesOf(swaps, events)
  const { rows } = await client.query<MovedRow>(
    `SELECT nth::int - 1 AS nth, moved.log_idx, moved.token, moved."from" = asked.taker AS is_given, moved.amount
     FROM unnest($1::bigint[], $2::int[], $3::bytea[], $4::int[], $5::int[])
       WITH ORDINALITY AS asked (block_num, tx_idx, taker, from_log, to_log, nth)
     JOIN ${relationOf(schema, 'token_transfers')} AS moved ON moved.block_num = asked.block_num
       AND moved.log_idx BETWEEN asked.from_log AND asked.to_log AND moved.tx_idx = asked.tx_idx
     WHERE (moved."from" = asked.taker AND moved."to" = $6) OR (moved."to" = asked.taker AND moved."from" = $6)
     ORDER BY nth, moved.log_idx`,
    [
      places.map(({ block }) => block),
      places.map(({ tx }) => tx),
      places.map(({ taker }) => toBytes(taker)),
      places.map(({ from }) => from),
      places.map(({ to }) => to),
      toBytes(stablecoinDexAddress),
    ],
  )
  const rowsOf = Map.groupBy(rows, ({ nth }) => nth)
  const moved = new Map(
    places.map((place, nth) => [place.swap, movedBeside(place, rowsOf.get(nth) ?? [])] as const),
  )
  return (swap) => moved.get(swap) ?? nothingMoved
}

const nothingMoved: Moved = { before: null, after: null, got: null }

/** The transfer next to the swap decides: those of another swap of the transaction lie beyond it. */
function movedBeside({ source, destination, first, last }: SwapPlace, rows: readonly MovedRow[]): Moved {
  const amountOf = (row: MovedRow | undefined, isGiven: boolean, token: string) =>
    row && row.is_given === isGiven && toHex(row.token) === token ? BigInt(row.amount) : null
  const [next, second] = rows.filter((row) => row.log_idx > last)
  const after = amountOf(next, true, source)
  return {
    before: amountOf(
      rows.findLast((row) => row.log_idx < first),
      true,
      source,
    ),
    after,
    got: amountOf(after === null ? next : second, false, destination),
  }
}

interface SwapPlace {
  readonly swap: Swap
  readonly block: number
  readonly tx: number
  readonly taker: string
  readonly source: string
  readonly destination: string
  /** Logs of the swap's first and last event: flips follow the fill that caused them. */
  readonly first: number
  readonly last: number
  /** Logs beside it in which its transfers are: up to the next event of the exchange. */
  readonly from: number
  readonly to: number
}

function placesOf(swaps: readonly Swap[], events: readonly BookEvent[]): readonly SwapPlace[] {
  const logs = new Map(
    [...Map.groupBy(events, ({ place }) => place.blockNumber)].map(([block, own]) => [
      block,
      own.map(({ place }) => place.logIndex),
    ]),
  )
  return swaps.flatMap((swap) => {
    const fills = swap.flat()
    const [start, end] = [swap[0]?.[0], swap.at(-1)?.[0]]
    if (!start || !end) return []
    const { place, taker } = start
    const own = logs.get(place.blockNumber) ?? []
    const first = Math.min(...fills.map((fill) => fill.place.logIndex))
    let last = Math.max(...fills.map((fill) => fill.place.logIndex))
    while (own.includes(last + 1)) last += 1
    const before = own.findLast((log) => log < first) ?? -1
    const next = own.find((log) => log > last) ?? Number.POSITIVE_INFINITY
    return [
      {
        ...{ swap, block: place.blockNumber, tx: place.txIndex, taker, first, last },
        ...{ source: legOf(start).source, destination: legOf(end).destination },
        from: Math.max(first - LOGS_BESIDE, before + 1),
        to: Math.min(last + LOGS_BESIDE, next - 1),
      },
    ]
  })
}
