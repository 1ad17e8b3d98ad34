import { expect, test } from 'vitest'
import { parityAlarms } from './parity.ts'

test('stores that differ raise parity_differs, and no others', () => {
  const problem = 'logs differs between the stores from block 7'
  expect(parityAlarms(4217, { state: 'differs', problem })).toEqual([
    { chainId: 4217, code: 'parity_differs', problem },
  ])
  expect(parityAlarms(4217, { state: 'equal', problem: null })).toEqual([])
  expect(parityAlarms(4217, { state: 'waiting', problem: 'not compared' })).toEqual([])
})
