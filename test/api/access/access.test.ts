import { beforeAll, describe, expect, test } from 'vitest'
import { Quotas } from '#api/access/Quotas.ts'
import { ServiceAccess } from '#api/access/ServiceAccess.ts'
import { newToken } from '#api/access/token.ts'
import { metrics, operatorOnly, recognised } from '#http/request/access.ts'
import { type NewKey, revokeKey } from '#rows/access/keys.ts'
import { PostgresError } from '#store/postgres.ts'
import {
  app,
  ask,
  clock,
  credentials,
  defaults,
  looks,
  makeKey,
  openAccess,
  serve,
  servers,
} from '../support/accessServers.ts'
import { guarded } from '../support/guarded.ts'
import { endlessRows, examples } from '../support/toolkitExamples.ts'
import { type RunningServer, startServer } from '../support/toolkitServer.ts'

let server: RunningServer
beforeAll(async () => {
  server = await serve(guarded)
})

describe('keys of a guarded service', () => {
  test('a key is taken in each of its places, and the first place present decides', async () => {
    const { token } = await makeKey()
    const bearer = { authorization: `Bearer ${token}` }
    expect((await ask(server, '/v1/rows', { 'svc-api-key': token })).status).toBe(200)
    expect((await ask(server, '/v1/rows', bearer)).status).toBe(200)
    expect((await ask(server, `/v1/rows?key=${token}`)).status).toBe(200)
    expect(await ask(server, '/v1/rows', { 'svc-api-key': 'x', ...bearer })).toMatchObject({
      code: 'api_key_malformed',
    })
    expect(await ask(server, `/v1/rows?key=${token}&key=${token}`)).toMatchObject({
      code: 'api_key_malformed',
    })
    expect((await ask(server, `/v1/rows?key=x`, bearer)).status).toBe(200)
  })

  test('a text that is no key costs no look into the database', async () => {
    const before = looks.count
    const { token } = await makeKey()
    const texts = [
      '',
      'x',
      `${token.slice(0, -1)}!`,
      token.toUpperCase(),
      token.replace('live', 'test'),
      `${token} `,
    ]
    for (const text of texts)
      expect(await ask(server, `/v1/rows?key=${encodeURIComponent(text)}`), text).toMatchObject({
        code: 'api_key_malformed',
        status: 400,
      })
    expect(looks.count).toBe(before)
  })

  test.each<[string, Partial<NewKey>, string, Record<string, string>]>([
    ['has ended', { expiresAt: new Date(0) }, 'api_key_invalid', {}],
    ['lacks the scope', { scopes: ['webhooks:read'] }, 'api_key_forbidden', {}],
    ['is used from another address', { allowedIps: ['10.0.0.0/8'] }, 'api_key_ip_forbidden', {}],
    [
      'is used from another page',
      { origins: ['https://a.example'] },
      'api_key_forbidden',
      { origin: 'https://b.example' },
    ],
    [
      'is used by a program though it is for a page',
      { origins: ['https://a.example'] },
      'api_key_forbidden',
      {},
    ],
    ['asks a chain it does not reach', { chains: ['42431'] }, 'api_key_forbidden', {}],
  ])('a key that %s is refused', async (_what, changes, code, headers) => {
    const { token } = await makeKey(changes)
    const path = changes.chains ? '/v1/rows?chainId=mainnet' : '/v1/rows'
    expect(await ask(server, path, { 'svc-api-key': token, ...headers })).toMatchObject({ code })
  })

  test('a scope that is missing is named', async () => {
    const { token } = await makeKey({ scopes: [] })
    expect((await ask(server, '/v1/rows', { 'svc-api-key': token })).message).toContain('data:read')
  })

  test('unknown keys of an address are looked up a few times, and a good key there still works', async () => {
    const { token } = await makeKey()
    const from = { 'x-forwarded-for': '203.0.113.50' }
    await ask(server, '/v1/rows', { ...from, 'svc-api-key': token })
    const before = looks.count
    const codes = new Set<string | undefined>()
    for (let count = 0; count < 40; count++)
      codes.add((await ask(server, '/v1/rows', { ...from, 'svc-api-key': newToken('live') })).code)
    expect(codes).toEqual(new Set(['api_key_invalid', 'rate_limit_exceeded']))
    // A minute may end meanwhile.
    expect(looks.count - before).toBeLessThanOrEqual(42)
    expect((await ask(server, '/v1/rows', { ...from, 'svc-api-key': token })).status).toBe(200)
  })

  test('one unknown key is looked up once a second, however often it comes', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.51', 'svc-api-key': newToken('live') }
    const before = looks.count
    for (let count = 0; count < 10; count++)
      expect(await ask(server, '/v1/rows', headers)).toMatchObject({ code: 'api_key_invalid' })
    // The clock of this service moves: ten answers may take more than one second.
    expect(looks.count - before).toBeLessThanOrEqual(3)
  })
})

