// Goal: a stream is a request like any other: it is identified, counted and answered with RateLimit
// headers, and one key cannot take the places of all. Method: keys by query parameter over the real
// server and the real stream.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS_PER_CALLER_MAX, QUERIES_MAX } from '#api/live/LiveHub.ts'
import { ApiError } from '#http/errors.ts'
import { type Access, anonymous } from '#http/request/access.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'

const access: Access = {
  identify: ({ queryKey: key }) => {
    const queryKey = typeof key === 'string' ? key : undefined
    if (queryKey === 'unknown') throw new ApiError('api_key_invalid')
    return queryKey === undefined ? anonymous : { ...anonymous, id: queryKey, kind: 'key' }
  },
  admit: ({ id }, _request, { scope }, units) => {
    if (id === 'spent')
      throw new ApiError('rate_limit_exceeded', undefined, { headers: { 'retry-after': '60' } })
    const told = { 'ratelimit-scope': `${scope}`, 'ratelimit-remaining': '7', 'x-units': `${units}` }
    return { kind: 'admitted', headers: told }
  },
}

describe('limits of live queries', () => {
  let api: ChainApi
  const open = new Set<AbortController>()
  beforeAll(async () => {
    api = await openChainApi({ server: { access } })
    await api.append(recordedBatches('tempo-dev-2k', 10).slice(0, 3))
  })
  afterAll(async () => {
    for (const stream of open) stream.abort()
    await api?.close()
  })

  /** The text that a stream has told until it ended. */
  const told = async ({ response }: { response: Response }) => await response.text()

  async function stream(
    key: string,
    query = 'SELECT num FROM blocks',
  ): Promise<{ response: Response; end: () => void }> {
    const stop = new AbortController()
    open.add(stop)
    const sql = encodeURIComponent(query)
    const response = await fetch(`${api.server.origin}/v1/indexer/query?live=true&sql=${sql}${key}`, {
      signal: stop.signal,
    })
    return { response, end: () => stop.abort() }
  }

  test('a stream carries the RateLimit headers of its admission', async () => {
    const { response, end } = await stream('&key=one')
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    expect(response.headers.get('ratelimit-scope')).toBe('indexer:query')
    expect(response.headers.get('ratelimit-remaining')).toBe('7')
    end()
  })

  test('an export counts as five queries, by GET and POST', async () => {
    const sql = 'SELECT num FROM blocks'
    const ask = (
      limit: number,
      init: RequestInit = {},
      more = `?${new URLSearchParams({ sql, format: 'csv' })}`,
    ) => fetch(`${api.server.origin}/v1/indexer/query${more}${more && `&limit=${limit}`}`, init)
    const post = (limit: number) =>
      ask(
        limit,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ sql, format: 'csv', limit }),
        },
        '',
      )
    const answers = await Promise.all([ask(100), ask(20_000), post(100), post(20_000)])
    expect(answers.map(({ status, headers }) => [status, headers.get('x-units')])).toEqual([
      [200, '1'],
      [200, '5'],
      [200, '1'],
      [200, '5'],
    ])
  })

  test.each([
    ['&key=unknown', 401, 'api_key_invalid'],
    ['&key=spent', 429, 'rate_limit_exceeded'],
  ])('%s opens none: %i', async (key, status, code) => {
    const { response } = await stream(key)
    const body = JSON.parse(await response.text())
    expect([response.status, body.ok, body.error.code]).toEqual([status, false, code])
  })

  test('a key has so many streams and no more, others have theirs, and an ended one makes room', async () => {
    const mine = await Promise.all(Array.from({ length: CLIENTS_PER_CALLER_MAX }, () => stream('&key=many')))
    expect(mine.map(({ response }) => response.status)).toEqual(mine.map(() => 200))
    const { response: refused } = await stream('&key=many')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    expect(JSON.parse(await refused.text())).toMatchObject({
      ok: false,
      error: { code: 'rate_limit_exceeded' },
    })
    expect((await stream('&key=other')).response.status).toBe(200)
    expect((await stream('')).response.status).toBe(200)
    const before = api.live.size.clients
    mine[0]?.end()
    await expect.poll(() => api.live.size.clients).toBeLessThan(before)
    expect((await stream('&key=many')).response.status).toBe(200)
  })

  test('so many different queries run and no more; a known one is joined, and an ended one makes room', async () => {
    for (const stop of open) stop.abort()
    await expect.poll(() => api.live.size).toEqual({ queries: 0, clients: 0 })
    const different = (index: number) => `SELECT num + ${index} AS n FROM blocks`
    const streams = []
    for (let index = 0; index < QUERIES_MAX; index++) streams.push(await stream('', different(index)))
    expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200))
    const { response: refused } = await stream('', different(QUERIES_MAX))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect(JSON.parse(await refused.text())).toMatchObject({ ok: false, error: { code: 'overloaded' } })
    expect((await stream('', different(0))).response.status).toBe(200)
    streams[1]?.end()
    await expect.poll(() => api.live.size.queries).toBe(QUERIES_MAX - 1)
    expect((await stream('', different(QUERIES_MAX))).response.status).toBe(200)
  })

  test('where all places are taken, a caller that has none gets one of the caller that holds the most', async () => {
    for (const stop of open) stop.abort()
    await expect.poll(() => api.live.size).toEqual({ queries: 0, clients: 0 })
    const holders = ['one', 'two', 'three', 'four']
    const held = []
    for (let index = 0; index < QUERIES_MAX; index++)
      held.push(await stream(`&key=${holders[index % 4]}`, `SELECT num + ${index} AS n FROM blocks`))
    const { response: refused } = await stream('&key=one', 'SELECT num - 1 AS n FROM blocks')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    const late = Array.from({ length: 12 }, (_, index) => `SELECT num - ${index + 2} AS n FROM blocks`)
    // Answers that nothing refers to are closed by fetch.
    const taken = []
    for (const sql of late) taken.push(await stream('&key=late', sql))
    expect(taken.map(({ response }) => response.status)).toEqual(late.map(() => 200))
    expect(api.live.size.queries).toBe(QUERIES_MAX)
    const last = held.slice(-4)
    for (const ended of await Promise.all(last.map(told)))
      expect(ended).toContain(
        '"error":{"code":"sql_busy","message":"the place of this query is another’s now"}',
      )
    const { response: another } = await stream('&key=late', 'SELECT num - 20 AS n FROM blocks')
    expect(another.status).toBe(503)
    expect(taken.map(({ response }) => response.bodyUsed)).toEqual(late.map(() => false))
  })
})
