/**
 * GET /feed/{chainId}/latest-block and /feed/{chainId}/events. The feed has no place of its own:
 * its last block is the lower of finality and what the order book holds, read in the snapshot of
 * the rows, so that a range once told never changes. What cannot be told is an error that names it,
 * since an aggregator takes a short list for a whole one.
 */
import { formatUnits, getAddress } from 'viem/utils'
import { endpoint, notValid } from '#http/endpoint.ts'
import { rangeInvalid } from '#http/request/bounds.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { type FeedFill, type FeedRange, readFeedFills, readFeedMark } from '#store/read/exchange/feed.ts'
import type { ExchangeServices } from '../exchange/services.ts'
import { tokenChainOf } from '../tokens/tokens.ts'
import { checksummed, scaled } from './assets.ts'

const blockSchema = s.object({ blockNumber: s.count, blockTimestamp: s.count })

export const readLatestFeedBlockEndpoint = endpoint({
  path: '/feed/{chainId}/latest-block',
  summary: 'The newest block that events are told up to.',
  description: 'It is final, and all events up to it are known.',
  chain: 'path',
  response: s.object({ block: blockSchema }),
  errors: ['projection_incomplete', 'coverage_incomplete'],
  read: ({ chainId, signal }, services: ExchangeServices) =>
    readFeedMark(tokenChainOf(services, chainId), signal),
  present: ({ number, timestampSeconds }) => ({
    block: { blockNumber: number, blockTimestamp: timestampSeconds },
  }),
  cache: 'page',
})

const eventSchema = s.named('FeedEvent', {
  block: blockSchema,
  eventType: s.literal('swap'),
  txnId: s.hash,
  txnIndex: s.count,
  eventIndex: s.count,
  maker: checksummed,
  pairId: s.hash,
  asset0In: s.optional(scaled),
  asset1In: s.optional(scaled),
  asset0Out: s.optional(scaled),
  asset1Out: s.optional(scaled),
  priceNative: scaled,
  reserves: s.object({ asset0: scaled, asset1: scaled }),
})

/** Blocks from the first to the last of one answer. */
const SPAN_MAX = 10_000
const SPAN_DEFAULT = 1_000

interface RangeFilters {
  readonly fromBlock?: number | undefined
  readonly toBlock?: number | undefined
}

export const listFeedEventsEndpoint = endpoint({
  path: '/feed/{chainId}/events',
  summary: 'Swaps of a range of final blocks, for aggregators: one event for each fill.',
  description:
    'Both bounds are inclusive, at most 10,000 blocks apart. A range once told never changes. `maker` is the account that swapped, and amounts are what it gave and got; `priceNative` is the price of the order, from which rounding takes the last fill of a swap by two units at most. `reserves` are what the open orders of the pair hold after the fill. A range above the latest block is a 400 that names it, never a short list.',
  filters: {
    fromBlock: p.described(p.blockNumber, 'First block. Default: 1,000 before the last one.'),
    toBlock: p.described(p.blockNumber, 'Last block. Default: the latest block.'),
  },
  chain: 'path',
  response: s.object({ events: s.array(eventSchema) }),
  errors: ['range_invalid', 'projection_incomplete', 'coverage_incomplete'],
  read: async ({ chainId, filters, signal }, services: ExchangeServices) => {
    const chain = tokenChainOf(services, chainId)
    const known = wholeRange(filters)
    const fills = await readFeedFills(chain, known, (mark) => feedRange(filters, mark), signal)
    return { fills, isWhole: known !== null }
  },
  present: ({ fills }) => ({ events: fills.map(presentEvent) }),
  cache: ({ isWhole }) => (isWhole ? 'settled' : 'page'),
})

/** Given in full; null where the mark decides. @throws ApiError like feedRange */
function wholeRange({ fromBlock, toBlock }: RangeFilters): FeedRange | null {
  if (fromBlock === undefined || toBlock === undefined) return null
  return feedRange({ fromBlock, toBlock }, toBlock)
}

/**
 * @throws ApiError query_invalid for blocks that are not told yet or too many, range_invalid for a
 * reversed range
 */
export function feedRange({ fromBlock, toBlock }: RangeFilters, mark: number): FeedRange {
  const to = toBlock ?? mark
  if (to > mark) throw notValid('toBlock', `the latest block is ${mark}`)
  const from = fromBlock ?? Math.max(0, to - SPAN_DEFAULT)
  if (from > to) {
    const message =
      toBlock === undefined
        ? `\`fromBlock\` lies after the latest block, ${mark}`
        : '`fromBlock` lies after `toBlock`'
    throw rangeInvalid('fromBlock', message)
  }
  if (to - from > SPAN_MAX) throw notValid('fromBlock', `at most ${SPAN_MAX} blocks before \`toBlock\``)
  return { from, to }
}

/** Every TIP-20 token has them, and nothing else is traded. */
const DECIMALS = 6
/** Ticks are hundred-thousandths. */
const PRICE_DECIMALS = 5
const PRICE_SCALE = 100_000n

function presentEvent(fill: FeedFill): s.Static<typeof eventSchema> {
  const [base, quote] = [scale(fill.amount), scale(fill.takerQuoteAmount)]
  return {
    block: { blockNumber: fill.blockNumber, blockTimestamp: fill.timestampSeconds },
    eventType: 'swap',
    txnId: fill.txHash,
    txnIndex: fill.txIndex,
    eventIndex: fill.txLogIndex,
    maker: getAddress(fill.taker),
    pairId: fill.pairKey,
    ...(fill.isBid ? { asset0In: base, asset1Out: quote } : { asset1In: quote, asset0Out: base }),
    priceNative: formatUnits(PRICE_SCALE + BigInt(fill.tick), PRICE_DECIMALS),
    reserves: { asset0: scale(fill.reserve0), asset1: scale(fill.reserve1) },
  }
}

const scale = (amount: bigint): string => formatUnits(amount, DECIMALS)
