import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readForkSchedule } from './forkSchedule.ts'

const t12 = { name: 'T12', activationTime: 1_791_900_000, active: true, forkId: '0x471a451c' }

describe('a schedule of forks', () => {
  test('gives the forks that have a time', () => {
    const unscheduled = { name: 'T13', activationTime: null, active: false }
    expect(readForkSchedule({ schedule: [t12, unscheduled], active: 'T12' })).toEqual([
      { name: 'T12', activatesAt: 1_791_900_000 },
    ])
    expect(readForkSchedule({ schedule: [] })).toEqual([])
  })

  test.each([
    null,
    'T12',
    [t12],
    {},
    { schedule: 'T12' },
    { schedule: { length: 1, 0: t12 } },
    { schedule: [t12, null] },
    { schedule: [t12, { ...t12, name: 7 }] },
    { schedule: [t12, { ...t12, name: 'T13\nalarm over' }] },
    { schedule: [t12, { ...t12, name: 'T'.repeat(33) }] },
    { schedule: [t12, { ...t12, activationTime: '0x6ad0' }] },
    { schedule: [t12, { ...t12, activationTime: 1.5 }] },
    { schedule: [t12, { ...t12, activationTime: -1 }] },
    { schedule: [t12, { ...t12, activationTime: 2 ** 63 }] },
    { schedule: Array.from({ length: 257 }, () => t12) },
  ])('of another shape or size tells nothing (%#)', (answer) => {
    expect(readForkSchedule(answer)).toBeNull()
  })

  test('never throws, whatever comes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        for (const answer of [one, { schedule: one }, { schedule: [one, other] }]) readForkSchedule(answer)
      }),
    )
  })
})
