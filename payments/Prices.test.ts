import { expect, test } from 'vitest'
import type { PaymentMethod } from './methods/PaymentMethod.ts'
import { Prices } from './Prices.ts'

const methodOf = (name: string, isChannel: boolean): PaymentMethod => ({
  ...{ name, isChannel, metaIn: () => ({}), receiptHeaders: () => ({}), offersOf: () => [] },
  ...{ challenge: async () => null, presentedIn: () => null, identityOf: () => null },
  check: () => Promise.reject(new Error('nothing is checked')),
  send: async () => ({ kind: 'unknown' }),
  outcome: async () => ({ kind: 'unknown' }),
})
const [charge, session] = [methodOf('tempo/charge', false), methodOf('tempo/session', true)]
const prices = new Prices({
  methods: [charge, session],
  prices: {
    'data:read': { charge: '0.0005', session: '0.00001' },
    'indexer:query': { charge: '1', session: '1' },
  },
  chainPrices: new Map([
    [42431, { 'data:read': { charge: '0.0001', session: '0' } }],
    [1337, { 'data:read': { charge: '0', session: '0' } }],
  ]),
})

test('a chain has the prices that it names, and those of all for the rest', () => {
  expect([undefined, 4217, 42431].map((chainId) => prices.of('data:read', charge, chainId))).toEqual([
    ...['0.0005', '0.0005', '0.0001'],
  ])
  expect(prices.of('indexer:query', session, 42431)).toBe('1')
  expect(prices.of('webhooks:write', charge, 42431)).toBe('0')
})

test('what costs nothing on a chain is not sold for it', () => {
  expect(prices.methodsFor('data:read', 4217)).toEqual([charge, session])
  expect(prices.methodsFor('data:read', 42431)).toEqual([charge])
  expect(prices.methodsFor('data:read', 1337)).toEqual([])
  expect(prices.sells('data:read')).toBe(true)
})
