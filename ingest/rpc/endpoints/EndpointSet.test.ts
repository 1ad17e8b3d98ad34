import { expect, test } from 'vitest'
import type { Clock } from '#runtime/runtime.ts'
import { RpcClient } from '../client/client.ts'
import { parseEndpointUrl } from '../client/endpointUrl.ts'
import { Endpoint } from './Endpoint.ts'
import { EndpointSet, type EndpointWish } from './EndpointSet.ts'

const wish: EndpointWish = { height: 1, not: new Set(), urgent: true }

/**
 * Time passes by a little with each look at it, and a sleep ends a little early, as timers of whole
 * milliseconds do.
 */
function slowClock(lookMs: number, earlyMs: number): Clock {
  let nowMs = 1_000
  return {
    now: () => nowMs,
    monotonic: () => {
      nowMs += lookMs
      return nowMs
    },
    sleep: async (ms) => {
      nowMs += Math.max(0, ms - earlyMs)
    },
  }
}

function only(clock: Clock): { set: EndpointSet; endpoint: Endpoint } {
  const transport = { dispatch: () => true, destroy: async () => {} }
  const client = new RpcClient(parseEndpointUrl('http://node.test'), clock, 1, () => transport as never)
  const endpoint = new Endpoint(client, clock, 1)
  return { set: new EndpointSet([endpoint], clock), endpoint }
}

test('who waits for the end of a pause is let in, however the clock falls', async () => {
  for (let lookMs = 0.05; lookMs < 1; lookMs += 0.05)
    for (let earlyMs = 0; earlyMs < 4; earlyMs += 0.1) {
      const { set, endpoint } = only(slowClock(lookMs, earlyMs))
      endpoint.failed(endpoint.client.error('rate_limited', 'slow down', { retryAfterMs: 1_000 }), 1)
      expect(await set.take(wish)).toBe(endpoint)
      set.release(endpoint)
      set.close()
    }
})

test('an endpoint that was left out for the longest time there is still counts as one to be asked', async () => {
  const clock = slowClock(0, 0)
  const { endpoint } = only(clock)
  endpoint.answered(1)
  for (let failures = 0; failures < 40; failures++)
    endpoint.failed(endpoint.client.error('unreachable', 'no connection'), 1)
  let awayMs = 0
  for (; endpoint.quarantined; awayMs += 1_000) await clock.sleep(1_000)
  expect(awayMs).toBeGreaterThanOrEqual(120_000)
  expect(endpoint.answeredLately).toBe(true)
  await clock.sleep(120_000)
  expect(endpoint.answeredLately).toBe(false)
})

test('an endpoint that is the only one is asked at once, also in quarantine', async () => {
  const { set, endpoint } = only(slowClock(0, 0))
  for (let failures = 0; failures < 40; failures++)
    endpoint.failed(endpoint.client.error('unreachable', 'no connection'), 1)
  expect(endpoint.quarantined).toBe(true)
  expect(await set.take(wish)).toBe(endpoint)
})
