import { createServer, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemRuntime } from '#runtime/runtime.ts'
import { Egress } from './Egress.ts'
import { EgressFailedError, EgressRefusedError } from './errors.ts'
import { post, readRetryAfterMs } from './post.ts'

describe('a post', () => {
  let server: Server
  let port: number
  const { clock } = systemRuntime()
  const { signal } = new AbortController()
  const egress = new Egress()

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const [, status = ''] = (request.url ?? '').split('/')
      if (status === 'hangup') return void response.destroy()
      const sent = `${request.method} ${request.headers['x-signed']} ${await text(request)}`
      response.writeHead(Number(status), { location: '/200', 'retry-after': '7', 'x-sent': sent })
      response.end('a'.repeat(100_000))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const bound = server.address()
    port = typeof bound === 'object' && bound ? bound.port : 0
  })
  afterAll(() => server.close())

  const send = (place: string, purpose: 'alarm' | 'webhook' = 'alarm') =>
    post(
      egress,
      { url: `http://127.0.0.1:${port}/${place}`, headers: { 'x-signed': 'so' }, body: 'body', purpose },
      clock,
      signal,
    )

  it('is taken with any answer of 2xx, however long the answer', async () => {
    expect(await send('204')).toMatchObject({ succeeded: true, responseStatus: 204, error: null })
    expect(await send('200')).toMatchObject({ succeeded: true, responseStatus: 200, cause: null })
  })

  it('follows no redirect, and tells what the receiver asked for', async () => {
    expect(await send('307')).toMatchObject({
      succeeded: false,
      responseStatus: 307,
      error: 'The endpoint answered 307: redirects are not followed.',
    })
    expect(await send('503')).toMatchObject({ succeeded: false, retryAfterMs: 7_000, isGone: false })
    expect(await send('410')).toMatchObject({ succeeded: false, isGone: true })
  })

  it('says why nothing was answered to the operator, and to nobody else', async () => {
    const gone = await send('hangup')
    expect(gone).toMatchObject({ responseStatus: null, responseMs: null, retryAfterMs: null })
    expect(gone.error).toBe('The endpoint could not be reached.')
    expect(gone.cause).toBeInstanceOf(EgressFailedError)
  })

  it('goes to this machine for what the operator named alone', async () => {
    const refused = await send('204', 'webhook')
    expect(refused).toMatchObject({ succeeded: false, error: 'The endpoint could not be reached.' })
    expect(refused.cause).toBeInstanceOf(EgressRefusedError)
  })

  it('reads Retry-After in seconds and as a date', () => {
    const now = Date.UTC(2026, 0, 1)
    expect(readRetryAfterMs('120', now)).toBe(120_000)
    expect(readRetryAfterMs('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000)
    expect(readRetryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0)
    expect([readRetryAfterMs(undefined, now), readRetryAfterMs('soon', now)]).toEqual([null, null])
  })
})
