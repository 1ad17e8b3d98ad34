// Goal: a server with more requests than it can answer answers as many as it can and tells the rest
// at once to come back; what a supervisor asks is answered all the while.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open } from '#api/http/access.ts'
import { endpoint } from '#api/http/endpoint.ts'
import * as p from '#api/http/parameter.ts'
import * as s from '#api/http/schema.ts'
import { type RunningServer, startServer } from './toolkitServer.ts'

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
  access: open,
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
