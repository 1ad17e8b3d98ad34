// Goal: work stops when its time is over or its client has gone, and the answer does not wait for
// work that ignores it.
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoint } from '#http/endpoint.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { ManualClock, type RunningServer, startServer } from '../support/toolkitServer.ts'

/** The endpoints' reports of the work they started. */
interface Probe {
  started: PromiseWithResolvers<AbortSignal>
}

const work = endpoint({
  path: '/v1/chores/{kind}',
  summary: 'Work without end.',
  params: { kind: p.oneOf('stubborn', 'obedient', 'quick') },
  response: s.object({}),
  read: async ({ path, signal }, probe: Probe): Promise<object> => {
    probe.started.resolve(signal)
    if (path.kind === 'quick') return {}
    return new Promise((_resolve, reject) => {
      if (path.kind === 'obedient')
        signal.addEventListener('abort', () => reject(new Error('statement cancelled')))
    })
  },
  present: () => ({}),
  cache: 'none',
})

const brief = rawEndpoint({
  path: '/brief',
  summary: 'A download with a short time.',
  deadlineMs: 1_000,
  produces: { 'text/plain': null },
  answer: ({ signal }, probe: Probe) => {
    probe.started.resolve(signal)
    const body = new PassThrough()
    body.write('beginning')
    return { kind: 'bytes', contentType: 'text/plain', body }
  },
})

const clock = new ManualClock()
const probe: Probe = { started: Promise.withResolvers() }
let server: RunningServer
beforeAll(async () => {
  server = await startServer([work, brief], probe, { clock })
})
afterAll(() => server.app.close())

test.each(['stubborn', 'obedient'])(
  '%s work is cut after 60 s with 504 and its signal aborted',
  async (kind) => {
    probe.started = Promise.withResolvers()
    const response = fetch(`${server.origin}/v1/chores/${kind}`)
    const signal = await probe.started.promise
    await clock.advance(59_000)
    expect(signal.aborted).toBe(false)
    await clock.advance(1_500)
    expect(signal.aborted).toBe(true)
    expect((await response).status).toBe(504)
    expect(await (await response).json()).toMatchObject({ error: { code: 'request_timeout' } })
  },
)

test('a client that goes away aborts its work at once', async () => {
  probe.started = Promise.withResolvers()
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /v1/chores/obedient HTTP/1.1\r\nhost: x\r\n\r\n')
  const signal = await probe.started.promise
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
  socket.destroy()
  await aborted
  expect(signal.reason).toMatchObject({ code: 'client_gone' })
})

test('the signal of a request that was answered stays quiet', async () => {
  probe.started = Promise.withResolvers()
  expect((await fetch(`${server.origin}/v1/chores/quick`)).status).toBe(200)
  const signal = await probe.started.promise
  await clock.advance(61_000)
  expect(signal.aborted).toBe(false)
})

test('a download that has begun is cut when its time is over', async () => {
  probe.started = Promise.withResolvers()
  const response = await fetch(`${server.origin}/brief`, { headers: { 'accept-encoding': 'identity' } })
  expect(response.status).toBe(200)
  const signal = await probe.started.promise
  const cut = expect(response.text()).rejects.toThrow()
  await clock.advance(1_500)
  expect(signal.aborted).toBe(true)
  await cut
})

test('a download whose first bytes still wait to be compressed is cut too', async () => {
  probe.started = Promise.withResolvers()
  const response = fetch(`${server.origin}/brief`, { headers: { 'accept-encoding': 'gzip' } })
  const text = response.then((answer) => answer.text()).catch(() => 'cut')
  await probe.started.promise
  await clock.advance(1_500)
  expect(await text).toBe('cut')
})
