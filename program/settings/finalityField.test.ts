import { describe, expect, test } from 'vitest'
import { SettingError } from '#errors.ts'
import { signingNetwork } from '#test/support/signedFinality.ts'
import { assertKeyIsPoint, finalityOf } from './finalityField.ts'

const { key } = signingNetwork(`0x${'03'.repeat(32)}`)
const where = 'chains.json: chains[0].finality'

describe('the finality of a chain', () => {
  test('is by either rule and compiled keys, unless something else is said', () => {
    expect(finalityOf({}, 4217, where)).toEqual({ rule: 'both', key: null })
    expect(finalityOf({ rule: 'certificate' }, 4217, where)).toEqual({ rule: 'certificate', key: null })
    expect(finalityOf({ rule: 'endpoints' }, 1, where)).toEqual({ rule: 'endpoints', key: null })
  })

  test('may have a key of its own, in letters of either case', () => {
    const identity = `0x${key.slice(2).toUpperCase()}`
    expect(finalityOf({ rule: 'certificate', identity, fromEpoch: 9 }, 1, where)).toEqual({
      rule: 'certificate',
      key: { identity: key, fromEpoch: 9 },
    })
  })

  test.each([
    ['a key without its epoch', { identity: key }, '.identity stands without `fromEpoch`'],
    ['an epoch without a key', { fromEpoch: 9 }, '.fromEpoch stands without `identity`'],
    [
      'certificates alone, where no key is known',
      { rule: 'certificate' },
      '.rule is certificate, and no key',
    ],
  ] as const)('is refused with %s', (_what, given, problem) => {
    expect(() => finalityOf(given, 1, where)).toThrow(SettingError)
    expect(() => finalityOf(given, 1, where)).toThrow(`CONFIG: ${where}${problem}`)
  })

  test('is refused where its key is no point of the group', async () => {
    const at = (identity: typeof key) => assertKeyIsPoint({ rule: 'both', key: { identity, fromEpoch: 0 } })
    await at(key)
    await assertKeyIsPoint({ rule: 'both', key: null })
    await expect(at(`0x${'80'.padEnd(192, '0')}`)).rejects.toThrow('CONFIG: finality.identity is not a key')
  })
})
