import { expect, test } from 'vitest'
import { CALLS, reasonToSuspend } from './suspension.ts'

const calls = {
  undelivered: CALLS,
  payers: 2,
  allPayers: 3,
  codes: ['completion_timeout', 'paid_not_delivered'],
}

test('calls of several payers suspend if all of them failed, and the reason names their codes', () => {
  expect(reasonToSuspend(calls)).toBe(
    'its last 5 calls that jobs paid for were not delivered (completion_timeout, paid_not_delivered)',
  )
  expect(reasonToSuspend({ ...calls, undelivered: CALLS - 1 })).toBeNull()
})

test('one payer suspends what nobody else has called, and nothing more', () => {
  expect(reasonToSuspend({ ...calls, payers: 1, allPayers: 1 })).not.toBeNull()
  expect(reasonToSuspend({ ...calls, payers: 1, allPayers: 2 })).toBeNull()
})
