// Goal: requests for the same page at the same time cost one read, and each still has an answer of
// its own.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ApiError } from '#http/errors.ts'
import { listEndpoint } from '#http/listEndpoint.ts'
import * as s from '#http/schema.ts'
import { type RunningServer, startServer } from '../support/toolkitServer.ts'

interface Reads {
  begun: { readonly signal: AbortSignal; readonly done: PromiseWithResolvers<number> }[]
  /** Resolves when this many have begun. */
  waiting: { readonly count: number; readonly resolve: () => void } | null
}

const numbers = listEndpoint({
  path: '/v1/numbers',
  summary: 'Numbers, when the test gives them.',
  item: s.object({ number: s.count }),
  list: async ({ page }, reads: Reads) => {
    const done = Promise.withResolvers<number>()
    reads.begun.push({ signal: page.signal, done })
    if (reads.begun.length === reads.waiting?.count) reads.waiting.resolve()
    return { rows: [await done.promise], next: null }
  },
  present: (number) => ({ number }),
})

const reads: Reads = { begun: [], waiting: null }
const freshness = { indexedBlock: 7, finalizedBlock: 5, headBlock: 7, version: 1 }
let server: RunningServer
beforeAll(async () => {
  server = await startServer([numbers], reads, {
    freshness: { read: () => freshness, waitForBlock: async () => {} },
  })
})
beforeEach(() => {
  reads.begun = []
  freshness.indexedBlock = 7
})
afterAll(() => server.app.close())

const ask = (query = '') => server.app.inject(`/v1/numbers${query}`)
const begun = (count: number) =>
  reads.begun.length >= count
    ? Promise.resolve()
    : new Promise<void>((resolve) => {
        reads.waiting = { count, resolve }
      })

test('requests for one URL share a read, its tag and nothing else', async () => {
  const answers = [ask('?limit=5'), ask('?limit=5'), ask('?limit=6')]
  await begun(2)
  for (const [index, { done }] of reads.begun.entries()) done.resolve(index)
  const [first, second, other] = await Promise.all(answers)
  expect(reads.begun).toHaveLength(2)
  expect(first?.json()).toEqual({ data: [{ number: 0 }], nextCursor: null })
  expect(second?.body).toBe(first?.body)
  expect(second?.headers['etag']).toBe(first?.headers['etag'])
  expect(second?.headers['svc-request-id']).not.toBe(first?.headers['svc-request-id'])
  expect(other?.json()).toEqual({ data: [{ number: 1 }], nextCursor: null })
})

test('no request gets a read that began before a revert, though the heights are those of before', async () => {
  const before = ask()
  await begun(1)
  freshness.version++
  const after = ask()
  await begun(2)
  for (const [index, { done }] of reads.begun.entries()) done.resolve(index)
  expect((await before).json().data).toEqual([{ number: 0 }])
  expect((await after).json().data).toEqual([{ number: 1 }])
})

test('no request gets a read that began before the block it is told of', async () => {
  const before = ask()
  await begun(1)
  freshness.indexedBlock = 8
  const after = ask()
  await begun(2)
  for (const [index, { done }] of reads.begun.entries()) done.resolve(index)
  expect((await before).json()).toMatchObject({ data: [{ number: 0 }] })
  expect((await after).json()).toMatchObject({ data: [{ number: 1 }] })
  expect((await after).headers['svc-indexed-block']).toBe('8')
})

test('a read refused to the caller that began it is begun once more for the others', async () => {
  const refused = ask()
  await begun(1)
  const joined = [ask(), ask()]
  await new Promise((resolve) => setImmediate(resolve))
  reads.begun[0]?.done.reject(new ApiError('overloaded'))
  await begun(2)
  reads.begun[1]?.done.resolve(1)
  expect((await refused).statusCode).toBe(503)
  for (const answer of await Promise.all(joined)) expect(answer.json().data).toEqual([{ number: 1 }])
  expect(reads.begun).toHaveLength(2)
})

test('a client that goes does not take the read from others, the last one ends it', async () => {
  const gone = [new AbortController(), new AbortController()]
  const asked = new Promise<void>((resolve) => {
    let requests = 0
    server.app.server.on('request', () => ++requests === gone.length && resolve())
  })
  const answers = gone.map(({ signal }) =>
    fetch(`${server.origin}/v1/numbers`, { signal }).then(
      () => 'answered',
      () => 'gone',
    ),
  )
  await asked
  await begun(1)
  const aborted = new Promise((resolve) => reads.begun[0]?.signal.addEventListener('abort', resolve))
  gone[0]?.abort()
  expect(await answers[0]).toBe('gone')
  gone[1]?.abort()
  await aborted
  expect(await answers[1]).toBe('gone')
  expect(reads.begun).toHaveLength(1)
})
