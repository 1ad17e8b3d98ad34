/** RLP as the offline checks read it, by viem. */
import { fromRlp, type Hex } from 'viem'

export type DecodedItem = string | readonly DecodedItem[]

/** Places in Ethereum's header. */
export const PARENT_HASH = 0
export const TRANSACTIONS_ROOT = 4
export const RECEIPTS_ROOT = 5
export const NUMBER = 8
/** Tempo's header has Ethereum's as one of its items. */
const INNER_HEADER = 3

/** @param text lowercase digits @throws TypeError or viem's error where it is no RLP */
export const decoded = (text: string): DecodedItem => fromRlp(asHex(text))

/** The items of Ethereum's header, from the bytes of a header of either chain. @throws as `decoded` */
export function headerItems(text: string): readonly DecodedItem[] {
  const items = listOf(decoded(text))
  const inner = items[INNER_HEADER]
  return Array.isArray(inner) ? inner : items
}

/** @throws TypeError for digits of another spelling */
export function asHex(text: string): Hex {
  if (!/^0x(?:[0-9a-f]{2})*$/.test(text)) throw new TypeError('not lowercase hex')
  return `0x${text.slice(2)}`
}

export function listOf(item: DecodedItem | undefined): readonly DecodedItem[] {
  if (!Array.isArray(item)) throw new TypeError('not a list')
  return item
}

export function byteStringOf(item: DecodedItem | undefined): string {
  if (typeof item !== 'string') throw new TypeError('not a byte string')
  return item
}
