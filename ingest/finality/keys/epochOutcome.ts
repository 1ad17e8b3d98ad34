/**
 * The last block's word on the next epoch, in its `extraData`: the outcome of the key ceremony of that
 * epoch.
 *
 *     epoch | 32 bytes | mode | total (4 bytes) | n | n points of G2 | 4 lists of keys | flag | …
 *
 * The first point is the group's key; the others are what shares are checked with.
 */
import type { Hex } from '#primitives.ts'
import { CanonicalBytes, CanonicalBytesError } from '../certificate/CanonicalBytes.ts'
import { bytesOfHex, hexOf } from '../certificate/certificate.ts'
import { KEY_BYTES, keyPoint } from '../certificate/groupSignatures.ts'

export interface EpochOutcome {
  /** The epoch that begins behind the block. */
  readonly epoch: number
  /** The group's key in it: a valid point. */
  readonly key: Hex
  /** The ceremony of that epoch makes a new key, which is that of the epoch after it. */
  readonly isNextFullDkg: boolean
}

/** Dealers, players, those whose shares were revealed, players of the next ceremony. */
const LISTS = 4

/** Null where the bytes are no outcome. What stands behind the flag is passed over. */
export function readEpochOutcome(extraData: Hex): EpochOutcome | null {
  try {
    return outcomeOf(new CanonicalBytes(bytesOfHex(extraData)))
  } catch (error) {
    if (error instanceof CanonicalBytesError) return null
    throw error
  }
}

/** @throws CanonicalBytesError */
function outcomeOf(rest: CanonicalBytes): EpochOutcome | null {
  const epoch = rest.varint()
  rest.take(32 + 1 + 4)
  const points = rest.take(rest.varint() * KEY_BYTES)
  if (points.length === 0) return null
  const key = points.subarray(0, KEY_BYTES)
  for (let list = 0; list < LISTS; list++) rest.take(rest.varint() * 32)
  const isNextFullDkg = rest.flag()
  return keyPoint(key) && { epoch, key: hexOf(key), isNextFullDkg }
}
