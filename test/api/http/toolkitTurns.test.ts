// Goal: a server with more requests than it can answer answers as many as it can and tells the rest
// at once to come back; what a supervisor asks is answered all the while.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoint } from '#http/endpoint.ts'
import { dataRead, openToAll } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import { Turns } from '#http/request/Turns.ts'
import * as s from '#http/schema.ts'
import { everybody } from '#runtime/Slots.ts'
import { ManualClock, type RunningServer, startServer } from '../support/toolkitServer.ts'

interface Work {
  readonly begun: PromiseWithResolvers<number>[]
}

const response = s.object({ number: s.count })

const slow = endpoint({
  path: '/v1/slow/{number}',
  summary: 'Chain data, when the test gives it.',
  params: { number: p.blockNumber },
  response,
  cache: 'none',
  read: async (_call, { begun }: Work) => {
    const answer = Promise.withResolvers<number>()
    begun.push(answer)
    return answer.promise
  },
  present: (number) => ({ number }),
})
const health = endpoint({
  path: '/healthy',
  summary: 'Health.',
  response,
  access: openToAll,
  cache: 'none',
  chain: 'none',
  read: async () => 1,
  present: (number) => ({ number }),
})

const work: Work = { begun: [] }
let server: RunningServer
beforeAll(async () => {
  server = await startServer([slow, health], work, { turns: { running: 2, waiting: 3, waitMs: 600_000 } })
})
afterAll(() => server.app.close())

test('what cannot be answered in its turn is 503 with Retry-After, the rest is answered', async () => {
  const asked = Array.from({ length: 8 }, (_, index) => server.app.inject(`/v1/slow/${index}`))
  const refused = await Promise.race(asked)
  expect([refused.statusCode, refused.json().error.code]).toEqual([503, 'overloaded'])
  expect(refused.headers['retry-after']).toBe('2')
  expect((await server.app.inject('/healthy')).json()).toEqual({ number: 1 })
  for (let index = 0; index < 5; index++) {
    await expect.poll(() => work.begun.length).toBeGreaterThan(index)
    work.begun[index]?.resolve(index)
  }
  const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode)
  expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 200, 503, 503, 503])
  expect(work.begun).toHaveLength(5)
})

test('no more wait than will have their turn in time, and as many as may once requests are quick', async () => {
  const clock = new ManualClock()
  const turns = new Turns(clock, { running: 4, waiting: 100, waitMs: 2_200 })
  const { signal } = new AbortController()
  /** Asks 200 at once, each of which takes this time: how many are answered, and refused at once. */
  const askAll = async (takesMs: number) => {
    const found = { answered: 0, refused: 0, settled: 0 }
    const asked = Array.from({ length: 200 }, () =>
      turns
        .take(dataRead, everybody, signal, () => clock.sleep(takesMs))
        .then(() => found.answered++)
        .catch(() => {})
        .finally(() => found.settled++),
    )
    await new Promise((resolve) => setImmediate(resolve))
    found.refused = found.settled
    while (found.settled < asked.length) await clock.advance(takesMs)
    return [found.answered, found.refused]
  }
  // Nothing is known of the first ones, so a hundred wait.
  expect(await askAll(1)).toEqual([104, 96])
  for (let round = 0; round < 60; round++) await askAll(500)
  // Four at a time, half a second each: sixteen get their turn within the time, and two just miss it.
  expect(await askAll(500)).toEqual([20, 178])
  for (let round = 0; round < 20; round++) await askAll(1)
  expect(await askAll(1)).toEqual([104, 96])
})
