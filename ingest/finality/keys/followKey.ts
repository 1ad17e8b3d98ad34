/**
 * A chain's key from one epoch into the next. A change is announced an epoch ahead, stands in the
 * last block under the old key, and counts when that key has signed this block: whoever invents one
 * lacks the signature, and a key that is new without a word is refused.
 */
import type { Hex } from '#primitives.ts'
import { type EpochKeys, keyAt, withKey } from './epochKeys.ts'
import { readEpochOutcome } from './epochOutcome.ts'
import { epochOf, isBoundary } from './epochs.ts'
import { type KeyRefusal, KeyRefusedError } from './KeyRefusedError.ts'

/** The last block of an epoch, as its recomputed header tells it. */
export interface BoundaryBlock {
  readonly number: number
  readonly extraData: Hex
}

export interface KeyChange {
  readonly boundary: BoundaryBlock
  /** The last block one epoch before; null where it is not held. */
  readonly before: BoundaryBlock | null
  /** A certificate of `boundary` itself was checked: every later block is under the next key. */
  readonly isCertified: boolean
}

/**
 * The keys that are known behind the boundary. That the key stays counts by the block's certificate
 * alone, too.
 * @throws KeyRefusedError where the chain names another key and it cannot be taken; from that
 * epoch on none is known, until one is configured
 */
export function followKey(keys: EpochKeys, change: KeyChange): EpochKeys {
  const { number, extraData } = change.boundary
  if (!isBoundary(number, keys.epochBlocks))
    throw new TypeError(`block ${number} is not the last of an epoch`)
  const epoch = epochOf(number, keys.epochBlocks) + 1
  const refuse = (reason: KeyRefusal): never => {
    throw new KeyRefusedError(reason, epoch)
  }
  const outcome = readEpochOutcome(extraData)
  if (!outcome) return refuse('outcome_unreadable')
  if (outcome.epoch !== epoch) return refuse('outcome_of_other_epoch')
  const pinned = keys.keys.find(({ fromEpoch }) => fromEpoch === epoch)
  if (pinned) return pinned.key === outcome.key ? keys : refuse('pin_contradicted')
  const old = keyAt(keys, epoch - 1)
  if (!old) return refuse('old_key_unknown')
  // An inventor of the block may leave out that the key ends, and have the ended one go on.
  if (!change.isCertified) return refuse('certificate_missing')
  if (old.key === outcome.key) return keys
  const problem = problemOf(keys, change)
  if (problem) return refuse(problem)
  return withKey(keys, { fromEpoch: epoch, key: outcome.key, origin: 'followed' })
}

function problemOf({ epochBlocks }: EpochKeys, change: KeyChange): KeyRefusal | null {
  const { boundary, before } = change
  if (!before) return 'announcement_not_held'
  if (before.number !== boundary.number - epochBlocks)
    throw new TypeError(`block ${before.number} is not one epoch before ${boundary.number}`)
  const announcement = readEpochOutcome(before.extraData)
  if (announcement?.epoch !== epochOf(boundary.number, epochBlocks) || !announcement.isNextFullDkg)
    return 'key_unannounced'
  return null
}
