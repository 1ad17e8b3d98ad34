// Goal: an alarm reaches its owner once, whatever the receiver does the first times, provably from
// us, and leaks no secret.
// Method: a real HTTP receiver that refuses, hangs up and redirects before it accepts; the waits
// between tries are skipped.
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { Egress } from '#egress/Egress.ts'
import { readConfig } from '#program/config.ts'
import type { AlarmNote } from '#program/parts/alarms/AlarmWatch.ts'
import { AlarmWebhook } from '#program/parts/alarms/AlarmWebhook.ts'
import { systemRuntime } from '#runtime/runtime.ts'

const secret = Buffer.alloc(32, 7)
const nowMs = 1_700_000_000_500
const note: AlarmNote = {
  type: 'alarm.raised',
  chainId: 4217,
  code: 'parity_differs',
  problem: 'logs differs between the stores from block 7',
  sinceMs: nowMs - 400,
}
type Behaviour = 'accept' | 'refuse' | 'hang up' | 'redirect'

let receiver: Server
let url: string
let script: Behaviour[] = []
const received: { headers: IncomingHttpHeaders; body: string; path: string }[] = []

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request), path: request.url ?? '' })
    const behaviour = script.shift() ?? 'accept'
    if (behaviour === 'hang up') return void response.destroy()
    if (behaviour === 'redirect') response.setHeader('location', '/elsewhere')
    response.writeHead({ accept: 204, refuse: 503, redirect: 307 }[behaviour]).end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  url = `http://127.0.0.1:${port}/hooks/key-in-the-path`
})
afterAll(() => receiver?.close())
beforeEach(() => {
  received.length = 0
  script = []
})

function openWebhook(target: string, authorization: string | null = null) {
  const lines: string[] = []
  const keep = (fields: object, message: string) => lines.push(JSON.stringify(fields) + message)
  const log = { debug: keep, info: keep, warn: keep, error: keep }
  const clock = { ...systemRuntime().clock, now: () => nowMs, sleep: async () => {} }
  const webhook = new AlarmWebhook({
    url: target,
    authorization,
    secret,
    egress: new Egress(),
    runtime: { clock, random: () => 0.5 },
    log,
  })
  const ending = new AbortController()
  const running = webhook.run(ending.signal)
  onTestFinished(async () => {
    ending.abort()
    await running
  })
  return { webhook, lines }
}

test('a post is signed over id, time and body', async () => {
  const { webhook } = openWebhook(url)
  webhook.tell(note)
  await expect.poll(() => received.length).toBe(1)
  const [{ headers, body, path } = { headers: {}, body: '', path: '' }] = received
  expect(path).toBe('/hooks/key-in-the-path')
  const { type, chainId, code, problem } = note
  const since = new Date(note.sinceMs).toISOString()
  expect(JSON.parse(body)).toEqual({ type, timestamp: since, data: { chainId, code, problem, since } })
  const signed = `${headers['webhook-id']}.1700000000.${body}`
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-timestamp': '1700000000',
    'webhook-signature': `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  })
})

test('it is sent again under the same id until it is taken, and then never again', async () => {
  script = ['refuse', 'hang up', 'redirect']
  const { webhook, lines } = openWebhook(url)
  webhook.tell(note)
  webhook.tell({ ...note, type: 'alarm.cleared' })
  await expect.poll(() => received.length).toBe(5)
  const ids = received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids.slice(0, 4)).size).toBe(1)
  expect(ids[4]).not.toBe(ids[0])
  expect(received.every(({ path }) => path === '/hooks/key-in-the-path')).toBe(true)
  expect(lines).toHaveLength(3)
})

test('a receiver that is away for good costs a bounded number of tries, and no secret is in the log', async () => {
  script = new Array(8).fill('refuse')
  const { webhook, lines } = openWebhook(url)
  webhook.tell(note)
  await expect.poll(() => lines.at(-1)).toContain('an alarm could not be delivered')
  await expect.poll(() => lines.filter((line) => !line.includes('trying again')).length).toBe(1)
  expect(received).toHaveLength(8)
  const away = openWebhook('http://127.0.0.1:9/hooks/key-in-the-path')
  away.webhook.tell(note)
  await expect.poll(() => away.lines.length).toBe(8)
  const all = [...lines, ...away.lines].join('\n')
  expect(all).not.toContain('key-in-the-path')
  expect(all).not.toContain(secret.toString('base64'))
})

test('a login in ALARM_URL is sent as a header, and is in no log', async () => {
  const encoded = secret.toString('base64')
  const login = (address: string) =>
    readConfig({ ALARM_URL: address.replace('//', '//ops:s3cret%40pass@'), ALARM_SECRET: `whsec_${encoded}` })
      .alarms
  const { url: target = '', authorization = null } = login(url) ?? {}
  expect(target).toBe(url)
  const { webhook } = openWebhook(target, authorization)
  webhook.tell(note)
  await expect.poll(() => received.length).toBe(1)
  const sent = Buffer.from('ops:s3cret@pass').toString('base64')
  expect(received[0]?.headers.authorization).toBe(`Basic ${sent}`)
  const closed = login('http://127.0.0.1:9/hooks/key-in-the-path')
  const away = openWebhook(closed?.url ?? '', closed?.authorization ?? null)
  away.webhook.tell(note)
  await expect.poll(() => away.lines.length).toBe(8)
  expect(away.lines.join('\n')).not.toMatch(/s3cret|key-in-the-path|ops/)
  // Not even an address with a login, which is refused.
  const refused = openWebhook('https://ops:s3cret@hooks.example.com/T00/KEYKEY')
  refused.webhook.tell(note)
  await expect.poll(() => refused.lines.length).toBe(8)
  expect(refused.lines.join('\n')).not.toMatch(/s3cret|KEYKEY/)
})
