/**
 * The order book of a recorded chain, computed by viem over the raw receipts: every order as an
 * entry of one array, walked for each question. It shares no code with the product.
 */
import { encodePacked, type Hex, keccak256, parseAbi, parseEventLogs } from 'viem'
import type { RecordedBlock } from '../../chain/recordings.ts'

const exchange = '0xdec0000000000000000000000000000000000000'
const abi = parseAbi([
  'event PairCreated(bytes32 indexed key, address indexed base, address indexed quote)',
  'event OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)',
  'event OrderFilled(uint128 indexed orderId, address indexed maker, address indexed taker, uint128 amountFilled, bool partialFill)',
  'event OrderFlipped(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, int16 flipTick)',
  'event OrderCancelled(uint128 indexed orderId)',
])

export interface OracleOrder {
  readonly id: bigint
  readonly maker: string
  readonly base: string
  readonly quote: string
  readonly pair: string
  readonly isBid: boolean
  readonly tick: number
  readonly amount: bigint
  remaining: bigint
  open: boolean
}

export interface OracleFill {
  readonly block: number
  readonly timestamp: number
  readonly logIndex: number
  readonly txHash: string
  readonly txIndex: number
  readonly txLogIndex: number
  readonly orderId: bigint
  readonly maker: string
  readonly taker: string
  readonly pair: string
  readonly base: string
  readonly quote: string
  readonly isBid: boolean
  readonly tick: number
  readonly amount: bigint
  readonly quoteAmount: bigint
  readonly reserve0: bigint
  readonly reserve1: bigint
}

export interface BookOracle {
  readonly orders: readonly OracleOrder[]
  readonly pairs: ReadonlyMap<
    string,
    { readonly base: string; readonly quote: string; readonly block: number }
  >
  readonly fills: readonly OracleFill[]
  /** Orders that a filled flip order turned into: placed again by its maker, at the fill. */
  readonly flips: number
}

export const quoteOf = (amount: bigint, tick: number, up: boolean): bigint => {
  const product = amount * BigInt(100_000 + tick)
  return up && product % 100_000n > 0n ? product / 100_000n + 1n : product / 100_000n
}

/** Everything up to and including a block. */
export function bookOf(chain: readonly RecordedBlock[], lastBlock = chain.length - 1): BookOracle {
  const orders: OracleOrder[] = []
  const pairs = new Map<string, { base: string; quote: string; block: number }>()
  const fills: OracleFill[] = []
  let flips = 0
  for (const [block, { block: header, receipts }] of chain.slice(0, lastBlock + 1).entries()) {
    const timestamp = Number((header as { timestamp: string }).timestamp)
    // biome-ignore lint/suspicious/noExplicitAny: a node's JSON
    for (const receipt of receipts as any[]) {
      const own = receipt.logs.filter((log: { address: string }) => log.address === exchange)
      const first = Math.min(...receipt.logs.map((log: { logIndex: string }) => Number(log.logIndex)))
      for (const { eventName, args, logIndex } of parseEventLogs({ abi, logs: own })) {
        const index = Number(logIndex)
        if (eventName === 'PairCreated') {
          const { key, base, quote } = args
          pairs.set(key, { base: base.toLowerCase(), quote: quote.toLowerCase(), block })
        } else if (eventName === 'OrderPlaced') {
          const { orderId: id, maker, token, isBid, tick, amount } = args
          const last = fills.at(-1)
          const isSameTx = last?.txHash === receipt.transactionHash
          if (isSameTx && args.isFlipOrder && last?.maker === maker.toLowerCase()) flips += 1
          const base = token.toLowerCase()
          const quote = [...pairs.values()].findLast((pair) => pair.base === base)?.quote ?? ''
          const pair = keccak256(encodePacked(['address', 'address'], [base as Hex, quote as Hex]))
          orders.push({
            ...{ id, maker: maker.toLowerCase(), base, quote, pair, isBid, tick, amount },
            ...{ remaining: amount, open: true },
          })
        } else {
          const order = orders.find(({ id }) => id === args.orderId)
          if (!order) throw new Error(`order ${args.orderId} was never placed`)
          if (eventName === 'OrderCancelled') order.open = false
          if (eventName !== 'OrderFilled') continue
          order.remaining -= args.amountFilled
          if (order.remaining === 0n) order.open = false
          const { base, quote, pair, isBid, tick } = order
          const resting = orders.filter((other) => other.open && other.pair === pair)
          fills.push({
            ...{ block, timestamp, logIndex: index, txHash: receipt.transactionHash },
            ...{ txIndex: Number(receipt.transactionIndex), txLogIndex: index - first },
            ...{ orderId: order.id, maker: order.maker, taker: args.taker.toLowerCase() },
            ...{ pair, base, quote, isBid, tick, amount: args.amountFilled },
            quoteAmount: quoteOf(args.amountFilled, tick, !isBid),
            reserve0: sum(resting, (other) => (other.isBid ? 0n : other.remaining)),
            reserve1: sum(resting, (other) =>
              other.isBid ? quoteOf(other.remaining, other.tick, true) : 0n,
            ),
          })
        }
      }
    }
  }
  return { orders, pairs, fills, flips }
}

const sum = (orders: readonly OracleOrder[], of: (order: OracleOrder) => bigint): bigint =>
  orders.reduce((total, order) => total + of(order), 0n)
