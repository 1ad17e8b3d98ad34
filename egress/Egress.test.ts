import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Egress, type EgressRequest, egressBudgets } from './Egress.ts'
import { EgressFailedError, EgressRefusedError } from './errors.ts'
import { isPublicAddress } from './publicAddress.ts'

describe('a public address', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '223.255.255.254',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('is %s', (address) => expect(isPublicAddress(address)).toBe(true))

  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.0.1', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.0.0.1', '192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
    ...[
      '::',
      '::1',
      'fe80::1',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '::ffff:127.0.0.1',
      '::ffff:1.1.1.1',
      '64:ff9b::7f00:1',
    ],
    ...['2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', 'localhost', ''],
  ])('is not %s', (address) => expect(isPublicAddress(address)).toBe(false))
})

/** Far above what it is packed into, and packed within the time that a picture has. */
const PACKED_BYTES = 100_000

describe('egress', () => {
  let server: Server
  let port: number
  let asked: string[]
  let held: ServerResponse[]
  const { signal } = new AbortController()

  beforeAll(async () => {
    asked = []
    held = []
    server = createServer((request, response) => {
      asked.push(request.url ?? '')
      answer(request, response, held)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const bound = server.address()
    port = typeof bound === 'object' && bound ? bound.port : 0
  })
  afterAll(() => server.close())

  const trusting = new Egress({ isAllowed: () => true, protocols: ['http:'], ports: null })
  const get = (egress: Egress, path: string, asking: Partial<EgressRequest> = {}, host = '127.0.0.1') =>
    egress.fetch({ url: `http://${host}:${port}${path}`, purpose: 'logo', bytesMax: 100, signal, ...asking })

  it('gives status, content type, headers and body', async () => {
    expect(await get(trusting, '/picture')).toMatchObject({
      status: 200,
      contentType: 'image/png',
      headers: { 'x-told': 'so' },
      body: Buffer.from('picture'),
    })
  })

  it('sends method, headers and body', async () => {
    const headers = { 'content-type': 'application/json', authorization: 'Payment abc' }
    const sent = await get(trusting, '/echo', { method: 'POST', headers, body: '{"a":1}', bytesMax: 1_000 })
    expect(JSON.parse(sent.body.toString())).toEqual({
      method: 'POST',
      type: 'application/json',
      authorization: 'Payment abc',
      host: `127.0.0.1:${port}`,
      body: '{"a":1}',
    })
  })

  it.each([
    { host: 'elsewhere' },
    { 'Content-Length': '3' },
    { 'transfer-encoding': 'chunked' },
    { 'x-a': 'b\r\nx-c: d' },
    { 'x a': 'b' },
  ] as Record<string, string>[])('sends no headers that frame or split a request: %o', async (headers) => {
    await expect(get(trusting, '/echo', { headers })).rejects.toMatchObject({ reason: 'header' })
  })

  it('follows no redirect', async () => {
    expect((await get(trusting, '/away')).status).toBe(302)
    expect(asked).not.toContain('/picture?followed')
  })

  it('refuses an answer that is longer than asked for', async () => {
    await expect(get(trusting, '/picture', { bytesMax: 6 })).rejects.toThrow(EgressRefusedError)
  })

  it.each(['gzip', 'br'])('reads %s, and counts its bytes decompressed', async (encoding) => {
    const whole = await get(trusting, `/packed/${encoding}`, { bytesMax: PACKED_BYTES })
    expect(whole.body.length).toBe(PACKED_BYTES)
    await expect(get(trusting, `/packed/${encoding}`, { bytesMax: PACKED_BYTES - 1 })).rejects.toMatchObject({
      reason: 'tooLong',
    })
  })

  it.each(['/packed/zip', '/twice'])('refuses an encoding it does not read: %s', async (path) => {
    await expect(get(trusting, path)).rejects.toMatchObject({ reason: 'encoding' })
  })

  it('says when nobody answers, and when what is packed is broken', async () => {
    await expect(get(trusting, '/silent')).rejects.toThrow(EgressFailedError)
    await expect(get(trusting, '/broken')).rejects.toThrow(EgressFailedError)
  })

  it('lets requests above the budget wait, and refuses those above the queue; other purposes go on', async () => {
    const egress = new Egress({ isAllowed: () => true, protocols: ['http:'], ports: null })
    const { activeMax, waitingMax } = egressBudgets.logo
    const waiting = Array.from({ length: activeMax + waitingMax }, () => get(egress, '/held'))
    await expect(get(egress, '/held')).rejects.toMatchObject({ reason: 'busy' })
    expect((await get(egress, '/picture', { purpose: 'probe' })).status).toBe(200)
    const releasing = releaseUntilDone(held, waiting)
    const answers = await Promise.all(waiting)
    await releasing
    expect(answers.map(({ status }) => status)).toEqual(waiting.map(() => 200))
  })

  it('a request given up while it waits is not sent', async () => {
    const egress = new Egress({ isAllowed: () => true, protocols: ['http:'], ports: null })
    const first = Array.from({ length: egressBudgets.logo.activeMax }, () => get(egress, '/held'))
    const gone = new AbortController()
    const late = get(egress, '/late', { signal: gone.signal })
    gone.abort(new Error('gone'))
    await expect(late).rejects.toThrow('gone')
    await releaseUntilDone(held, first)
    expect(asked).not.toContain('/late')
  })

  it('calls an origin of this machine only where it is one of ours, by address', async () => {
    const egress = new Egress({ isLocalOrigin: (origin) => origin.endsWith(`:${port}`) })
    expect((await get(egress, '/picture')).status).toBe(200)
    await expect(get(egress, '/picture', {}, 'localhost')).rejects.toThrow(EgressRefusedError)
    const other = { url: `http://127.0.0.1:${port === 1 ? 2 : 1}/` }
    await expect(get(egress, '/', other)).rejects.toThrow(EgressRefusedError)
  })

  it.each(['127.0.0.1', 'localhost', '[::1]', '0x7f000001', '2130706433', '[::ffff:127.0.0.1]'])(
    'connects to no address of this machine named %s',
    async (host) => {
      const before = asked.length
      await expect(
        get(new Egress({ protocols: ['http:'], ports: null }), '/picture', {}, host),
      ).rejects.toThrow(EgressRefusedError)
      expect(asked.length).toBe(before)
    },
  )

  it.each([
    'http://example.com/a.png',
    'ftp://example.com/a.png',
    'file:///etc/passwd',
    'https://user:word@example.com/a.png',
    'https://',
    'a.png',
    `https://example.com/${'a'.repeat(4_096)}`,
  ])('does not go to %s', async (url) => {
    await expect(get(new Egress(), '', { url })).rejects.toThrow(EgressRefusedError)
  })
})

function answer(request: IncomingMessage, response: ServerResponse, held: ServerResponse[]): void {
  const [, first, encoding = ''] = (request.url ?? '').split('/')
  const packed = Buffer.alloc(PACKED_BYTES)
  switch (first) {
    case 'silent':
      return void request.socket.destroy()
    case 'away':
      return void response.writeHead(302, { location: '/picture?followed' }).end()
    case 'held':
      return void held.push(response)
    case 'packed':
      response.writeHead(200, { 'content-encoding': encoding })
      return void response.end(encoding === 'br' ? brotliCompressSync(packed) : gzipSync(packed))
    case 'twice':
      return void response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end()
    case 'broken':
      return void response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip at all')
    case 'echo':
      return void echo(request, response)
    default:
      response.writeHead(200, { 'content-type': 'Image/PNG; charset=binary', 'x-told': 'so' }).end('picture')
  }
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  const { method, headers } = request
  const { host, authorization, 'content-type': type } = headers
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString()
    response.end(JSON.stringify({ method, type, authorization, host, body }))
  })
}

/** Answers what is held, as it comes, until all of `requests` are done. */
async function releaseUntilDone(
  held: ServerResponse[],
  requests: readonly Promise<unknown>[],
): Promise<void> {
  let done = false
  const all = Promise.allSettled(requests).then(() => {
    done = true
  })
  while (!done) {
    for (const response of held.splice(0)) response.end()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await all
}
