// Goal: of a 402 the browser's wallet sees what it can pay, by no more than the quote.
// Method: headers made by the protocols' own libraries.
import { encodePaymentRequiredHeader } from '@x402/core/http'
import { Challenge } from 'mppx'
import { expect, test } from 'vitest'
import { expiryOf, isSameOffer, isWithin, offersIn, type PayableOffer } from './offers.ts'

const token = '0x20c0000000000000000000000000000000000000'
const recipient = `0x${'ab'.repeat(20)}`
const request = { amount: '10500', currency: token, recipient, methodDetails: { chainId: 1337 } }
const challengeOf = (asked: object, others: object = {}) =>
  Challenge.serialize({
    ...{ id: 'an-id', realm: 'here', method: 'tempo', intent: 'charge', expires: '2026-11-29T12:00:00.000Z' },
    ...{ description: 'one "job", quoted', request: asked as never },
    ...others,
  })
const accepts = {
  ...{ scheme: 'exact', network: 'eip155:8453', asset: token, payTo: recipient, amount: '10500' },
  ...{ maxTimeoutSeconds: 300, extra: { name: 'USD Coin', version: '2' } },
} as const
const headersOf = (challenges: readonly string[], accepted: readonly object[] = []) =>
  new Headers([
    ...challenges.map((text): [string, string] => ['www-authenticate', text]),
    [
      'payment-required',
      encodePaymentRequiredHeader({ x402Version: 2, resource: { url: 'x' }, accepts: accepted as never }),
    ],
  ])

test('each challenge and each x402 offer is read, with what a payment repeats', () => {
  const second = { ...request, currency: `0x${'cd'.repeat(20)}` }
  const [signed, ...pushed] = offersIn(headersOf([challengeOf(request), challengeOf(second)], [accepts]))
  expect(signed).toMatchObject({
    ...{ kind: 'authorization', chainId: 8453, token, recipient, units: '10500' },
    ...{ name: 'USD Coin', version: '2', validSeconds: 300, accepted: accepts },
  })
  expect(pushed).toMatchObject([
    { kind: 'transfer', chainId: 1337, token, recipient, units: '10500' },
    { kind: 'transfer', token: second.currency },
  ])
  const [first] = pushed
  if (first?.kind !== 'transfer') throw new Error('no transfer')
  expect(first.challenge).toMatchObject({ id: 'an-id', description: 'one "job", quoted' })
  expect(expiryOf(first)).toBe(Date.parse('2026-11-29T12:00:00.000Z'))
})

test.each([
  ['another intent', challengeOf(request, { intent: 'session' })],
  ['another method', challengeOf(request, { method: 'stripe' })],
  [
    'one that may not be pushed',
    challengeOf({ ...request, methodDetails: { chainId: 1337, supportedModes: ['pull'] } }),
  ],
  ['several receivers', challengeOf({ ...request, methodDetails: { chainId: 1337, splits: [] } })],
  ['no chain', challengeOf({ ...request, methodDetails: {} })],
  ['nothing to pay', challengeOf({ ...request, amount: '0' })],
  ['no number', challengeOf({ ...request, amount: '1.5' })],
  ['what is no address', challengeOf({ ...request, recipient: 'me' })],
  ['no challenge at all', 'Payment request="%%%"'],
])('left out is %s', (_, challenge) => {
  expect(offersIn(headersOf([challenge]))).toEqual([])
})

test.each([
  ['another scheme', { ...accepts, scheme: 'upto' }],
  ['another chain', { ...accepts, network: 'solana:x' }],
  [
    'another way to move a token',
    { ...accepts, extra: { ...accepts.extra, assetTransferMethod: 'permit2' } },
  ],
  ['a token without a name', { ...accepts, extra: {} }],
])('left out of x402 is %s', (_, accepted) => {
  expect(offersIn(headersOf([], [accepted]))).toEqual([])
})

test('an offer is within a quote up to its last unit, a part of which is rounded up', () => {
  const within = (units: string, dollars: string) => isWithin({ units } as PayableOffer, dollars)
  expect([within('10500', '0.0105'), within('10501', '0.0105'), within('1', '0')]).toEqual([
    true,
    false,
    false,
  ])
  expect([within('10501', '0.01050001'), within('10502', '0.01050001')]).toEqual([true, false])
  expect([within('2000000', '2'), within('2000001', '2'), within('1', 'free')]).toEqual([true, false, false])
})

test('another price, receiver, token or chain is another offer', () => {
  const [offer] = offersIn(headersOf([challengeOf(request)]))
  if (!offer) throw new Error('no offer')
  expect(isSameOffer(offer, { ...offer })).toBe(true)
  for (const change of [{ units: '1' }, { recipient: token }, { token: recipient }, { chainId: 1 }])
    expect(isSameOffer(offer, { ...offer, ...change })).toBe(false)
})
