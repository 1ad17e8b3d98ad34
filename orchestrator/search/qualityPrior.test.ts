import { expect, test } from 'vitest'
import { PRIOR_MAX, priorOf } from './qualityPrior.ts'

test('an endpoint without paid calls is moved by nothing', () => {
  expect(priorOf({ paid: 0, delivered: 0 })).toBe(0)
})

test('undelivered calls move it down, the more the further, and delivered ones hardly up', () => {
  const [one, ten] = [priorOf({ paid: 1, delivered: 0 }), priorOf({ paid: 10, delivered: 0 })]
  expect(one).toBeLessThan(0)
  expect(ten).toBeLessThan(one)
  const all = priorOf({ paid: 1_000, delivered: 1_000 })
  expect(all).toBeGreaterThan(0)
  expect(all).toBeLessThan(-one)
})

test('a good rating does not make up for ten calls that were not delivered', () => {
  const rating = { score: 5, payers: 100 }
  expect(priorOf({ paid: 10, delivered: 0, rating })).toBeLessThan(0)
  expect(priorOf({ paid: 10, delivered: 10, rating })).toBeGreaterThan(priorOf({ paid: 10, delivered: 10 }))
})

test.each([1, 5])('it stays within its bound with a rating of %d', (score) => {
  for (const delivered of [0, 1_000_000]) {
    const prior = priorOf({ paid: 1_000_000, delivered, rating: { score, payers: 9 } })
    expect(Math.abs(prior)).toBeLessThanOrEqual(PRIOR_MAX)
  }
})
