/** An aggregator's assumptions about a feed of swaps, as rules over the events of a range of blocks. */
import { getAddress } from 'viem'

export interface FeedEvent {
  readonly block: { readonly blockNumber: number; readonly blockTimestamp: number }
  readonly eventType: string
  readonly txnId: string
  readonly txnIndex: number
  readonly eventIndex: number
  readonly maker: string
  readonly pairId: string
  readonly asset0In?: string
  readonly asset1In?: string
  readonly asset0Out?: string
  readonly asset1Out?: string
  readonly priceNative: string
  readonly reserves: { readonly asset0: string; readonly asset1: string }
}

export type Rule =
  | 'shape'
  | 'order'
  | 'unique'
  | 'range'
  | 'blocks'
  | 'transactions'
  | 'checksum'
  | 'oneInOneOut'
  | 'price'
  | 'amounts'
  | 'reserves'
  | 'movedByTrade'

export interface Problem {
  readonly rule: Rule
  readonly message: string
}

const decimals = 6
/** Units of a swap that rounding leaves with the exchange, at most. */
const LEFT_OVER_MAX = 2n
const decimalPattern = /^\d+(\.\d{1,6})?$/
const pricePattern = /^\d+(\.\d+)?$/
const hashPattern = /^0x[0-9a-f]{64}$/

/** Problems of events read for the blocks `from` to `to`. */
export function checkEvents(
  events: readonly FeedEvent[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly Problem[] {
  const problems: Problem[] = []
  for (const [index, event] of events.entries()) {
    const { block, txnIndex, eventIndex } = event
    const at = `block ${block.blockNumber}, transaction ${txnIndex}, event ${eventIndex}`
    const add = (rule: Rule, message: string) => problems.push({ rule, message: `${at}: ${message}` })
    checkAlone(event, add)
    if (block.blockNumber < from || block.blockNumber > to) add('range', `not within ${from} to ${to}`)
    const before = events[index - 1]
    if (before) checkAfter(before, event, add)
  }
  return problems
}

type Add = (rule: Rule, message: string) => void

const amountsOf = ({ asset0In, asset1In, asset0Out, asset1Out }: FeedEvent) => ({
  ...{ asset0In, asset1In, asset0Out, asset1Out },
})

function checkAlone(event: FeedEvent, add: Add): void {
  const { eventType, txnId, pairId, maker, priceNative, reserves } = event
  if (eventType !== 'swap' || !hashPattern.test(txnId) || !hashPattern.test(pairId))
    add('shape', 'not a swap of a pair in a transaction')
  if (checksumOf(maker) !== maker) add('checksum', `${maker} has another checksum`)
  const { asset0In, asset1In, asset0Out, asset1Out } = amountsOf(event)
  const given = [asset0In, asset1In, asset0Out, asset1Out].filter((amount) => amount !== undefined)
  const sells = asset0In !== undefined && asset1Out !== undefined
  const buys = asset1In !== undefined && asset0Out !== undefined
  if (given.length !== 2 || (!sells && !buys)) add('oneInOneOut', 'not one asset in and the other one out')
  if (!pricePattern.test(priceNative) || !/[1-9]/.test(priceNative))
    add('price', `${priceNative} is no price`)
  for (const amount of [...given, reserves.asset0, reserves.asset1])
    if (!decimalPattern.test(amount))
      add(given.includes(amount) ? 'amounts' : 'reserves', `${amount} is no amount`)
  if (
    (sells || buys) &&
    given.every((amount) => decimalPattern.test(amount)) &&
    pricePattern.test(priceNative)
  ) {
    const [base = '', quote = ''] = sells ? [asset0In, asset1Out] : [asset0Out, asset1In]
    if (!isPriced(units(base), units(quote), priceNative, sells))
      add('amounts', `${base} and ${quote} are not of price ${priceNative}`)
  }
}

function checksumOf(address: string): string | null {
  try {
    return getAddress(address.toLowerCase())
  } catch {
    return null
  }
}

/**
 * The taker gets what the price gives, rounded down, or less; and gives what it asks, rounded up, or
 * more: what rounding leaves over of a whole swap stays with the exchange.
 */
function isPriced(base: bigint, quote: bigint, price: string, sells: boolean): boolean {
  const [whole = '', fraction = ''] = price.split('.')
  const scale = 10n ** BigInt(fraction.length)
  const product = base * BigInt(whole + fraction)
  const leftOver = sells ? product / scale - quote : quote - (product + scale - 1n) / scale
  return leftOver >= 0n && leftOver <= LEFT_OVER_MAX
}

const placeOf = ({ block, txnIndex, eventIndex }: FeedEvent) => [block.blockNumber, txnIndex, eventIndex]

function checkAfter(before: FeedEvent, event: FeedEvent, add: Add): void {
  const [a, b] = [placeOf(before), placeOf(event)]
  const differs = a.findIndex((value, index) => value !== b[index])
  if (differs < 0) {
    add('unique', 'told twice')
    return
  }
  if ((a[differs] ?? 0) > (b[differs] ?? 0)) add('order', 'told after a later one')
  const isSameBlock = a[0] === b[0]
  const [earlier, later] = [before.block.blockTimestamp, event.block.blockTimestamp]
  if (isSameBlock ? earlier !== later : earlier > later) add('blocks', `time ${later} after ${earlier}`)
  const isSameTx = isSameBlock && a[1] === b[1]
  if (isSameTx !== (before.txnId === event.txnId)) add('transactions', 'its hash is of another place')
  // Nothing was logged between the two: no order came or went.
  if (isSameTx && b[2] === (a[2] ?? 0) + 1 && before.pairId === event.pairId) checkMoved(before, event, add)
}

/**
 * Reserves move by the trade: by what an ask gave, and by what a bid gave or a little more, where
 * escrow was rounded up and some was left over.
 */
function checkMoved(before: FeedEvent, event: FeedEvent, add: Add): void {
  if (
    ![before, event].every(
      ({ reserves }) => decimalPattern.test(reserves.asset0) && decimalPattern.test(reserves.asset1),
    )
  )
    return
  const moved = (asset: 'asset0' | 'asset1') => units(before.reserves[asset]) - units(event.reserves[asset])
  const [out0, out1] = [units(event.asset0Out ?? '0'), units(event.asset1Out ?? '0')]
  const rest = moved('asset1') - out1
  if (moved('asset0') !== out0 || rest < 0n || rest > (out1 > 0n ? 1n + LEFT_OVER_MAX : 0n))
    add('movedByTrade', 'reserves did not move by the trade')
}

const units = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}` || '0')
}
