// Goal: no URL that a stranger names reaches this machine or its network (WH-08): checked, and sent
// all the same.
// Method: more than 120 spellings of places inside, a resolver that a test answers for, also one
// that changes its mind between check and connection; listeners that count who comes.
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Egress, type ResolvedAddress } from '#egress/Egress.ts'
import { EgressRefusedError } from '#egress/errors.ts'

const canaries: Server[] = []
let connections = 0
let port = 0

beforeAll(async () => {
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer((socket) => {
      connections++
      socket.destroy()
    })
    const listening = new Promise<void>((resolve) => {
      server.once('error', () => resolve())
      server.listen(port, host, resolve)
    })
    await listening
    const address = server.address()
    if (typeof address === 'object' && address) port = address.port
    canaries.push(server)
  }
})
afterAll(() => {
  for (const canary of canaries) canary.close()
})

const special = [
  ...['0.0.0.0', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.254', '127.0.0.1', '127.1.2.3'],
  ...['127.255.255.254', '169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.254', '192.0.0.1'],
  ...['192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.254', '198.18.0.1', '198.19.255.254'],
  ...[
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
  ],
]
const special6 = [
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::127.0.0.1', '64:ff9b::7f00:1'],
  ...[
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '3fff::1',
  ],
  ...['5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1'],
]
/** Loopback as an IPv4 address may be spelled in a URL. */
const spellings = [
  '2130706433',
  '0x7f000001',
  '017700000001',
  '0x7f.1',
  '127.1',
  '127.0.1',
  '0177.0.0.1',
  '0x7f.0x0.0x0.0x1',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '0',
  '127.0.0.1.',
]
const others = [
  ...[
    'http://127.0.0.1/',
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
  ],
  ...[
    'data:text/plain,x',
    'javascript:0',
    '//example.com',
    '',
    'https://',
    'https://user@example.com/',
    'https://u:p@example.com/',
  ],
  ...[22, 80, 8080, 5432, 9000, 6379, 25].map((each) => `https://example.com:${each}/`),
]
const urls = [
  ...special.flatMap((address) => [`https://${address}/`, `https://${address}:8443/x?y=z`]),
  ...special6.map((address) => `https://[${address}]/`),
  ...spellings.map((host) => `https://${host}/`),
  ...others,
]
const names = [...special, ...special6]

const send = (egress: Egress, url: string) =>
  egress.fetch({ url, purpose: 'webhook', bytesMax: 10, cuts: true, signal: new AbortController().signal })

async function expectRefused(egress: Egress, url: string): Promise<void> {
  await expect(egress.check(url, 'webhook'), url).rejects.toThrow(EgressRefusedError)
  await expect(send(egress, url), url).rejects.toThrow(EgressRefusedError)
}

test('URLs that lead inside are refused when they are checked, and when they are sent', async () => {
  expect(urls.length + names.length).toBeGreaterThan(120)
  const egress = new Egress({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  for (const url of urls) await expectRefused(egress, url)
  expect(connections).toBe(0)
})

test('names that lead inside are refused, also with one good address among theirs', async () => {
  for (const address of names) {
    const family = address.includes(':') ? 6 : 4
    const found: ResolvedAddress[] = [
      { address: '1.1.1.1', family: 4 },
      { address, family },
    ]
    await expectRefused(new Egress({ resolve: async () => found }), 'https://example.com/')
    await expectRefused(new Egress({ resolve: async () => found.slice(1) }), 'https://example.com/')
  }
  await expectRefused(new Egress({ resolve: async () => [] }), 'https://example.com/')
  expect(connections).toBe(0)
})

test('a name that changes between check and connection is refused', async () => {
  let asked = 0
  const resolve = async () => [{ address: asked++ === 0 ? '1.1.1.1' : '127.0.0.1', family: 4 }]
  const egress = new Egress({ resolve, ports: null })
  const url = `https://example.com:${port}/`
  await egress.check(url, 'webhook')
  await expect(send(egress, url)).rejects.toThrow(EgressRefusedError)
  expect([asked, connections]).toEqual([2, 0])
})

test('what was connected to is compared once more', async () => {
  const seen: string[] = []
  // Passes while it is looked up, and no longer when the connection stands.
  const isAllowed = (address: string) => seen.push(address) <= 1
  const egress = new Egress({
    isAllowed,
    ports: null,
    protocols: ['http:'],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  await expect(
    egress.fetch({
      url: `http://example.com:${port}/`,
      purpose: 'webhook',
      bytesMax: 10,
      signal: new AbortController().signal,
    }),
  ).rejects.toThrow(EgressRefusedError)
  expect(seen).toEqual(['127.0.0.1', '127.0.0.1'])
})
