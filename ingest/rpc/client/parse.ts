/**
 * Small answers of a node, checked: what is no quantity, hash or header in any spelling is refused.
 */

import { type BlockRef, hash, shorten } from '#primitives.ts'
import { spelledQuantity } from '../../read/spelling.ts'
import type { RpcClient } from './client.ts'

/** No quantity has more than 256 bits. */
const QUANTITY_CHARACTERS_MAX = 2 + 64

/** @throws RpcError malformed */
export function parseQuantity(value: unknown, client: RpcClient): number {
  const text = spelledQuantity(value)
  if (text === null || text.length > QUANTITY_CHARACTERS_MAX)
    throw client.error('malformed', `not a quantity: ${shorten(String(JSON.stringify(value)))}`)
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw client.error('malformed', `a quantity past 2^53: ${text}`)
  return number
}

/**
 * Number, hash and parent hash of a header; null when the node has no such block. @throws RpcError
 * malformed
 */
export function parseBlockRef(value: unknown, client: RpcClient): BlockRef | null {
  if (value === null) return null
  const fields: Record<string, unknown> = typeof value === 'object' ? { ...value } : {}
  const number = parseQuantity(fields['number'], client)
  try {
    return { number, hash: hash(String(fields['hash'])), parentHash: hash(String(fields['parentHash'])) }
  } catch (error) {
    throw client.error('malformed', `the header of block ${number} has no hashes`, { cause: error })
  }
}

/**
 * When a header says its block was made, in seconds; null when it does not say so as a node would.
 */
export function timestampOf(value: unknown): number | null {
  const number = Number(spelledQuantity(Object(value).timestamp) ?? Number.NaN)
  return Number.isSafeInteger(number) ? number : null
}

export const rpcQuantity = (value: number): string => `0x${value.toString(16)}`
