import { expect, it } from 'vitest'
import { signingNetwork } from '#test/support/signedFinality.ts'
import { type EpochKeys, keyAt, withoutKeyFrom } from './epochKeys.ts'
import { keysWith } from './keyDecision.ts'

const [old, young] = ['02', '03'].map((byte) => signingNetwork(`0x${byte.repeat(32)}`).key)
if (!old || !young) throw new TypeError('two keys')

const pinned: EpochKeys = {
  epochBlocks: 10,
  keys: [
    { fromEpoch: 0, key: old, origin: 'pinned' },
    { fromEpoch: 10, key: young, origin: 'configured' },
  ],
  unknownFrom: [],
}
const refusedFrom = (fromEpoch: number) =>
  ({ fromEpoch, key: null, boundaryHash: null, refusal: 'key_unannounced' }) as const
const keysAt = (keys: EpochKeys, ...epochs: number[]) => epochs.map((epoch) => keyAt(keys, epoch)?.key)

it('a key ends at each epoch that was refused, and a pin there ends that refusal alone', () => {
  const keys = keysWith(pinned, [refusedFrom(10), refusedFrom(20)])
  expect(keysAt(keys, 9, 10, 19, 20, 25)).toEqual([old, young, young, undefined, undefined])
  const followed = { fromEpoch: 30, key: old, boundaryHash: null, refusal: null }
  expect(keysAt(keysWith(pinned, [refusedFrom(20), followed]), 29, 30)).toEqual([undefined, old])
})

it('an epoch that is refused later leaves the earlier refusal', () => {
  const keys = withoutKeyFrom(withoutKeyFrom(pinned, 20), 5)
  expect(keysAt(keys, 4, 5, 9, 10, 19, 20)).toEqual([old, undefined, undefined, young, young, undefined])
})
