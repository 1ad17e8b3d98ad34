/** Reads of candles: a pair's fills by time, priced in quote per base. */
import type { Address } from '#primitives.ts'
import { relationOf, toBytes } from '../../sql.ts'
import {
  type BookMoment,
  type ExchangeChain,
  findPairOf,
  type PairTokens,
  readBook,
} from './exchangeChain.ts'
import { fillsOf } from './fills.ts'

export interface Candle {
  readonly startSeconds: number
  readonly openTick: number
  readonly highTick: number
  readonly lowTick: number
  readonly closeTick: number
  readonly fillCount: number
  readonly baseVolume: bigint
  readonly quoteVolume: bigint
  /** No fill can come to it any more: a block after its end is final. */
  readonly isFinal: boolean
}

export interface Candles {
  readonly pair: PairTokens
  readonly candles: readonly Candle[]
}

/** Buckets by their numbers: each begins at its number times the interval. */
export interface BucketRange {
  readonly first: number
  readonly last: number
}

export interface CandlesQuery {
  readonly intervalSeconds: number
  /** The buckets wanted, from the time of the newest block. @throws where they are too many */
  bucketsTo(newestSeconds: number): BucketRange
  /** Buckets without fills have the price of the last fill before them. */
  readonly fillsGaps: boolean
}

/** Null where the base token has no pair. */
export async function readCandles(
  chain: ExchangeChain,
  base: Address,
  query: CandlesQuery,
  signal: AbortSignal,
): Promise<Candles | null> {
  if (chain.kind !== 'tempo') return null
  const { finalized } = chain.state
  return readBook(chain, signal, async (moment) => {
    const pair = await findPairOf(moment, base, moment.tip)
    if (!pair) return null
    // The book may be behind what is final.
    const [newest, final] = await readTimes(moment, [moment.tip, Math.min(finalized, moment.tip)])
    const buckets = query.bucketsTo(newest ?? 0)
    const found = await readBuckets(moment, pair.key, query.intervalSeconds, buckets)
    const candles = query.fillsGaps
      ? filled(found, buckets, query.intervalSeconds, await readCloseBefore(moment, pair.key, buckets, query))
      : found
    return { pair, candles: candles.map((candle) => withFinality(candle, query, final)) }
  })
}

type OpenCandle = Omit<Candle, 'isFinal'>

const withFinality = (
  candle: OpenCandle,
  { intervalSeconds }: CandlesQuery,
  finalSeconds: number | null | undefined,
): Candle => ({
  ...candle,
  isFinal: typeof finalSeconds === 'number' && finalSeconds >= candle.startSeconds + intervalSeconds,
})

interface BucketRow {
  readonly bucket: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly fills: number
  readonly base: string
  readonly quote: string
}

async function readBuckets(
  { client, schema }: BookMoment,
  pair: string,
  intervalSeconds: number,
  { first, last }: BucketRange,
): Promise<readonly OpenCandle[]> {
  const found = await client.query<BucketRow>(
    `SELECT bucket, (array_agg(tick ORDER BY block_num, log_idx))[1] AS open, max(tick) AS high, min(tick) AS low,
       (array_agg(tick ORDER BY block_num DESC, log_idx DESC))[1] AS close, count(*) AS fills,
       sum(amount) AS base, sum(quote_amount) AS quote
     FROM (SELECT *, floor(extract(epoch FROM block_timestamp) / $2)::bigint AS bucket FROM ${fillsOf(schema)}
           WHERE pair = $1 AND block_num >= ${firstBlockSql(schema, '$3')} AND block_timestamp < to_timestamp($4)) AS fills
     GROUP BY bucket ORDER BY bucket`,
    [toBytes(pair), intervalSeconds, first * intervalSeconds, (last + 1) * intervalSeconds],
  )
  return found.rows.map((row) => ({
    startSeconds: row.bucket * intervalSeconds,
    openTick: row.open,
    highTick: row.high,
    lowTick: row.low,
    closeTick: row.close,
    fillCount: row.fills,
    baseVolume: BigInt(row.base),
    quoteVolume: BigInt(row.quote),
  }))
}

/**
 * The first block at or after a moment: blocks are in the order of their times. A planner asks its
 * index once.
 */
const firstBlockSql = (schema: string, seconds: string): string =>
  `coalesce((SELECT num FROM ${relationOf(schema, 'blocks')} WHERE timestamp >= to_timestamp(${seconds})
     ORDER BY timestamp, num LIMIT 1), 9223372036854775807)`

/** Tick of the last fill before the buckets; null before the first fill. */
async function readCloseBefore(
  { client, schema }: BookMoment,
  pair: string,
  { first }: BucketRange,
  { intervalSeconds }: CandlesQuery,
): Promise<number | null> {
  const found = await client.query<{ tick: number }>(
    `SELECT tick FROM ${fillsOf(schema)} WHERE pair = $1 AND block_num < ${firstBlockSql(schema, '$2')}
     ORDER BY block_num DESC, log_idx DESC LIMIT 1`,
    [toBytes(pair), first * intervalSeconds],
  )
  return found.rows[0]?.tick ?? null
}

/** Every bucket from the first one that has a price. */
function filled(
  found: readonly OpenCandle[],
  { first, last }: BucketRange,
  intervalSeconds: number,
  closeBefore: number | null,
): readonly OpenCandle[] {
  const byStart = new Map(found.map((candle) => [candle.startSeconds, candle]))
  const candles: OpenCandle[] = []
  let close = closeBefore
  for (let bucket = first; bucket <= last; bucket++) {
    const startSeconds = bucket * intervalSeconds
    const candle = byStart.get(startSeconds) ?? (close === null ? null : emptyCandle(startSeconds, close))
    if (candle === null) continue
    candles.push(candle)
    close = candle.closeTick
  }
  return candles
}

const emptyCandle = (startSeconds: number, tick: number): OpenCandle => ({
  ...{ startSeconds, openTick: tick, highTick: tick, lowTick: tick, closeTick: tick },
  ...{ fillCount: 0, baseVolume: 0n, quoteVolume: 0n },
})

/** Times of blocks, in the order asked; null where one is not held. */
async function readTimes(
  { client, schema }: BookMoment,
  blocks: readonly number[],
): Promise<readonly (number | null)[]> {
  const found = await client.query<{ num: number; timestamp: Date }>(
    `SELECT num, timestamp FROM ${relationOf(schema, 'blocks')} WHERE num = ANY ($1)`,
    [blocks],
  )
  const times = new Map(found.rows.map(({ num, timestamp }) => [num, timestamp.getTime() / 1000]))
  return blocks.map((block) => times.get(block) ?? null)
}
