/** The filter of eth_getLogs and eth_newFilter, read once, with its bounds. */
import { isRecord } from '#primitives.ts'
import { type Heights, numberOf } from './blocks.ts'
import { invalidParams, limitExceeded, RpcFailureError } from './failure.ts'

export interface LogFilter {
  /** Lowercase; empty for all. */
  readonly addresses: readonly string[]
  /** Lowercase values of each place; an empty list for any. */
  readonly topics: readonly (readonly string[])[]
}

/** The place of its logs. */
export type LogPlace =
  | { readonly by: 'hash'; readonly hash: string }
  | { readonly by: 'range'; readonly from: number; readonly to: number; readonly isNewest: boolean }

/** Addresses and topics of one filter together, as geth has it for addresses. */
const VALUES_MAX = 1_000
/** Blocks of a range in which every log is asked for. */
const RANGE_BLOCKS_MAX = 10_000

/** @throws RpcFailureError for what is no filter */
export function readLogFilter(value: unknown): LogFilter {
  if (!isRecord(value)) throw refused('the filter is not an object')
  const addresses = listOf(value['address']).map((text) => hexOf(text, 40, 'address'))
  const places = value['topics'] ?? []
  if (!Array.isArray(places) || places.length > 4) throw refused('`topics` is not a list of up to 4')
  const topics = places.map((place: unknown) => listOf(place).map((text) => hexOf(text, 64, 'topic')))
  if (addresses.length + topics.flat().length > VALUES_MAX)
    throw refused(`at most ${VALUES_MAX} addresses and topics`)
  return { addresses, topics }
}

/**
 * The kept part of a filter, in the form it is asked in: what was read of it, and nothing that its client
 * wrote beside that. @throws RpcFailureError for what is no filter
 */
export function keptLogFilter(value: unknown): object {
  const { addresses, topics } = readLogFilter(value)
  const places = Object.entries({ ...Object(value) })
    .filter(([name, place]) => placeNames.has(name) && place !== undefined && place !== null)
    .map(([name, place]) => [name, placeOf(name, place)])
  return { address: addresses, topics, ...Object.fromEntries(places) }
}

const placeNames = new Set(['blockHash', 'fromBlock', 'toBlock'])
const tags = new Set<unknown>(['latest', 'pending', 'earliest', 'safe', 'finalized'])

function placeOf(name: string, value: unknown): string {
  if (name === 'blockHash') return hexOf(value, 64, name)
  if (tags.has(value)) return String(value)
  const height = numberOf(value)
  if (height === null) throw refused(`\`${name}\` is no block`)
  return `0x${height.toString(16)}`
}

/** @throws RpcFailureError for a range that is none, or is too long for a filter that names nothing */
export async function readLogPlace(value: unknown, filter: LogFilter, heights: Heights): Promise<LogPlace> {
  const { blockHash, fromBlock, toBlock } = Object(value)
  if (blockHash !== undefined && blockHash !== null) {
    if (fromBlock !== undefined || toBlock !== undefined)
      throw refused('`blockHash` excludes `fromBlock` and `toBlock`')
    return { by: 'hash', hash: hexOf(blockHash, 64, 'blockHash') }
  }
  const from = await boundOf(fromBlock, 'fromBlock', heights)
  const to = await boundOf(toBlock, 'toBlock', heights)
  if (from.height > to.height) throw refused('the range ends before it begins')
  const isNamed = filter.addresses.length > 0 || (filter.topics[0]?.length ?? 0) > 0
  if (!isNamed && to.height - from.height >= RANGE_BLOCKS_MAX) throw tooLong(from.height)
  return { by: 'range', from: from.height, to: to.height, isNewest: to.isNewest }
}

function tooLong(from: number): RpcFailureError {
  const to = from + RANGE_BLOCKS_MAX - 1
  return tooMuch(
    from,
    to,
    RANGE_BLOCKS_MAX,
    `block range is limited to ${RANGE_BLOCKS_MAX} blocks where no address or first topic is named`,
  )
}

/** In the words by which clients cut a range: ethers, viem and The Graph look for them. */
export const tooMuch = (from: number, to: number, limit: number, problem: string): RpcFailureError =>
  new RpcFailureError(
    limitExceeded(`query exceeds limit: ${problem}; retry with the range ${from}-${to}`, {
      from: `0x${from.toString(16)}`,
      to: `0x${to.toString(16)}`,
      limit,
    }),
  )

async function boundOf(
  value: unknown,
  name: string,
  heights: Heights,
): Promise<{ height: number; isNewest: boolean }> {
  if (value === undefined || value === null || value === 'latest' || value === 'pending')
    return { height: await heights.head(), isNewest: true }
  if (value === 'earliest') return { height: 0, isNewest: false }
  if (value === 'safe' || value === 'finalized') {
    const height = await heights.tagged(value)
    if (height === null) throw refused(`no node knows the tag ${value}`)
    return { height, isNewest: false }
  }
  const height = numberOf(value)
  if (height === null) throw refused(`\`${name}\` is no block`)
  return { height, isNewest: false }
}

const refused = (problem: string) => new RpcFailureError(invalidParams(problem))

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]

function hexOf(value: unknown, digits: number, name: string): string {
  if (typeof value === 'string' && value.length === digits + 2 && /^0x[0-9a-f]*$/i.test(value))
    return value.toLowerCase()
  throw refused(`\`${name}\` is not 0x and ${digits} hex characters`)
}
