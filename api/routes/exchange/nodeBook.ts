/** Depth and open orders from the node, while ours are not ready. */
import { parseAbi } from 'viem/utils'
import { type Address, address, type Hash, hash, isRecord } from '#primitives.ts'
import { pairKey } from '#store/follow/exchange/bookStates.ts'
import { CoverageIncompleteError, ProjectionIncompleteError } from '#store/follow/readFollowed.ts'
import type { Depth, LevelRow } from '#store/read/exchange/depth.ts'
import type { OpenOrder } from '#store/read/exchange/orders.ts'
import { stablecoinDexAddress, zeroAddress } from '#transform/addresses.ts'
import type { NodeReader } from '../../services.ts'

const [books, getOrder, getTickLevel, quoteToken] = parseAbi([
  'function books(bytes32 pairKey) view returns ((address base, address quote, int16 bestBidTick, int16 bestAskTick))',
  'function getOrder(uint128 orderId) view returns ((uint128 orderId, address maker, bytes32 bookKey, bool isBid, int16 tick, uint128 amount, uint128 remaining, uint128 prev, uint128 next, bool isFlip, int16 flipTick))',
  'function getTickLevel(address base, int16 tick, bool isBid) view returns (uint128 head, uint128 tail, uint128 totalLiquidity)',
  'function quoteToken() view returns (address)',
])
const to = stablecoinDexAddress

/** Ticks of the exchange: multiples of ten. */
const TICK_MAX = 2_000
const TICK_SPACING = 10

/** The order book is still being computed, or cannot be on this installation. */
export const isBehind = (error: unknown): boolean =>
  error instanceof ProjectionIncompleteError || error instanceof CoverageIncompleteError

/** Null when it is not open. @throws a MillraceError with remedy `retry` when no node answers */
export async function readNodeOrder(
  node: NodeReader,
  id: bigint,
  party: string,
  signal: AbortSignal,
): Promise<OpenOrder | null> {
  const [order] = await node.ask([{ to, ask: getOrder, args: [id] }], party, signal)
  if (!isRecord(order) || order['maker'] === zeroAddress || order['remaining'] === 0n) return null
  const key = hash(String(order['bookKey']))
  const [book] = await node.ask([{ to, ask: books, args: [key] }], party, signal)
  if (!isRecord(book)) return null
  return {
    id,
    maker: address(String(order['maker'])),
    pair: { key, base: address(String(book['base'])), quote: address(String(book['quote'])) },
    isBid: order['isBid'] === true,
    tick: Number(order['tick']),
    amount: BigInt(String(order['amount'])),
    remaining: BigInt(String(order['remaining'])),
    isFlip: order['isFlip'] === true,
    flipTick: Number(order['flipTick']),
  }
}

/**
 * Null where the token has no pair. @throws a MillraceError with remedy `retry` when no node
 * answers
 */
export async function readNodeDepth(
  node: NodeReader,
  base: Address,
  levels: number,
  party: string,
  signal: AbortSignal,
): Promise<Depth | null> {
  // Both sides after the same block: a book that never was would cross itself.
  const at = await node.newest(signal)
  const [quote] = await node.ask([{ to: base, ask: quoteToken }], party, signal, at)
  if (typeof quote !== 'string') return null
  const key = pairKey(base, address(quote))
  const [book] = await node.ask([{ to, ask: books, args: [key] }], party, signal, at)
  if (!isRecord(book) || book['base'] === zeroAddress) return null
  const read = (isBid: boolean) => readSide({ node, party, signal, at }, base, isBid)
  const [bids, asks] = [await read(true), await read(false)]
  return {
    pair: { key, base, quote: address(quote) },
    bids: bids.reverse().slice(0, levels),
    asks: asks.slice(0, levels),
  }
}

interface Asking {
  readonly node: NodeReader
  readonly party: string
  readonly signal: AbortSignal
  readonly at: Hash
}

/** Every tick there can be, ascending. */
async function readSide(
  { node, party, signal, at }: Asking,
  base: Address,
  isBid: boolean,
): Promise<LevelRow[]> {
  const ticks = Array.from(
    { length: (2 * TICK_MAX) / TICK_SPACING + 1 },
    (_, nth) => nth * TICK_SPACING - TICK_MAX,
  )
  const answers = await node.ask(
    ticks.map((tick) => ({ to, ask: getTickLevel, args: [base, tick, isBid] })),
    party,
    signal,
    at,
  )
  return ticks.flatMap((tick, index) => {
    const size = sizeIn(answers[index])
    return size > 0n ? [{ tick, size }] : []
  })
}

const sizeIn = (level: unknown): bigint =>
  Array.isArray(level) && typeof level[2] === 'bigint' ? level[2] : 0n
