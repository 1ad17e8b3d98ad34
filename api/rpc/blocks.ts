/**
 * The block a call means: what its endpoint must have, and a number in place of a tag where two
 * nodes would understand the tag differently.
 */
import { sliceItems, sliceText } from '#ingest/read/json/jsonSlices.ts'
import type { RelayWish } from '#ingest/relay/Relay.ts'
import { rpcQuantity } from '#ingest/rpc/client/parse.ts'
import { isRecord } from '#primitives.ts'

/** Heights as the pool sees them, for the calls of one request. */
export interface Heights {
  /** The newest block; the same for all calls of a batch. */
  head(): Promise<number>
  /** Null where no node knows the tag. */
  tagged(tag: 'safe' | 'finalized'): Promise<number | null>
  /** True where tags of the newest block become its number: in a batch. */
  readonly isPinned: boolean
}

/** A call ready to be asked. */
export interface PlacedCall {
  readonly params: string
  readonly wish: RelayWish
  /** The height it names, once it names one; null for the newest, a hash, or none. */
  readonly height: number | null
}

/** Means the newest block, whatever a node answers of it. */
export const newest: RelayWish = { height: -1, newest: true, asksAll: false }

/** For what no block decides: whoever is well may answer. */
export const anywhere: RelayWish = { ...newest, newest: false }

/** For what is named by its hash: a node with another branch does not know it. */
export const byHash: RelayWish = { ...newest, asksAll: true }

export const atHeight = (height: number): RelayWish => ({ height, newest: false, asksAll: false })

/** Reads parameter `index` of a call as a block, and writes it anew where it is a tag. */
export async function placeCall(
  params: string,
  index: number,
  heights: Heights,
  pins: boolean,
): Promise<PlacedCall> {
  const items = sliceItems(params) ?? []
  const slice = items[index]
  const value: unknown = slice ? JSON.parse(sliceText(params, slice)) : undefined
  const height = await heightOf(value, heights, pins || heights.isPinned)
  if (height === null) return { params, wish: newest, height: null }
  const texts = items.map((item) => sliceText(params, item))
  // A parameter before a block that is left out cannot be made up.
  if (typeof height === 'object' && index > texts.length) return { params, wish: newest, height: null }
  if (typeof height === 'number') return { params, wish: atHeight(height), height }
  texts[index] = `"${rpcQuantity(height.pinned)}"`
  const wish = { ...atHeight(height.pinned), newest: height.isNewest }
  return { params: `[${texts.join(',')}]`, wish, height: height.pinned }
}

/** A height in place of a tag. */
interface Pinned {
  readonly pinned: number
  readonly isNewest: boolean
}

/** Null for a hash, for what only its node understands, and for a tag that stays one. */
async function heightOf(value: unknown, heights: Heights, pins: boolean): Promise<number | Pinned | null> {
  if (value === undefined || value === null || value === 'latest')
    return pins ? { pinned: await heights.head(), isNewest: true } : null
  if (value === 'earliest') return 0
  if (value === 'safe' || value === 'finalized') {
    const pinned = await heights.tagged(value)
    return pinned === null ? null : { pinned, isNewest: false }
  }
  if (isRecord(value)) return 'blockNumber' in value ? heightOf(value['blockNumber'], heights, pins) : null
  return numberOf(value)
}

/** A height as JSON-RPC writes it; null for what is none. */
export function numberOf(value: unknown): number | null {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(value)) return null
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : null
}
