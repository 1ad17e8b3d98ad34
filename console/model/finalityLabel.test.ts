import { expect, test } from 'vitest'
import { finalityLabel } from './finalityLabel.ts'
import type { FinalityStatus } from './wire.ts'

const proved: FinalityStatus = {
  ...{ rule: 'proved', certificateHeight: 12_345, epoch: 0, lastCheckedMs: 10_000, endpointsServing: 2 },
  statedKey: null,
}
const label = (finality: FinalityStatus, nowMs: number, role: 'writer' | 'standby' = 'writer') =>
  finalityLabel({ finality, role }, nowMs)

test('what is final by proof has the age of the last certificate', () => {
  expect(label(proved, 13_000)).toBe('final by proof, certificate of block 12,345 checked 3 s ago')
  expect(label(proved, 10_000 + 600_000)).toMatch(/checked 10 min ago$/)
})

test('a clock that is behind makes no certificate younger than none', () => {
  expect(label(proved, 9_000)).toMatch(/checked 0 s ago$/)
})

test('certificates that stopped, and those that never were, are told apart', () => {
  expect(label({ ...proved, endpointsServing: 0 }, 10_000)).toMatch(/, no endpoint serves newer ones$/)
  expect(label({ ...proved, endpointsServing: 0 }, 10_000, 'standby')).toMatch(/ago$/)
  const none = { ...proved, rule: 'agreed', certificateHeight: null, lastCheckedMs: null } as const
  expect(label(none, 10_000)).toBe('agreed by endpoints')
})

test('a key that its makers stated alone is told until it was seen signing', () => {
  const stated = { ...proved, statedKey: { fromEpoch: 2_042 } }
  expect(label(stated, 10_000)).toMatch(/; the key from epoch 2,042 on is stated, not seen signing$/)
})
