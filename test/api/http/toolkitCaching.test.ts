// Goal: what caches and clients see: cache classes, strong tags, 304, HEAD, compression, freshness.
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Access, anonymous } from '#http/request/access.ts'
import type { Freshness } from '#http/request/freshness.ts'
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { exchange, ManualClock, type RunningServer, startServer } from '../support/toolkitServer.ts'

/** Counts everybody and lets nobody go over. */
const counting: Access = {
  identify: () => anonymous,
  admit: () => ({ kind: 'admitted', headers: { 'RateLimit-Limit': '10', 'RateLimit-Scope': 'data:read' } }),
}

const clock = new ManualClock()
let visible = Promise.withResolvers<void>()
const freshness: Freshness = {
  read: () => ({ indexedBlock: 100, finalizedBlock: 90, finality: 'proved', headBlock: 103 }),
  waitForBlock: (_chain, _block, signal) => {
    signal.addEventListener('abort', () => visible.reject(signal.reason))
    return visible.promise
  },
}

let server: RunningServer
beforeAll(async () => {
  server = await startServer(examples, endlessRows, { access: counting, freshness, clock })
})
afterAll(() => server.app.close())

const read = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(server.origin + path, { method, headers: { 'accept-encoding': 'identity', ...headers } })

test.each([
  ['/v1/rows', 'private, max-age=10, stale-while-revalidate=30'],
  ['/v1/rows/5', 'private, max-age=86400, stale-while-revalidate=604800'],
  ['/v1/rows/99', 'no-store'],
])('%s has the cache class it names', async (path, cacheControl) => {
  const response = await read(path)
  expect(response.headers.get('cache-control')).toBe(cacheControl)
  expect(response.headers.has('etag')).toBe(cacheControl !== 'no-store')
})

test('what depends on the chain of a key is kept apart for each key, the 304 too', async () => {
  for (const path of ['/v1/rows', '/v1/rows/5']) {
    const found = await read(path)
    const headers = { 'if-none-match': found.headers.get('etag') ?? '' }
    const answers = [found, await read(path, headers), await read(path, headers, 'HEAD')]
    for (const answer of answers) expect(answer.headers.get('vary')).toMatch(/authorization, svc-api-key/)
  }
  expect((await read('/text')).headers.get('vary') ?? '').not.toContain('svc-api-key')
})

test('a client that has the body gets 304: no body, same tag, no quota headers', async () => {
  const first = await read('/v1/rows/5')
  const tag = first.headers.get('etag') ?? ''
  expect(tag).toMatch(/^"[^"]+"$/)
  expect(first.headers.get('ratelimit-limit')).toBe('10')

  const second = await read('/v1/rows/5', { 'if-none-match': tag })
  expect(second.status).toBe(304)
  expect(await second.text()).toBe('')
  expect(second.headers.get('etag')).toBe(tag)
  expect(second.headers.get('cache-control')).toBe(first.headers.get('cache-control'))
  expect(second.headers.get('ratelimit-limit')).toBeNull()
  expect(second.headers.get('content-type')).toBeNull()

  expect((await read('/v1/rows/6', { 'if-none-match': tag })).status).toBe(200)
})

test.each(['/v1/rows', '/v1/rows/5', '/text', '/openapi.json'])(
  'HEAD %s with the tag the client has is the 304 that GET is',
  async (path) => {
    const tag = (await read(path)).headers.get('etag') ?? ''
    expect(tag).not.toBe('')
    const shown = async (method: string) => {
      const { status, headers } = await read(path, { 'if-none-match': tag }, method)
      const names = ['etag', 'cache-control', 'content-type', 'content-length', 'ratelimit-limit']
      return [status, ...names.map((name) => headers.get(name))]
    }
    const got = await shown('GET')
    expect(got[0]).toBe(304)
    expect(await shown('HEAD')).toEqual(got)
  },
)

test('HEAD has the headers of GET and no body', async () => {
  for (const path of ['/v1/rows/5', '/v1/rows?address=bad', '/nothing', '/text']) {
    const [got, head] = await Promise.all([read(path), read(path, {}, 'HEAD')])
    expect(head.status).toBe(got.status)
    expect(await head.text()).toBe('')
    for (const name of ['content-type', 'etag', 'cache-control']) {
      expect(head.headers.get(name)).toBe(got.headers.get(name))
    }
    if (got.status === 200) {
      expect(Number(head.headers.get('content-length'))).toBe((await got.arrayBuffer()).byteLength)
    }
  }
  const raw = await exchange(server.port, 'HEAD /v1/rows/5 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  expect(raw.body).toBe('')
})

test('a compressed body has its own tag, and either tag is known again', async () => {
  const plain = await read('/text')
  const packed = await exchange(
    server.port,
    'GET /text HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n',
  )
  const tag = packed.headers.get('etag') ?? ''
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(packed.headers.get('vary')).toContain('accept-encoding')
  expect(tag).toBe(`${plain.headers.get('etag')?.slice(0, -1)}-gzip"`)
  for (const known of [tag, plain.headers.get('etag') ?? '']) {
    expect((await read('/text', { 'accept-encoding': 'gzip', 'if-none-match': known })).status).toBe(304)
  }
  // The transport's view: what arrives unpacks to what was sent.
  const response = await server.app.inject({ url: '/text', headers: { 'accept-encoding': 'gzip' } })
  expect(gunzipSync(response.rawPayload).toString()).toBe(await plain.text())
})

test('small bodies are not compressed', async () => {
  const response = await read('/v1/rows/5', { 'accept-encoding': 'gzip, br, zstd' })
  expect(response.headers.get('content-encoding')).toBeNull()
})

test('answers with chain data say how fresh they are, others do not', async () => {
  const data = await read('/v1/rows')
  expect(data.headers.get('svc-indexed-block')).toBe('100')
  expect(data.headers.get('svc-finalized-block')).toBe('90')
  expect(data.headers.get('svc-finality')).toBe('proved')
  expect(data.headers.get('svc-lag-blocks')).toBe('3')
  expect(data.headers.get('svc-chain-local')).toBeNull()
  expect((await read('/text')).headers.get('svc-indexed-block')).toBeNull()
})

test('minBlock that is reached does not wait', async () => {
  expect((await read('/v1/rows?minBlock=100')).status).toBe(200)
})

test('minBlock waits until the block is visible', async () => {
  visible = Promise.withResolvers<void>()
  const response = read('/v1/rows?minBlock=101')
  visible.resolve()
  expect((await response).status).toBe(200)
})

test('minBlock that is not reached within 5 s is 409', async () => {
  visible = Promise.withResolvers<void>()
  const called = Promise.withResolvers<void>()
  const waitForBlock = freshness.waitForBlock
  const stop = () => Object.assign(freshness, { waitForBlock })
  Object.assign(freshness, {
    waitForBlock: (...call: Parameters<Freshness['waitForBlock']>) => {
      called.resolve()
      return waitForBlock(...call)
    },
  })
  const response = read('/v1/rows?minBlock=101')
  await called.promise
  await clock.advance(5_000)
  expect((await response).status).toBe(409)
  expect(await (await response).json()).toMatchObject({ error: { code: 'block_not_reached' } })
  stop()
})
