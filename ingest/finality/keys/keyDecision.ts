import type { Hash, Hex } from '#primitives.ts'
import { type EpochKeys, withKey, withoutKeyFrom } from './epochKeys.ts'
import type { KeyRefusal } from './KeyRefusedError.ts'

/** The decision that the last block before an epoch led to: its key, or why none was taken. */
export type KeyDecision = {
  readonly fromEpoch: number
  /** The last block of the epoch before; null where it is not held. */
  readonly boundaryHash: Hash | null
} & ({ readonly key: Hex; readonly refusal: null } | { readonly key: null; readonly refusal: KeyRefusal })

/** Compiled and configured keys with what was decided: a pin stands above a key that was followed. */
export function keysWith(pinned: EpochKeys, decided: readonly KeyDecision[]): EpochKeys {
  let keys: EpochKeys = { ...pinned, keys: [] }
  for (const { fromEpoch, key } of decided)
    if (key !== null) keys = withKey(keys, { fromEpoch, key, origin: 'followed' })
  for (const pin of pinned.keys) keys = withKey(keys, pin)
  for (const { fromEpoch, key } of decided) if (key === null) keys = withoutKeyFrom(keys, fromEpoch)
  return keys
}
