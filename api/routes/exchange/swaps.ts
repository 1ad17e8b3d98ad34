/** GET /v1/exchange/swaps. */
import { decodeFunctionData, parseAbi } from 'viem/utils'
import { listEndpoint } from '#http/listEndpoint.ts'
import { bounds, readBounds } from '#http/request/bounds.ts'
import { dataPageRules } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { type Names, presentPrice, presentRate, priceSchema, rateSchema } from '#present/exchange.ts'
import { presentTokenAmount, tokenAmountSchema } from '#present/token.ts'
import type { Hex } from '#primitives.ts'
import { chainLegs, legOf } from '#store/follow/exchange/swaps.ts'
import type { FillRow } from '#store/read/exchange/fills.ts'
import { listSwaps, type SwapCall, type SwapRow } from '#store/read/exchange/swaps.ts'
import { stablecoinDexAddress } from '#transform/addresses.ts'
import { tokenChainOf } from '../tokens/tokens.ts'
import { type ExchangeServices, errors, readNames } from './services.ts'

const swapFields = {
  sourceToken: tokenAmountSchema,
  destinationToken: tokenAmountSchema,
}

const modeSchema = s.oneOf(['exactSource', 'exactDestination'])

const swapSchema = s.named('Swap', {
  id: s.text({ description: 'Transaction hash and log index of the first fill.' }),
  taker: s.address,
  mode: s.nullable(modeSchema),
  route: s.array(s.address, { description: 'Tokens from the one given to the one got.' }),
  rate: rateSchema,
  ...swapFields,
  fills: s.array(
    s.named('SwapFill', {
      orderId: s.amount,
      maker: s.address,
      partialFill: s.boolean(),
      price: priceSchema,
      ...swapFields,
      logIndex: s.count,
    }),
  ),
  filledAt: s.timestamp,
  blockNumber: s.count,
  logIndex: s.count,
  transactionHash: s.hash,
})

interface ShownSwap {
  readonly row: SwapRow
  readonly names: Names
}

export const listSwapsEndpoint = listEndpoint({
  path: '/v1/exchange/swaps',
  summary: 'Swaps: what a taker gave and got, with the fills that made it.',
  description:
    'One row for each swap; several of one transaction stand apart. A swap’s amounts are what its taker gave and got; those of its fills are at the price of each, and what rounding leaves with the exchange, a unit or two, is in the swap’s alone. What a taker pays from a balance kept in the exchange moves no token: such a swap has the sums of its fills. `mode` is what the calldata says, null where it does not.',
  filters: {
    maker: p.described(p.address, 'Maker of any order that was filled.'),
    taker: p.described(p.address, 'Account that swapped.'),
    participant: p.described(p.address, 'The taker, or a maker.'),
    transactionHash: p.transactionHash,
    ...bounds,
  },
  include: ['tokens'],
  item: swapSchema,
  pages: { ...dataPageRules, modes: 'cursorOnly' },
  errors,
  list: async (call, services: ExchangeServices) => {
    const { chainId, filters, page, standing } = call
    const { maker, taker, participant, transactionHash: txHash } = filters
    const asked = { maker, taker, participant, txHash }
    const found = await listSwaps(tokenChainOf(services, chainId, standing), asked, readBounds(filters), page)
    const pairs = found.rows.flatMap(({ fills }) => fills.map(({ pair }) => pair))
    const names = await readNames(services, { ...call, signal: page.signal }, pairs)
    return { ...found, rows: found.rows.map((row): ShownSwap => ({ row, names })) }
  },
  present: presentSwap,
})

function presentSwap({ row, names }: ShownSwap): s.Static<typeof swapSchema> {
  const [first] = row.fills
  if (!first) throw new TypeError('a swap has fills')
  const legs = Map.groupBy(row.fills.map(movementOf), ({ source, destination }) => `${source}/${destination}`)
  const [route = []] = chainLegs([...legs.values()].flatMap(([leg]) => (leg ? [leg] : [])))
  const [source = '', second = ''] = route
  const [beforeLast = '', destination = ''] = route.slice(-2)
  const given = sum(legs.get(`${source}/${second}`), ({ takerGave }) => takerGave)
  const got = sum(legs.get(`${beforeLast}/${destination}`), ({ takerGot }) => takerGot)
  return {
    id: `${first.txHash}-${row.logIndex}`,
    taker: first.taker,
    mode: modeOf(row.calls, source, destination),
    route,
    rate: presentRate(got, given),
    sourceToken: presentTokenAmount(source, `${given}`, names.get(source)),
    destinationToken: presentTokenAmount(destination, `${got}`, names.get(destination)),
    fills: row.fills.map((fill) => presentFill(fill, names)),
    filledAt: s.isoSeconds(first.timestampSeconds),
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    transactionHash: first.txHash,
  }
}

/** A fill's movement at its price: which token became which, and what its taker gave and got. */
function movementOf({ pair, isBid, amount, quoteAmount, takerQuoteAmount }: FillRow) {
  const [given, got] = isBid ? [amount, quoteAmount] : [quoteAmount, amount]
  const [takerGave, takerGot] = isBid ? [amount, takerQuoteAmount] : [takerQuoteAmount, amount]
  return { ...legOf({ ...pair, isBid }), given, got, takerGave, takerGot }
}

const sum = <Item>(items: readonly Item[] = [], of: (item: Item) => bigint): bigint =>
  items.reduce((total, item) => total + of(item), 0n)

function presentFill(fill: FillRow, names: Names) {
  const { source, destination, given, got } = movementOf(fill)
  return {
    orderId: `${fill.orderId}`,
    maker: fill.maker,
    partialFill: fill.isPartial,
    price: presentPrice(fill.tick),
    sourceToken: presentTokenAmount(source, `${given}`, names.get(source)),
    destinationToken: presentTokenAmount(destination, `${got}`, names.get(destination)),
    logIndex: fill.logIndex,
  }
}

const abi = parseAbi([
  'function swapExactAmountIn(address tokenIn, address tokenOut, uint128 amountIn, uint128 minAmountOut)',
  'function swapExactAmountOut(address tokenIn, address tokenOut, uint128 amountOut, uint128 maxAmountIn)',
])

/** Null where no call, or calls of both kinds, swap the one token for the other. */
function modeOf(
  calls: readonly SwapCall[],
  source: string,
  destination: string,
): s.Static<typeof modeSchema> | null {
  const modes = new Set(
    calls.flatMap(({ to, input }) => {
      const decoded = to === stablecoinDexAddress ? decodeSwap(input as Hex) : null
      if (!decoded) return []
      const [tokenIn, tokenOut] = decoded.args.map((arg) => `${arg}`.toLowerCase())
      if (tokenIn !== source || tokenOut !== destination) return []
      return decoded.functionName === 'swapExactAmountIn'
        ? ('exactSource' as const)
        : ('exactDestination' as const)
    }),
  )
  const [mode = null, ...others] = modes
  return others.length === 0 ? mode : null
}

function decodeSwap(data: Hex) {
  try {
    return decodeFunctionData({ abi, data })
  } catch {
    return null
  }
}
