/** The keys of a chain's groups, each from an epoch on. Plain data, so that a worker can be given it. */
import type { Hex } from '#primitives.ts'

/**
 * The origin of a key: compiled in and seen signing, compiled in as its makers stated it, set by the
 * operator, or read from a boundary block that the key before signed.
 */
export type KeyOrigin = 'pinned' | 'stated' | 'configured' | 'followed'

export interface EpochKey {
  readonly fromEpoch: number
  /** Compressed point of G2, 96 bytes. */
  readonly key: Hex
  readonly origin: KeyOrigin
}

export interface EpochKeys {
  readonly epochBlocks: number
  /** By ascending epoch, one for each. */
  readonly keys: readonly EpochKey[]
  /**
   * From each of these epochs on, ascending, the keys before it hold no longer and the next one is not
   * known. A key of that epoch or a later one ends it.
   */
  readonly unknownFrom: readonly number[]
}

/** The key that signs in an epoch; null where none is held. */
export function keyAt({ keys, unknownFrom }: EpochKeys, epoch: number): EpochKey | null {
  const key = keys.findLast(({ fromEpoch }) => fromEpoch <= epoch)
  if (!key) return null
  return unknownFrom.some((from) => key.fromEpoch < from && from <= epoch) ? null : key
}

/** With one key more, in place of the one of the same epoch. */
export function withKey(held: EpochKeys, added: EpochKey): EpochKeys {
  const others = held.keys.filter(({ fromEpoch }) => fromEpoch !== added.fromEpoch)
  const keys = [...others, added].toSorted((one, other) => one.fromEpoch - other.fromEpoch)
  return { ...held, keys }
}

/** The same keys, where those before this epoch do not hold in it. */
export const withoutKeyFrom = (keys: EpochKeys, epoch: number): EpochKeys => ({
  ...keys,
  unknownFrom: [...new Set([...keys.unknownFrom, epoch])].toSorted((one, other) => one - other),
})
