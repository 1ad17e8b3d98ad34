import { expect, test } from 'vitest'
import { acceptedOf, namesMethod } from './acceptPayment.ts'

const offers = [{ name: 'tempo/charge' }, { name: 'tempo/session' }, { name: 'x402/exact' }]
const names = (accept: string | undefined) => acceptedOf(offers, accept).map(({ name }) => name)

test.each([
  [undefined, ['tempo/charge', 'tempo/session', 'x402/exact']],
  ['tempo/charge', ['tempo/charge']],
  ['tempo/charge;q=0.5, tempo/session', ['tempo/session', 'tempo/charge']],
  ['tempo/*, tempo/charge;q=0', ['tempo/session']],
  ['*/*;q=0, X402/exact', ['x402/exact']],
  ['*/*;q=0.1, tempo/session;q=0.9', ['tempo/session', 'tempo/charge', 'x402/exact']],
  // Nothing of it is understood, or nothing of it is sold.
  ['stripe/charge', ['tempo/charge', 'tempo/session', 'x402/exact']],
  ['tempo, ;q=1, tempo/charge;q=7', ['tempo/charge', 'tempo/session', 'x402/exact']],
])('%s takes %j', (accept, expected) => {
  expect(names(accept)).toEqual(expected)
})

test.each([
  [undefined, false],
  ['', false],
  ['evm/charge, tempo/charge', true],
  ['tempo/*', true],
  ['tempo/*, tempo/charge;q=0', false],
  ['evm/charge', false],
])('%s names charges of Tempo: %j', (accept, expected) => {
  expect(namesMethod(accept, 'tempo/charge')).toBe(expected)
})
