// Goal: whatever arrives at the socket, the answer is the envelope or a closed connection. Method:
// raw bytes.
import { connect, createServer as createTcpServer } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer, listen } from '#api/server.ts'
import { SettingError } from '#errors.ts'
import { silentLogger } from '#telemetry.ts'
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { exchange, type RunningServer, startServer } from '../support/toolkitServer.ts'

let server: RunningServer
const warnings: string[] = []
beforeAll(async () => {
  const warn = (_facts: object, message: string) => void warnings.push(message)
  server = await startServer(examples, endlessRows, { log: { ...silentLogger, warn, error: warn } })
})
afterAll(() => server.app.close())

/** Begun before all else: the server waits for the end of headers while the other tests run. */
let endless: ReturnType<typeof exchange>
beforeAll(() => {
  endless = exchange(server.port, 'GET /v1/rows HTTP/1.1\r\nhost: x\r\n')
})

const close = 'connection: close\r\n\r\n'
const long = 'x'.repeat(70_000)

test.each([
  ['bytes that are no HTTP', 'hello\r\n\r\n', 400, 'request_invalid'],
  ['an unknown method', `FOO / HTTP/1.1\r\nhost: x\r\n${close}`, 400, 'request_invalid'],
  ['a header without colon', `GET / HTTP/1.1\r\nhost x\r\n${close}`, 400, 'request_invalid'],
  ['a missing Host', `GET /v1/rows HTTP/1.1\r\n${close}`, 400, 'request_invalid'],
  [
    'two lengths',
    `POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n${close}0\r\n\r\n`,
    400,
    'request_invalid',
  ],
  [
    'a negative length',
    `POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n${close}`,
    400,
    'request_invalid',
  ],
  [
    'headers of 20 KiB',
    `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(20_000)}\r\n${close}`,
    431,
    'headers_too_large',
  ],
  [
    '2,000 headers',
    `GET / HTTP/1.1\r\nhost: x\r\n${'a: bcdefghij\r\n'.repeat(2_000)}${close}`,
    431,
    'headers_too_large',
  ],
  ['a URL of 9 KiB', `GET /${'a'.repeat(9_000)} HTTP/1.1\r\nhost: x\r\n${close}`, 414, 'url_too_long'],
  ['a bad percent escape', `GET /%f HTTP/1.1\r\nhost: x\r\n${close}`, 400, 'request_invalid'],
  ['an absolute target', `GET http://x/v1/none HTTP/1.1\r\nhost: x\r\n${close}`, 404, 'not_found'],
  ['OPTIONS of everything', `OPTIONS * HTTP/1.1\r\nhost: x\r\n${close}`, 404, 'not_found'],
  [
    'an upgrade',
    `GET /nothing HTTP/1.1\r\nhost: x\r\nupgrade: h2c\r\nconnection: upgrade, close\r\n\r\n`,
    404,
    'not_found',
  ],
  [
    'an unknown expectation',
    `GET /nothing HTTP/1.1\r\nhost: x\r\nexpect: pancakes\r\n${close}`,
    404,
    'not_found',
  ],
  [
    'a body over its limit, announced',
    `POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 70000\r\n${close}${long}`,
    413,
    'body_too_large',
  ],
  [
    'a body over its limit, in chunks',
    `POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n${close}11170\r\n${long}\r\n0\r\n\r\n`,
    413,
    'body_too_large',
  ],
  [
    'chunk extensions without end',
    `POST /v1/things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n${close}1;${long}\r\n`,
    413,
    'body_too_large',
  ],
])('%s', async (_title, bytes, status, code) => {
  const response = await exchange(server.port, bytes)
  expect(response.status).toBe(status)
  const body = JSON.parse(response.body) as { error: { code: string }; requestId: string }
  expect(body.error.code).toBe(code)
  expect(response.headers.get('svc-request-id')).toBe(body.requestId)
  expect(response.headers.get('cache-control')).toBe('no-store')
})

test.each([
  ['announced', (length: number) => `content-length: ${length}\r\n\r\n`, ''],
  [
    'in one chunk',
    (length: number) => `transfer-encoding: chunked\r\n\r\n${length.toString(16)}\r\n`,
    '\r\n0\r\n\r\n',
  ],
] as const)(
  'a client that sends 8 MB before it looks, %s, finds its answer, and then the end',
  async (_title, framing, end) => {
    const length = 8_000_000
    const head = `POST /v1/things HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\ncontent-type: application/json\r\n`
    const socket = connect(server.port, '127.0.0.1')
    socket.pause()
    await new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.write(head + framing(length))
      socket.write(Buffer.alloc(length, 'x'))
      socket.write(end, resolve)
    })
    let received = ''
    for await (const chunk of socket.setEncoding('utf8')) received += chunk
    expect(received).toMatch(/^HTTP\/1.1 413 .*"body_too_large".*}$/s)
  },
)

