/** GET /v1/exchange/pairs/{base}/ohlc. */

import { endpoint, notValid } from '#http/endpoint.ts'
import { ApiError } from '#http/errors.ts'
import { findReversedRange } from '#http/request/bounds.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import {
  type Names,
  pairTokensSchema,
  presentPairTokens,
  presentPrice,
  priceSchema,
} from '#present/exchange.ts'
import { type BucketRange, type Candle, type Candles, readCandles } from '#store/read/exchange/candles.ts'
import { tokenChainOf } from '../tokens/tokens.ts'
import { base, type ExchangeServices, errors, readNames } from './services.ts'

const intervals = { '1m': 60, '5m': 300, '15m': 900, '1h': 3_600, '4h': 14_400, '1d': 86_400 } as const
const windows = { '1h': 3_600, '24h': 86_400, '7d': 604_800, '30d': 2_592_000 } as const
type Interval = keyof typeof intervals
type Window = keyof typeof windows

const WINDOW_DEFAULT: Window = '24h'
/** Buckets of one answer. */
const BUCKETS_MAX = 500

const candleSchema = s.named('Candle', {
  id: s.text({ description: "The pair's key, the interval and the number of the bucket." }),
  timestamp: s.timestamp,
  open: priceSchema,
  high: priceSchema,
  low: priceSchema,
  close: priceSchema,
  fillCount: s.count,
  volume: s.object({ base: s.amount, quote: s.amount }, { description: 'Of all fills, each at its price.' }),
  final: s.boolean({ description: 'Whether a final block lies behind its end, so that it cannot change.' }),
})

interface ShownCandles extends Candles {
  readonly names: Names
  readonly interval: Interval
  readonly window: Window | undefined
}

interface RangeFilters {
  readonly interval: Interval
  readonly window?: Window | undefined
  readonly 'timestamp.from'?: number | undefined
  readonly 'timestamp.to'?: number | undefined
}

export const readCandlesEndpoint = endpoint({
  path: '/v1/exchange/pairs/{base}/ohlc',
  summary: 'Candles of a pair: open, high, low and close in quote per base, oldest first.',
  description:
    'Buckets begin at multiples of the interval and are whole; buckets without fills are left out, unless `fill=previous`. `window` ends at the newest block; instead of it `timestamp.from` and `timestamp.to` name the first and the last begin of a bucket. At most 500 buckets. `truncated` is always false.',
  params: { base },
  filters: {
    interval: p.withDefault(
      p.described(p.oneOf('1m', '5m', '15m', '1h', '4h', '1d'), 'Length of a bucket.'),
      '1h',
    ),
    window: p.described(p.oneOf('1h', '24h', '7d', '30d'), `Time looked back. Default ${WINDOW_DEFAULT}.`),
    'timestamp.from': p.described(p.timestamp, 'First begin of a bucket, inclusive.'),
    'timestamp.to': p.described(
      p.timestamp,
      'Last begin of a bucket, inclusive. Default and at most: the newest block.',
    ),
    fill: p.withDefault(
      p.described(p.oneOf('none', 'previous'), '`previous`: a bucket without fills has the close before it.'),
      'none',
    ),
  },
  include: ['tokens'],
  response: s.named('Candles', {
    base: pairTokensSchema.properties.base,
    quote: pairTokensSchema.properties.quote,
    interval: s.oneOf(['1m', '5m', '15m', '1h', '4h', '1d']),
    window: s.optional(
      s.oneOf(['1h', '24h', '7d', '30d'], { description: 'Absent where timestamps were given.' }),
    ),
    truncated: s.boolean(),
    data: s.array(candleSchema),
  }),
  errors: [...errors, 'pair_not_found', 'range_invalid'],
  check: (filters) => {
    const { window, 'timestamp.from': from, 'timestamp.to': to } = filters
    if (window !== undefined && (from !== undefined || to !== undefined))
      return notValid('window', 'not together with `timestamp`')
    return findReversedRange(filters)
  },
  read: async (call, services: ExchangeServices): Promise<ShownCandles> => {
    const { chainId, path, filters, signal, standing } = call
    const query = {
      intervalSeconds: intervals[filters.interval],
      bucketsTo: (newestSeconds: number) => bucketsOf(filters, newestSeconds),
      fillsGaps: filters.fill === 'previous',
    }
    const chain = tokenChainOf(services, chainId, standing)
    const found = await readCandles(chain, path.base, query, signal)
    if (!found) throw new ApiError('pair_not_found')
    const { interval } = filters
    return {
      ...found,
      interval,
      window: windowOf(filters),
      names: await readNames(services, call, [found.pair]),
    }
  },
  present: ({ pair, candles, interval, window, names }: ShownCandles) => {
    const { base, quote } = presentPairTokens(pair, names)
    return {
      ...{ base, quote, interval, truncated: false },
      ...(window && { window }),
      data: candles.map((candle) => presentCandle(candle, pair.key, interval)),
    }
  },
  cache: 'feed',
})

function windowOf({ window, 'timestamp.from': from, 'timestamp.to': to }: RangeFilters): Window | undefined {
  return from === undefined && to === undefined ? (window ?? WINDOW_DEFAULT) : undefined
}

/** @throws ApiError query_invalid for more than `BUCKETS_MAX` */
function bucketsOf(filters: RangeFilters, newestSeconds: number): BucketRange {
  const { interval, 'timestamp.from': fromMs, 'timestamp.to': toMs } = filters
  const seconds = intervals[interval]
  // A candle later than the newest block has no price yet.
  const last = Math.floor(Math.min(toMs === undefined ? newestSeconds : toMs / 1000, newestSeconds) / seconds)
  const back = windows[windowOf(filters) ?? WINDOW_DEFAULT] / seconds
  const first = fromMs === undefined ? last - Math.ceil(back) + 1 : Math.ceil(fromMs / 1000 / seconds)
  const buckets = last - first + 1
  if (buckets <= BUCKETS_MAX) return { first, last }
  const name = fromMs === undefined ? 'window' : 'timestamp.from'
  const message = `${buckets} buckets, of ${BUCKETS_MAX} at most; take a longer interval or ask for less`
  throw new ApiError('query_invalid', `${message}.`, { details: [{ path: ['query', name], message }] })
}

function presentCandle(candle: Candle, key: string, interval: Interval): s.Static<typeof candleSchema> {
  return {
    id: `${key}-${interval}-${candle.startSeconds / intervals[interval]}`,
    timestamp: s.isoSeconds(candle.startSeconds),
    open: presentPrice(candle.openTick),
    high: presentPrice(candle.highTick),
    low: presentPrice(candle.lowTick),
    close: presentPrice(candle.closeTick),
    fillCount: candle.fillCount,
    volume: { base: `${candle.baseVolume}`, quote: `${candle.quoteVolume}` },
    final: candle.isFinal,
  }
}