describe('strangers and quotas of a guarded service', () => {
  test('strangers read until their quota is spent; then they are told when to come back', async () => {
    const from = { 'x-forwarded-for': '2001:db8:0:1201::1' }
    const neighbour = { 'x-forwarded-for': '2001:db8:0:12ff::1' }
    const first = await ask(server, '/v1/rows', from)
    expect([first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-scope')]).toEqual([
      '20',
      'data:read',
    ])
    const answers = [first]
    while (answers.at(-1)?.status === 200 && answers.length < 100)
      answers.push(await ask(server, '/v1/rows', answers.length % 2 ? neighbour : from))
    // A minute may end meanwhile, and each has its own.
    const minutes = Map.groupBy(answers.slice(0, -1), ({ headers }) => headers.get('ratelimit-reset'))
    for (const read of minutes.values()) expect(read.length).toBeLessThanOrEqual(20)
    const refused = answers.at(-1)
    expect(refused).toMatchObject({ status: 429, code: 'payment_required' })
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused?.headers.get('ratelimit-remaining')).toBe('0')
  })

  test('over quota the answer says the quota, when it is fresh again, and how to get more', async () => {
    const { token } = await makeKey({ quota: 1 })
    const overQuota = async (headers: Readonly<Record<string, string>>, path = '/v1/rows') => {
      for (;;) {
        const response = await fetch(server.origin + path, { headers })
        const { error } = (await response.json()) as { error: { details: { quota: object }[] } }
        if (response.status === 429) return { headers: response.headers, error }
      }
    }
    const stranger = await overQuota({ 'x-forwarded-for': '203.0.113.77' })
    const reset = new Date(Number(stranger.headers.get('ratelimit-reset')) * 1_000)
    const resetsAt = reset.toISOString().replace('.000', '')
    const said = `The free quota of a network address, 20 units a minute, is used up until ${resetsAt}.`
    const way = "Sign in (the console's page Account), or send an API key (svc-api-key), for 100 a minute."
    expect(stranger.error).toEqual({
      code: 'payment_required',
      message: `${said} Payment is not configured here. ${way}`,
      details: [
        {
          ...{ path: ['quota'], message: said, hint: way },
          quota: { scope: 'data:read', limit: 20, units: 1, resetsAt, more: ['sign_in', 'api_key', 'wait'] },
        },
      ],
    })
    const keyed = await overQuota({ 'svc-api-key': token })
    expect(keyed.error.details[0]?.quota).toMatchObject({ limit: 1, more: ['operator', 'wait'] })
    const document = await overQuota({ 'x-forwarded-for': '203.0.113.78' }, '/openapi.json')
    expect(document.error.details[0]?.quota).toMatchObject({ scope: 'documents', more: ['wait'] })
  })

  test('the document is counted by address, whatever key comes with it', async () => {
    let turn = 60
    // A minute may end in between, once.
    const askedOften = async () => {
      const from = { 'x-forwarded-for': `203.0.113.${turn++}`, 'svc-api-key': 'nonsense' }
      const first = await ask(server, '/openapi.json', from)
      expect([first.status, first.headers.get('ratelimit-scope')]).toEqual([200, 'documents'])
      const statuses = []
      for (let count = 0; count < 25; count++)
        statuses.push((await ask(server, '/openapi.json', from)).status)
      return statuses
    }
    await expect.poll(askedOften).toEqual([...Array(19).fill(200), ...Array(6).fill(429)])
  })

  test('the document opens while the store that counts is away; data does not', async () => {
    const away = () => Promise.reject(new PostgresError(new Error('away')))
    const quotas = new Quotas({ reserve: away, giveBack: away, removePast: away }, clock)
    const access = new ServiceAccess({ settings: guarded, credentials, quotas, defaults, clock })
    const alone = await startServer(examples, endlessRows, { access })
    servers.push(alone)
    expect((await ask(alone, '/openapi.json')).status).toBe(200)
    expect((await ask(alone, '/v1/rows')).status).toBe(502)
  })

  test('a browser is told to come by https', async () => {
    expect(
      (await ask(server, '/v1/rows', { 'x-forwarded-for': '203.0.113.77' })).headers.get(
        'strict-transport-security',
      ),
    ).toMatch(/max-age=/)
  })
})

