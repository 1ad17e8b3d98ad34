/**
 * The keys of Tempo's networks that are compiled in, and those that an operator configures. Networks
 * differ by nothing else: no chain id is signed.
 */
import type { Hex } from '#primitives.ts'
import { type EpochKey, type EpochKeys, withKey } from './epochKeys.ts'
import { EPOCH_BLOCKS } from './epochs.ts'

/**
 * By chain id. Those of epoch 0 stand in the genesis blocks, the second of 42431 in Tempo's source;
 * `stated` ones in notes of releases 1.16.1 and 1.15.1, and no certificate under them was found.
 */
const pinnedKeys: Readonly<Record<number, readonly EpochKey[]>> = {
  4217: [
    {
      fromEpoch: 0,
      key: '0xa217bb85001d4dcf8e5c50136f77af88cb2cab1857279b91c6240f41cca95c4f43f6dcab3e0dfb87dafb3ecbeb6251e90a5df2e6c47432482821cd8b84665ee4642589d2d9628a92b03e2bbfb00e006d038cd98def76d2a41b7c228c05f5a193',
      origin: 'pinned',
    },
    {
      fromEpoch: 2_042,
      key: '0x8627d33753b0d90a8eae75363d6b393ab9204076545b3af6caf831903e4bedde4374f1106551b481fb5ea35e59d51c92165c963881c718216e3e4570a307c08885af55c274f19488f709afe021ca3d9e567138ab097860d9146e895407bea182',
      origin: 'stated',
    },
  ],
  42431: [
    {
      fromEpoch: 0,
      key: '0xb5933dc6f1248d516ccead8f76e4840d478515452abf1275c0738eeee8750d37792d23895a01b0cb5993d22410bd241c02c14763a7c4d0f4413b4c9a30763993a1ef83d915e1bd8c965fab9541e105fa4819341a3c06361bf466f2265a5ebc49',
      origin: 'pinned',
    },
    {
      fromEpoch: 51,
      key: '0x84591ad702a9ee67c0c64add2ff166c19a4666a1dc636cc530a810052957d34c185bb1d2c7f5569983485a5af49baed70166ba17ae782bc8c75701099c70474798ccc181d03b0c12054f1d01c7817b27b425bae4bfcf936218c0d097cccf3242',
      origin: 'pinned',
    },
    {
      fromEpoch: 1_747,
      key: '0x967ae1a6d3ddbe5cb0fe5e6fc58e74249787b4a277619b549fed6609d04660540dd2449cd7174def35e40f544e5ad72d15d064191a205ed6e0c49619c68f975108b614d0d51def9a8416a10a07c4193bea0cbbc4252ec1b33f21095a5d7aa590',
      origin: 'stated',
    },
  ],
}

/** A key that an operator gives for a chain. */
export interface ConfiguredKey {
  /** 96 bytes. */
  readonly identity: Hex
  readonly fromEpoch: number
}

/**
 * The keys that a chain begins with; null where none is known. A configured one stands in place of
 * the compiled one of the same epoch.
 */
export function initialKeys(
  chainId: number,
  configured: ConfiguredKey | null,
  epochBlocks = EPOCH_BLOCKS,
): EpochKeys | null {
  const pinned: EpochKeys = { epochBlocks, keys: pinnedKeys[chainId] ?? [], unknownFrom: [] }
  if (!configured) return pinned.keys.length === 0 ? null : pinned
  const { identity, fromEpoch } = configured
  return withKey(pinned, { fromEpoch, key: identity, origin: 'configured' })
}
