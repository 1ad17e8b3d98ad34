import { expect, test } from 'vitest'
import { noFindings } from '#rows/payments/proofs.ts'
import { paymentAlarms, paymentKinds } from './paymentAlarms.ts'

const none = { ...noFindings, books: 0, unchecked: 0 }

test('payments that are well raise nothing', () => {
  expect(paymentAlarms(4217, none, null)).toEqual([])
})

test.each([
  ['payment_reversed', 'reversed'],
  ['payment_differs', 'differing'],
  ['settlement_unknown', 'unknown'],
  ['payouts_waiting', 'waiting'],
  ['payouts_large', 'large'],
  ['payments_stopped', 'stopped'],
  ['books_differ', 'books'],
  ['books_unchecked', 'unchecked'],
] as const)('%s is raised by what of payments is %s', (code, found) => {
  expect(paymentAlarms(4217, { ...none, [found]: 3 }, null)).toEqual([
    {
      chainId: 4217,
      code,
      problem: expect.stringMatching(/^3 (payments|refunds|entries|of payouts|chains)/),
    },
  ])
  expect(paymentKinds.map((kind) => kind.code)).toContain(code)
})

test('channels that cannot be settled raise channels_unsettled', () => {
  expect(paymentAlarms(4217, none, 'why')).toEqual([
    { chainId: 4217, code: 'channels_unsettled', problem: 'why' },
  ])
})
