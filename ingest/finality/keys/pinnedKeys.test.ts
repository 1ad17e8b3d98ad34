import { describe, expect, it } from 'vitest'
import { finalityVectors, signingNetwork } from '#test/support/signedFinality.ts'
import { isKey } from '../certificate/groupSignatures.ts'
import { keyAt } from './epochKeys.ts'
import { initialKeys } from './pinnedKeys.ts'

const identities = finalityVectors('identities')
const { key } = signingNetwork(`0x${'03'.repeat(32)}`)

describe('compiled keys', () => {
  it.each(['4217', '42431'] as const)('of chain %s are those of the vectors, and valid points', (chain) => {
    const { keys = [], epochBlocks } = initialKeys(Number(chain), null) ?? {}
    expect(epochBlocks).toBe(21_600)
    expect(keys.map(({ fromEpoch, key }) => ({ fromEpoch, key }))).toEqual(identities[chain])
    expect(keys.every(({ key }) => isKey(key))).toBe(true)
  })

  it('that nobody saw signing are marked', () => {
    const originsOf = (chain: number) => initialKeys(chain, null)?.keys.map(({ origin }) => origin)
    expect(originsOf(4217)).toEqual(['pinned', 'stated'])
    expect(originsOf(42431)).toEqual(['pinned', 'pinned', 'stated'])
  })

  it('are none of another chain', () => {
    expect(initialKeys(1, null)).toBeNull()
  })
})

describe('a configured key', () => {
  const at = (fromEpoch: number, epoch: number) => {
    const keys = initialKeys(4217, { identity: key, fromEpoch })
    return keys && keyAt(keys, epoch)?.key
  }
  const [genesis, october] = identities['4217'].map((pinned) => pinned.key)

  it('holds from its epoch up to the next compiled one', () => {
    expect([at(100, 99), at(100, 100), at(100, 2041), at(100, 2042)]).toEqual([genesis, key, key, october])
    expect([at(3000, 2999), at(3000, 3000)]).toEqual([october, key])
  })

  it('stands in place of the compiled one of its epoch', () => {
    expect([at(2042, 2041), at(2042, 2042)]).toEqual([genesis, key])
  })

  it('is the only one of a chain without', () => {
    const keys = initialKeys(99, { identity: key, fromEpoch: 7 }, 10)
    expect(keys).toMatchObject({ epochBlocks: 10 })
    expect(keys && [keyAt(keys, 6)?.key, keyAt(keys, 7)?.key]).toEqual([undefined, key])
  })
})
