import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Egress, EgressFailedError, EgressRefusedError, isPublicAddress } from './egress.ts'

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

describe('egress', () => {
  let server: Server
  let port: number
  let asked: string[]
  const { signal } = new AbortController()

  beforeAll(async () => {
    asked = []
    server = createServer((request, response) => {
      asked.push(request.url ?? '')
      if (request.url === '/silent') request.socket.destroy()
      else if (request.url === '/away') response.writeHead(302, { location: '/picture?followed' }).end()
      else response.writeHead(200, { 'content-type': 'Image/PNG; charset=binary' }).end('picture')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const bound = server.address()
    port = typeof bound === 'object' && bound ? bound.port : 0
  })
  afterAll(() => server.close())

  const trusting = new Egress({ isAllowed: () => true, protocols: ['http:'] })
  const get = (egress: Egress, path: string, bytesMax = 100, host = '127.0.0.1') =>
    egress.fetch({ url: `http://${host}:${port}${path}`, bytesMax, signal })

  it('gives status, content type and body', async () => {
    expect(await get(trusting, '/picture')).toEqual({
      status: 200,
      contentType: 'image/png',
      body: Buffer.from('picture'),
    })
  })

  it('follows no redirect', async () => {
    expect((await get(trusting, '/away')).status).toBe(302)
    expect(asked).not.toContain('/picture?followed')
  })

  it('refuses an answer that is longer than asked for', async () => {
    await expect(get(trusting, '/picture', 6)).rejects.toThrow(EgressRefusedError)
  })

  it('says when nobody answers', async () => {
    await expect(get(trusting, '/silent')).rejects.toThrow(EgressFailedError)
  })

  it.each(['127.0.0.1', 'localhost', '[::1]', '0x7f000001', '2130706433', '[::ffff:127.0.0.1]'])(
    'connects to no address of this machine named %s',
    async (host) => {
      const before = asked.length
      await expect(get(new Egress({ protocols: ['http:'] }), '/picture', 100, host)).rejects.toThrow(
        EgressRefusedError,
      )
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
    `https://example.com/${'a'.repeat(2_048)}`,
  ])('does not go to %s', async (url) => {
    await expect(new Egress().fetch({ url, bytesMax: 100, signal })).rejects.toThrow(EgressRefusedError)
  })
})