test('two processes admit no more than the quota together, and hardly less', async () => {
  const both = await Promise.all([serve(guarded), serve(guarded)])
  const keys = await Promise.all(Array.from({ length: 3 }, () => makeKey()))
  const minute = () => Math.floor(Date.now() / 60_000)
  const began = minute()
  const asked = keys.flatMap(({ token }, number) =>
    both.flatMap((server) =>
      Array.from({ length: 60 }, () =>
        ask(server, '/v1/rows', { 'svc-api-key': token }).then(({ status }) => ({ number, status })),
      ),
    ),
  )
  const answers = await Promise.all(asked)
  const windows = minute() - began + 1
  expect(answers.filter(({ status }) => ![200, 429, 503].includes(status))).toEqual([])
  for (const number of keys.keys()) {
    // On a busy machine some are admitted and then find no turn (503).
    const admitted = answers.filter((answer) => answer.number === number && answer.status !== 429).length
    expect(admitted).toBeLessThanOrEqual(100 * windows)
    // Where the minute ended meanwhile, too few were asked to spend the next one.
    if (windows === 1) expect(admitted).toBeGreaterThanOrEqual(95)
  }
})

test('a revocation is felt by every process within a second', async () => {
  const both = await Promise.all([serve(guarded), serve(guarded)])
  const { token, id } = await makeKey()
  for (const server of both)
    expect((await ask(server, '/v1/rows', { 'svc-api-key': token })).status).toBe(200)
  await revokeKey(app, { id })
  await clock.sleep(1_000)
  for (const server of both)
    expect(await ask(server, '/v1/rows', { 'svc-api-key': token })).toMatchObject({
      status: 401,
      code: 'api_key_invalid',
    })
})

test.each<[string, string, Readonly<Record<string, string>>, boolean]>([
  ['the machine itself', '127.0.0.1', {}, true],
  ['another machine', '203.0.113.9', {}, false],
  ['what came through a proxy', '127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }, false],
])('a service that is open to everybody: %s reads metrics, and is its operator or not', async (...asked) => {
  const [, remoteAddress, headers, isOperator] = asked
  const access = openAccess({ ...guarded, mode: 'open', isOpenToAll: true, publicUrl: null })
  const request = { headers, queryKey: undefined, remoteAddress, method: 'GET', url: '/status' }
  for (const rule of [recognised, metrics])
    expect(await access.identify(request, rule)).toMatchObject({ isOperator })
  const asOperator = async () => access.identify(request, operatorOnly)
  if (isOperator) expect(await asOperator()).toMatchObject({ isOperator })
  else await expect(asOperator()).rejects.toMatchObject({ code: 'api_key_missing' })
})
