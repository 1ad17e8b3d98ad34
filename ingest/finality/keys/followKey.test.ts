import { describe, expect, it } from 'vitest'
import { type Outcome, outcomeExtraData, signingNetwork } from '#test/support/signedFinality.ts'
import { type EpochKeys, keyAt, withKey, withoutKeyFrom } from './epochKeys.ts'
import { followKey, type KeyChange } from './followKey.ts'
import { KeyRefusedError } from './KeyRefusedError.ts'

const { key: oldKey } = signingNetwork(`0x${'02'.repeat(32)}`)
const { key: newKey } = signingNetwork(`0x${'03'.repeat(32)}`)
const keys: EpochKeys = {
  epochBlocks: 10,
  keys: [{ fromEpoch: 0, key: oldKey, origin: 'pinned' }],
  unknownFrom: [],
}

/** The last block in front of an epoch, and what it tells of it. */
const boundaryOf = (outcome: Outcome) => ({
  number: outcome.epoch * 10 - 1,
  extraData: outcomeExtraData(outcome),
})
const announced = boundaryOf({ epoch: 4, key: oldKey, isNextFullDkg: true })
const unannounced = boundaryOf({ epoch: 4, key: oldKey })
const changed = boundaryOf({ epoch: 5, key: newKey })
const change: KeyChange = { boundary: changed, before: announced, isCertified: true }

function refusal(from: EpochKeys, given: Partial<KeyChange>) {
  try {
    return followKey(from, { ...change, ...given })
  } catch (error) {
    if (error instanceof KeyRefusedError) return error.reason
    throw error
  }
}

describe('a key from one epoch to the next', () => {
  it('stays where the last block names it again and is certified', () => {
    const boundary = boundaryOf({ epoch: 5, key: oldKey })
    expect(followKey(keys, { boundary, before: null, isCertified: true })).toBe(keys)
    expect(followKey(keys, { boundary, before: announced, isCertified: true })).toBe(keys)
    expect(refusal(keys, { boundary, isCertified: false })).toBe('certificate_missing')
  })

  it('changes where that was announced and the old key signed it', () => {
    const followed = followKey(keys, change)
    expect(keyAt(followed, 4)?.key).toBe(oldKey)
    expect(keyAt(followed, 5)).toEqual({ fromEpoch: 5, key: newKey, origin: 'followed' })
  })

  it.each([
    ['key_unannounced', { before: unannounced }],
    ['key_unannounced', { before: { ...announced, extraData: '0x' } }],
    ['key_unannounced', { before: { ...announced, extraData: changed.extraData } }],
    ['announcement_not_held', { before: null }],
    ['certificate_missing', { isCertified: false }],
    ['outcome_unreadable', { boundary: { ...changed, extraData: '0x' } }],
    ['outcome_of_other_epoch', { boundary: { ...changed, extraData: announced.extraData } }],
  ] as const)('is refused: %s', (reason, given) => {
    expect(refusal(keys, given)).toBe(reason)
  })

  it('is not taken from a block that nobody can check', () => {
    expect(refusal({ ...keys, keys: [] }, {})).toBe('old_key_unknown')
    expect(refusal(withoutKeyFrom(keys, 4), {})).toBe('old_key_unknown')
  })

  it('is the pinned one, and no other', () => {
    const pin = (key: typeof newKey) => withKey(keys, { fromEpoch: 5, key, origin: 'stated' })
    const pinned = pin(newKey)
    expect(refusal(pinned, { before: null, isCertified: false })).toBe(pinned)
    expect(refusal(pin(oldKey), {})).toBe('pin_contradicted')
  })
})

describe('a key that is refused', () => {
  it('leaves none from its epoch on, until one of that epoch or later is configured', () => {
    const unknown = withoutKeyFrom(keys, 5)
    expect([keyAt(unknown, 4)?.key, keyAt(unknown, 5), keyAt(unknown, 9)]).toEqual([oldKey, null, null])
    const configured = withKey(unknown, { fromEpoch: 6, key: newKey, origin: 'configured' })
    expect([keyAt(configured, 5), keyAt(configured, 6)?.key]).toEqual([null, newKey])
  })

  it('is asked of the last block of an epoch', () => {
    const boundary = { ...changed, number: 50 }
    expect(() => followKey(keys, { ...change, boundary })).toThrow('not the last of an epoch')
  })
})
