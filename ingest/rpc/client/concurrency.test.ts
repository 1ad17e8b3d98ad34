import { expect, test } from 'vitest'
import { afterRefusal, afterSuccess, LIMIT_MAX, startConcurrency } from './concurrency.ts'

test('successes add one request for each round of them, up to the maximum', () => {
  let state = startConcurrency
  for (let i = 0; i < 4; i++) state = afterSuccess(state, 10, 0)
  expect(Math.floor(state.limit)).toBe(4)
  state = afterSuccess(state, 10, 0)
  expect(Math.floor(state.limit)).toBe(5)
  for (let i = 0; i < 10_000; i++) state = afterSuccess(state, 10, 0)
  expect(state.limit).toBe(LIMIT_MAX)
})

test('a burst of refusals halves once, further ones halve again, and one request is always left', () => {
  let state = afterRefusal(startConcurrency, 0)
  state = afterRefusal(state, 10)
  expect(state.limit).toBe(2)
  for (let at = 1_000; at < 10_000; at += 1_000) state = afterRefusal(state, at)
  expect(state.limit).toBe(1)
})

test('slow answers shrink instead of growing', () => {
  expect(afterSuccess(startConcurrency, 6_000, 0).limit).toBeLessThan(startConcurrency.limit)
})
