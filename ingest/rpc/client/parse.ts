/**
 * Small answers of a node, checked: what is not exactly a quantity, a hash or a header is refused.
 */

import { type BlockRef, hash } from '#primitives.ts'
import type { RpcClient } from './client.ts'

/** A quantity as JSON-RPC writes it: no leading zero, not empty, and safe as a number. */
const quantityPattern = /^0x(0|[1-9a-f][0-9a-f]{0,12})$/

/** @throws RpcError malformed */
export function parseQuantity(value: unknown, client: RpcClient): number {
  if (typeof value !== 'string' || !quantityPattern.test(value))
    throw client.error('malformed', `not a quantity: ${JSON.stringify(value)}`)
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw client.error('malformed', `a quantity past 2^53: ${value}`)
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
  const { timestamp } = Object(value)
  return typeof timestamp === 'string' && quantityPattern.test(timestamp) ? Number(timestamp) : null
}

export const quantity = (value: number): string => `0x${value.toString(16)}`
