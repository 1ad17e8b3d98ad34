/**
 * Which senders are recovered from their signatures: all of them where there is time, a share that
 * no node can foresee elsewhere.
 */

import type { Hash } from '#primitives.ts'
import type { Random } from '#runtime/runtime.ts'

/** Plain data, so that it can be handed to a thread. */
export interface SenderSample {
  /**
   * Two 32-bit numbers that the node does not know; with them the same transactions are chosen
   * again.
   */
  readonly key: readonly [number, number]
  /** One of so many transactions is chosen. */
  readonly oneIn: number
}

/**
 * The sample is to cost no more than 2 % of decoding: one recovery in 250 is 1.3 us of CPU for each
 * transaction, whose decoding takes 56 (canned chain) to 86 (recording). What signatures state is
 * compared besides, for 1.3 to 1.5 us. A node that lies about n senders is caught at once with a
 * chance of 1 - 0.996 ^ n: 63 % for 250, 98 % for a thousand; what it gets through is found by the
 * audit when it reads the block again.
 */
export const SENDERS_ONE_IN = 250

export const everySender: SenderSample = { key: [0, 0], oneIn: 1 }

/** A share of its own for every process: what slips through one does not through the next. */
export function drawSenderSample(random: Random, oneIn: number): SenderSample {
  return { key: [Math.floor(random() * WORDS), Math.floor(random() * WORDS)], oneIn }
}

/** Whether the sender of the transaction with this hash is recovered. */
export function isSampled({ key, oneIn }: SenderSample, hash: Hash): boolean {
  if (oneIn === 1) return true
  // Hashes are random but known to the node: what decides is mixed with both keys, each bit
  // depending on all others.
  let bits = Number.parseInt(hash.slice(-8), 16) ^ key[0]
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b) ^ key[1]
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return ((bits ^ (bits >>> 16)) >>> 0) * oneIn < WORDS
}

const WORDS = 2 ** 32
