/** Logs of the exchange, its tokens and its pairs, written by hand for `writtenChain`. */
import {
  type AbiEvent,
  encodeAbiParameters,
  encodeEventTopics,
  encodePacked,
  getAddress,
  type Hex,
  keccak256,
  parseAbiItem,
  toEventSelector,
} from 'viem'
import type { WrittenLog } from './writtenChain.ts'

export const exchange = '0xdec0000000000000000000000000000000000000'
const factory = '0x20fc000000000000000000000000000000000000'
export const genesisToken = (n: number): Hex => `0x20c000000000000000000000000000000000000${n}`
export const pathUsd = genesisToken(0)
export const maker: Hex = `0x${'a'.repeat(40)}`
export const taker: Hex = `0x${'c'.repeat(40)}`
export const keyOf = (base: Hex, quote: Hex) => keccak256(encodePacked(['address', 'address'], [base, quote]))

export const events = {
  tokenCreated:
    'event TokenCreated(address indexed token, string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt)',
  quoteTokenUpdate: 'event QuoteTokenUpdate(address indexed updater, address indexed newQuoteToken)',
  pairCreated: 'event PairCreated(bytes32 indexed key, address indexed base, address indexed quote)',
  placed:
    'event OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)',
  filled:
    'event OrderFilled(uint128 indexed orderId, address indexed maker, address indexed taker, uint128 amountFilled, bool partialFill)',
  flipped:
    'event OrderFlipped(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, int16 flipTick)',
  flipFailed: 'event FlipFailed(uint128 indexed orderId, address indexed maker, bytes4 reason)',
  cancelled: 'event OrderCancelled(uint128 indexed orderId)',
  transfer: 'event Transfer(address indexed from, address indexed to, uint256 amount)',
} as const

export function logOf(address: Hex, text: string, args: Readonly<Record<string, unknown>>): WrittenLog {
  const event: AbiEvent = parseAbiItem(text as 'event E(uint256)')
  const { inputs } = event
  const plain = inputs.filter(({ indexed }) => !indexed)
  return {
    address,
    topics: inputs.some(({ indexed }) => indexed)
      ? (encodeEventTopics({ abi: [event], args: args as never }) as Hex[])
      : [toEventSelector(event)],
    data: encodeAbiParameters(
      plain,
      plain.map(({ name = '' }) => args[name]),
    ),
  }
}
/** A token that the factory makes. */
export const token = (address: Hex, name: string, symbol: string, quoteToken: Hex): WrittenLog =>
  logOf(factory, events.tokenCreated, {
    ...{ token: address, name, symbol, currency: 'USD', quoteToken },
    ...{ admin: maker, salt: `0x${'00'.repeat(32)}` },
  })
export const place = (
  orderId: bigint,
  token: Hex,
  amount: bigint,
  isBid: boolean,
  tick: number,
  flip?: number,
) =>
  logOf(exchange, events.placed, {
    ...{ orderId, maker, token, amount, isBid, tick, isFlipOrder: flip !== undefined, flipTick: flip ?? 0 },
  })
export const fill = (orderId: bigint, amountFilled: bigint, partialFill: boolean) =>
  logOf(exchange, events.filled, { orderId, maker, taker, amountFilled, partialFill })
export const pair = (one: Hex, quote: Hex) =>
  logOf(exchange, events.pairCreated, { key: keyOf(one, quote), base: one, quote })
export const sent = (token: Hex) => logOf(token, events.transfer, { from: taker, to: exchange, amount: 1n })

/** A node's answers on a base token with one open bid, which every level says to have 700 of. */
export const nodeBook = (
  base: Hex,
  order: {
    readonly orderId: bigint
    readonly tick: number
    readonly amount: bigint
    readonly remaining: bigint
  },
) => ({
  quoteToken: getAddress(pathUsd),
  books: { base: getAddress(base), quote: getAddress(pathUsd), bestBidTick: 10, bestAskTick: 20 },
  getTickLevel: [1n, 1n, 700n],
  getOrder: {
    ...{ maker: getAddress(maker), bookKey: keyOf(base, pathUsd), isBid: true, isFlip: false, flipTick: 0 },
    ...order,
  },
})
