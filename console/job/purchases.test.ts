// Goal: a browser loses no payment that is under way, and reads nothing of what is none.
import { expect, test } from 'vitest'
import { type Purchase, readPurchases, withoutPurchase, withPurchase } from './purchases.ts'

const jobId = '0d9c1f3e-5a7b-4c2d-8e9f-0123456789ab'
const order = (planHash: string) => ({ planHash, key: `key of ${planHash}`, maxSpend: '0.01' })
const bought = (planHash: string): Purchase => ({ ...order(planHash), payment: null, jobId })
const paying = (planHash: string): Purchase => ({
  ...order(planHash),
  ...{ payment: { kind: 'authorization', credential: ['payment-signature', 'e30'] }, jobId: null },
})

test('what is kept is read again', () => {
  const kept = [bought('a'), paying('b')]
  expect(readPurchases(JSON.stringify(kept))).toEqual(kept)
})

test.each([
  null,
  '',
  '{',
  '{}',
  '[null]',
  '[{"planHash": "a"}]',
  JSON.stringify([{ ...bought('a'), jobId: 'no' }]),
])('nothing is read of %s', (text) => {
  expect(readPurchases(text)).toEqual([])
})

test('a payment that has no kind that is known is none', () => {
  expect(readPurchases(JSON.stringify([{ ...paying('a'), payment: { kind: 'coins' } }]))).toEqual([])
})

test('a plan has one purchase, and of many those that are over go first', () => {
  expect(withPurchase([paying('a')], bought('a'))).toEqual([bought('a')])
  const many = Array.from({ length: 40 }, (_, at) => bought(`${at}`)).reduce(withPurchase, [paying('first')])
  expect(many).toHaveLength(21)
  expect(many.map(({ planHash }) => planHash)).toEqual(expect.arrayContaining(['first', '39', '20']))
  expect(withoutPurchase(many, '39').map(({ planHash }) => planHash)).not.toContain('39')
})
