// Goal: what is refused costs its caller: of a caller with nothing left no body is read, and requests
// that are read and then refused are counted by address (D5).
// Method: the toolkit's example endpoints behind the real access, on a real database.
import { expect, test } from 'vitest'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import { openToAll } from '#http/request/access.ts'
import { openAccess, serve, servers } from '../support/accessServers.ts'
import { guarded } from '../support/guarded.ts'
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { exchange, startServer } from '../support/toolkitServer.ts'

const server = await serve(guarded)

const statusOf = async (path: string, headers: Readonly<Record<string, string>>) => {
  const response = await fetch(server.origin + path, { headers })
  await response.arrayBuffer()
  return response.status
}

test('a body is not read of whom nothing is left to, and a spent quota of one scope leaves others', async () => {
  const from = { 'x-forwarded-for': '203.0.113.90' }
  while ((await statusOf('/v1/rows', from)) !== 429);
  // It says that more will come, and waits for the answer.
  const head = ['POST /v1/things HTTP/1.1', 'Host: a', 'X-Forwarded-For: 203.0.113.90']
  const body = ['Content-Type: application/json', 'Content-Length: 60000', 'Connection: close']
  const { status } = await exchange(server.port, `${[...head, ...body].join('\r\n')}\r\n\r\n{"name":`)
  expect(status).toBe(429)
  expect(await statusOf('/openapi.json', from)).toBe(200)
})

test('requests that are read and then refused are counted apart', async () => {
  const send = async (address: string, body: string) => {
    const headers = { 'x-forwarded-for': address, 'content-type': 'application/json' }
    const response = await fetch(`${server.origin}/v1/things`, { method: 'POST', headers, body })
    const { error } = (await response.json()) as { error?: { message: string } }
    return { status: response.status, scope: response.headers.get('ratelimit-scope'), error }
  }
  const refusedAfter = async (address: string, body: string) => {
    for (let count = 0; ; count++) {
      const { status, scope, error } = await send(address, body)
      if (status === 429) return { count, scope, error }
      expect(status).toBe(400)
    }
  }
  const small = await refusedAfter('203.0.113.91', '{}')
  expect(small).toMatchObject({
    scope: 'refused',
    error: { message: expect.stringContaining('for refused requests, 120 units a minute') },
  })
  // A minute may end meanwhile; and what is refused is counted after its answer.
  expect([small.count >= 119, small.count < 260]).toEqual([true, true])
  expect((await send('203.0.113.93', '{"name":"a"}')).status).toBe(201)
  expect((await send('203.0.113.91', '{"name":"a"}')).status).toBe(429)
})

test('what is open to all answers whoever had too much refused', async () => {
  const health = rawEndpoint({
    path: '/health',
    summary: 'Whether it runs.',
    tag: 'Test',
    access: openToAll,
    produces: { 'text/plain': null },
    answer: async () => ({ kind: 'bytes', contentType: 'text/plain', body: 'ok' }),
  })
  const alone = await startServer([...examples, health], endlessRows, {
    access: openAccess(guarded),
    trustedProxies: ['127.0.0.1'],
  })
  servers.push(alone)
  const headers = { 'x-forwarded-for': '203.0.113.94', 'content-type': 'application/json' }
  const refuse = () => fetch(`${alone.origin}/v1/things`, { method: 'POST', headers, body: '{}' })
  while ((await refuse()).status !== 429);
  expect((await fetch(`${alone.origin}/health`, { headers })).status).toBe(200)
  expect((await fetch(`${alone.origin}/health?x=1`, { headers })).status).toBe(400)
})
