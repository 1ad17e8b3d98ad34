/** Questions to one node of a chain, and the reading of its answers. */
import type { Transport } from 'viem'
import { type Hash, hash } from '#primitives.ts'

/** Asks one node. Rejects where it does not answer. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

/** One for each node of a chain. */
export const askOf = (transport: Transport): Ask => {
  const { request } = transport({ retryCount: 0 })
  const asking: (asked: { method: string; params: readonly unknown[] }) => Promise<unknown> = request
  return (method, params) => asking({ method, params })
}

/** A quantity of a node's answer, of up to 256 bits. @throws TypeError where it is none */
export function quantityIn(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x0*[0-9a-f]{1,64}$/i.test(value))
    throw new TypeError('the node told no quantity')
  return BigInt(value)
}

/** A quantity that is a height or Unix seconds. @throws TypeError where it is none */
export function numberIn(value: unknown): number {
  const number = Number(quantityIn(value))
  if (!Number.isSafeInteger(number)) throw new TypeError('the node told no number')
  return number
}

/** @throws TypeError where it is no 32-byte hash */
export function hashIn(value: unknown): Hash {
  if (typeof value !== 'string') throw new TypeError('not a hash')
  return hash(value)
}
