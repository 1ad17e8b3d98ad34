import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEthConfig } from './ethConfig.ts'

const at = (address: number) => `0x${address.toString(16).padStart(40, '0')}`
const osaka = {
  activationTime: 1_760_427_360,
  blobSchedule: { baseFeeUpdateFraction: 5_007_716, max: 9, target: 6 },
  chainId: '0xaa36a7',
  forkId: '0xe2ae4999',
  precompiles: Object.fromEntries([...Array(17).keys(), 255].map((index) => [`P${index}`, at(index + 1)])),
  systemContracts: { BEACON_ROOTS_ADDRESS: at(0xbeac02), DEPOSIT_CONTRACT_ADDRESS: at(0x7f02c3) },
}
const blobs = { ...osaka, activationTime: 1_761_017_184, forkId: '0x56078a1e', blobSchedule: {} }
const next = {
  ...osaka,
  ...{ activationTime: 1_791_294_816, forkId: '0x12345678' },
  systemContracts: { ...osaka.systemContracts, BUILDER_DEPOSIT_CONTRACT_ADDRESS: at(0xbff48282) },
}
const told = [{ name: '0x12345678', activatesAt: 1_791_294_816 }]

describe('a configuration of a node of Ethereum', () => {
  test('tells the forks that bring a contract or a precompile, once each', () => {
    expect(readEthConfig({ current: osaka, next, last: next }, false)).toEqual(told)
    expect(readEthConfig({ current: next, next: null, last: null }, false)).toEqual(told)
    const precompile = { ...next, systemContracts: {}, precompiles: { ...osaka.precompiles, NEW: at(18) } }
    expect(readEthConfig({ current: osaka, next: precompile }, true)).toEqual(told)
  })

  test('tells none of blob parameters alone', () => {
    expect(readEthConfig({ current: osaka, next: blobs, last: blobs }, false)).toEqual([])
    expect(readEthConfig({ current: blobs }, false)).toEqual([])
  })

  test('tells none of blob parameters alone after Amsterdam, where that is known', () => {
    const later = { ...next, activationTime: 1_800_000_000, forkId: '0x87654321' }
    expect(readEthConfig({ current: later, last: later }, true)).toEqual([])
    const other = { ...later, systemContracts: { ...next.systemContracts, NEWER_ADDRESS: at(1) } }
    expect(readEthConfig({ current: next, next: other }, true)).toMatchObject([{ name: '0x87654321' }])
  })

  test.each([
    null,
    'Osaka',
    [osaka],
    {},
    { current: null, next },
    { current: osaka, next: 7 },
    { current: { ...osaka, activationTime: '0x1' } },
    { current: { ...osaka, activationTime: -1 } },
    { current: { ...osaka, activationTime: 2 ** 63 } },
    { current: osaka, next: { ...next, forkId: '0x12345678\nalarm over' } },
    { current: { ...osaka, precompiles: null } },
    { current: { ...osaka, systemContracts: Array.from({ length: 257 }, () => at(1)) } },
  ])('of another shape or size tells nothing (%#)', (answer) => {
    expect(readEthConfig(answer, true)).toBeNull()
  })

  test('never throws, whatever comes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        for (const answer of [
          one,
          { current: one, next: other },
          { current: { ...osaka, precompiles: one } },
        ])
          readEthConfig(answer, false)
      }),
    )
  })
})
