import { expect, test } from 'vitest'
import type { HeldHealth } from '#rows/catalog/catalogHealth.ts'
import type { Sight } from './look.ts'
import { afterLook, SUSPENSION_MS_MIN } from './schedule.ts'

const sight = (outcome: Sight['outcome']): Sight => ({
  ...{ outcome, status: 402, problem: null, durationMs: 1, offers: [], drift: null },
})
const held = (suspendedMs: number | null): HeldHealth => ({ state: 'verified', failures: 0, suspendedMs })
const look = (suspendedMs: number | null, outcome: Sight['outcome'] | null) =>
  afterLook(held(suspendedMs), outcome && sight(outcome), 'POST', () => 0.5)

test('a look frees what it verifies after an hour, and nothing before', () => {
  expect(look(SUSPENSION_MS_MIN, 'verified')).toMatchObject({ isFreed: true, state: 'verified' })
  expect(look(SUSPENSION_MS_MIN - 1, 'verified')).toMatchObject({ isFreed: false, state: 'verified' })
  expect(look(null, 'verified')).toMatchObject({ isFreed: false })
})

test.each(['answered', 'failed', 'unpaid'] as const)('a look that finds it %s frees nothing', (outcome) => {
  expect(look(2 * SUSPENSION_MS_MIN, outcome)).toMatchObject({ isFreed: false })
})

test('the next look comes when the pause is over, but never for what is looked at no more', () => {
  expect(look(SUSPENSION_MS_MIN - 10.5, 'verified')).toMatchObject({ nextMs: 11 })
  expect(look(SUSPENSION_MS_MIN, 'answered').nextMs).toBe(look(null, 'answered').nextMs)
  expect(look(0, 'unpaid')).toMatchObject({ nextMs: null })
  expect(look(0, null)).toMatchObject({ nextMs: null, state: 'unprobed', isFreed: false })
})