test('a client that sends without end is answered at once and cut after a while', async () => {
  const socket = connect(server.port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => {})
  socket.write('POST /v1/things HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\n')
  socket.write('content-type: application/json\r\ncontent-length: 900000000\r\n\r\n')
  const answer = await new Promise((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())))
  expect(answer).toMatch(/^HTTP\/1.1 413 .*connection: close/is)
  const megabyte = Buffer.alloc(1_000_000)
  const send = () => {
    while (!socket.destroyed && socket.write(megabyte));
  }
  socket.on('drain', send)
  send()
  await closed
  expect(socket.bytesWritten).toBeLessThan(900_000_000)
})

test('HTTP/1.0 without Host is served', async () => {
  expect((await exchange(server.port, 'GET /v1/rows/5 HTTP/1.0\r\n\r\n')).status).toBe(200)
})

test.each(['/v1/rows/5#limit=7', '/v1/rows/5?a=1#b', '/#', '/nothing#'])(
  'a target with a fragment is refused: %s',
  async (target) => {
    const { status, body } = await exchange(server.port, `GET ${target} HTTP/1.0\r\n\r\n`)
    expect([status, body]).toEqual([400, expect.stringContaining('fragment')])
  },
)

test.each(['Authorization', 'authorization'])(
  'two credentials in two lines are refused: %s',
  async (name) => {
    const both = `authorization: Bearer one\r\n${name}: Payment two\r\n`
    const { status, body } = await exchange(
      server.port,
      `GET /v1/rows/5 HTTP/1.1\r\nhost: x\r\n${both}${close}`,
    )
    expect([status, body]).toEqual([400, expect.stringContaining('Authorization')])
  },
)

test('a client that leaves in the middle of its body is no failure of ours', async () => {
  const before = warnings.length
  const left = new Promise((resolve) =>
    server.app.server.once('connection', (accepted) => accepted.once('close', resolve)),
  )
  const begun = new Promise((resolve) => server.app.server.once('request', resolve))
  const socket = connect(server.port, '127.0.0.1')
  socket.write('POST /v1/things HTTP/1.1\r\nhost: x\r\n')
  socket.write('content-type: application/json\r\ncontent-length: 100\r\n\r\n{')
  await begun
  socket.destroy()
  await left
  // A request after it is answered after whatever became of the first.
  await exchange(server.port, `GET /v1/rows/5 HTTP/1.1\r\nhost: x\r\n${close}`)
  expect(warnings.slice(before)).toEqual([])
})

test('no request, however odd, meets a defect or leaves the envelope', async () => {
  const name = fc.oneof(
    fc.constantFrom('limit', 'cursor', 'page', 'order', 'include', 'address', 'chainId'),
    fc.string(),
  )
  const value = fc.oneof(
    fc.constantFrom('5', 'desc', 'memo', '0x', '-1', '1e9'),
    fc.string({ unit: 'binary' }),
  )
  const query = fc.array(fc.tuple(name, value), { maxLength: 6 })
  const path = fc.oneof(
    fc.constantFrom('/v1/rows', '/v1/own/rows', '/v1/things', '/rpc/testnet', '/text'),
    fc.string({ unit: 'binary' }).map((text) => `/v1/rows/${encodeURIComponent(text)}`),
    fc.webPath(),
  )
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT')
  const body = fc.oneof(fc.json(), fc.string(), fc.constant(undefined))
  await fc.assert(
    fc.asyncProperty(path, query, method, body, async (url, pairs, verb, payload) => {
      const response = await server.app.inject({
        method: verb,
        url: `${url.startsWith('/') ? '' : '/'}${url}`,
        query: Object.fromEntries(pairs),
        ...(payload !== undefined &&
          verb !== 'GET' && { payload, headers: { 'content-type': 'application/json' } }),
      })
      expect(response.statusCode).toBeLessThan(500)
      expect(response.headers['svc-request-id']).toMatch(/^req_/)
      if (response.statusCode >= 400 && verb !== 'HEAD') {
        expect(response.json()).toMatchObject({ error: {}, requestId: response.headers['svc-request-id'] })
      }
    }),
    { numRuns: 1_000 },
  )
})

test('a port in use is a setting that cannot work', async () => {
  const other = createTcpServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const address = other.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const options = { endpoints: examples, services: endlessRows }
  const second = await startServer(options.endpoints, options.services)
  await second.app.close()
  const app = await createServer({ ...second.options, ...options })
  await expect(listen(app, '127.0.0.1', port)).rejects.toThrow(SettingError)
  await expect(listen(app, '127.0.0.1', port)).rejects.toMatchObject({ setting: 'PORT' })
  await app.close()
  other.close()
})

test('a client that never ends its headers is cut with 408', async () => {
  const response = await endless
  expect(response.status).toBe(408)
  expect(JSON.parse(response.body)).toMatchObject({ error: { code: 'request_incomplete' } })
})
