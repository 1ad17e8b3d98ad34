// Goal: the catalog over HTTP: parameters as specified, refused outside their bounds, answers as
// the document says.
import type { FastifyInstance } from 'fastify'
import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer } from '#api/server.ts'
import { Egress } from '#egress/Egress.ts'
import { type Access, openAccess } from '#http/request/access.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import { searchResultSchema } from '#orchestrator/search/searchResult.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { createLogger } from '#telemetry.ts'
import { parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { runBlackbox } from '../blackbox/blackbox.ts'
import { openCatalog, shop, type TestCatalog } from './support/catalog.ts'
import { countedOn, withinOneMinute } from './support/counted.ts'
import { endless } from './support/demo.ts'

const { clock } = systemRuntime()
let app: FastifyInstance
let catalog: TestCatalog
const ends: (() => unknown)[] = []
const endpoints = [
  { method: 'GET', path: '/things', description: 'Lists things.' },
  { method: 'POST', path: '/orders', description: 'Orders things.' },
]
const ids = Array.from({ length: 25 }, (_, index) => `shop-${String(index).padStart(2, '0')}`)

const serve = (access: Access = openAccess) =>
  createServer({
    access,
    endpoints: orchestratorEndpoints,
    services: {
      app: catalog.reads,
      rows: catalog.app,
      liveness: null,
      priors: null,
      jobs: null,
      quotes: new Quotes({
        app: catalog.reads,
        egress: new Egress(),
        clock,
        allowance: endless,
        terms: quoteTerms('1', parTokensDefault),
      }),
    },
    chains: [],
    cursorKeys: new CursorKeys([Buffer.alloc(32, 1)]),
    clock,
    log: createLogger('silent'),
    shutdown: new AbortController().signal,
  })
beforeAll(async () => {
  catalog = await openCatalog((end) => void ends.push(end))
  await catalog.importAs(
    'own',
    ids.map((id) => shop(id, id === 'shop-20' ? { endpoints } : {})),
  )
  app = await serve()
})
afterAll(async () => {
  await app.close()
  for (const end of ends) await end()
})
const get = async (url: string) => {
  const { statusCode: status, body } = await app.inject({ url })
  return { status, body: JSON.parse(body) }
}

describe('GET /v1/services/search', () => {
  it('answers as its schema says, the empty query too', async () => {
    const check = Compile(searchResultSchema)
    for (const query of [
      '',
      '?query=',
      '?query=things&limit=20',
      '?query=things&evidence=pre-confidence',
      '?resolution=live',
    ]) {
      const { status, body } = await get(`/v1/services/search${query}`)
      expect(status, query).toBe(200)
      expect(check.Errors(body), query).toEqual([])
      expect(body.resolution).toBe('static')
      expect(body.endpoints).toHaveLength(query.includes('20') ? 20 : 8)
    }
  })

  it('takes serviceId repeated, requires it without a mode, and refuses what is out of bounds', async () => {
    const named = '/v1/services/search?query=things&serviceId=shop-03&serviceId=shop-07'
    const found = async (url: string) =>
      (await get(url)).body.endpoints.map(({ serviceId }: { serviceId: string }) => serviceId)
    expect((await found(named)).sort()).toEqual(['shop-03', 'shop-07'])
    expect((await found(`${named}&serviceMode=prefer`)).slice(0, 2).sort()).toEqual(['shop-03', 'shop-07'])
    const many = ids.slice(0, 21).map((id) => `serviceId=${id}`)
    for (const query of [
      'limit=0',
      'limit=21',
      'limit=x',
      `query=${'a'.repeat(501)}`,
      'resolution=both',
      'serviceMode=require',
      'serviceId=Not%20one',
      'evidence=all',
      'colour=red',
      many.join('&'),
    ])
      expect((await get(`/v1/services/search?${query}`)).status, query).toBe(400)
    expect((await get(`/v1/services/search?query=${'a'.repeat(500)}`)).status).toBe(200)
  })
})

describe('searches of one caller', () => {
  it('are refused above its share, and those of another are not', async () => {
    const { access, quotas } = countedOn(catalog.app)
    const busy = await serve(access)
    const search = (remoteAddress: string) =>
      busy.inject({ url: '/v1/services/search?query=things', remoteAddress })
    const answers = await withinOneMinute(
      async (caller) => {
        await quotas.take([{ subject: `ip:${caller}:services:search`, limit: 60 }], 58)
        return [await search(caller), await search(caller), await search(caller)]
      },
      (given) => given.map(({ headers }) => headers['ratelimit-reset']),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429])
    expect(answers.map(({ headers }) => headers['ratelimit-remaining'])).toEqual(['1', '0', '0'])
    expect(JSON.parse(answers[2]?.body ?? '')).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
    expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(0)
    expect((await search('203.0.113.2')).statusCode).toBe(200)
    await busy.close()
  })
})

describe('GET /v1/services/{serviceId}', () => {
  it('describes a service, or one endpoint of it', async () => {
    const whole = await get('/v1/services/shop-01')
    expect(whole).toMatchObject({
      status: 200,
      body: {
        scope: 'service',
        service: {
          id: 'shop-01',
          status: 'active',
          sourceRefs: [{ sourceId: 'own', externalId: 'shop-01' }],
        },
      },
    })
    const one = await get('/v1/services/shop-01?method=GET&path=/things')
    expect(one.body).toMatchObject({
      scope: 'endpoint',
      service: { endpoints: [{ path: '/things', requestFormat: 'query', priority: 0.5, paymentOffers: [] }] },
    })
    expect(one.body.service.endpoints[0].lastCatalogedAt).toMatch(/Z$/)
  })

  it('refuses half a selector, and knows only what there is', async () => {
    for (const half of ['method=GET', 'path=/things'])
      expect(await get(`/v1/services/shop-01?${half}`)).toMatchObject({
        status: 400,
        body: { error: { code: 'query_invalid' } },
      })
    for (const unknown of ['nobody', 'shop-01?method=PUT&path=/things', 'shop-01?method=GET&path=/other'])
      expect(await get(`/v1/services/${unknown}`)).toMatchObject({
        status: 404,
        body: { error: { code: 'service_not_found' } },
      })
  })
})

describe('GET /v1/services', () => {
  it('pages through all of them', async () => {
    const seen: string[] = []
    let cursor: string | null = ''
    do {
      const { body } = await get(`/v1/services?limit=10${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
      seen.push(...body.data.map(({ id }: { id: string }) => id))
      cursor = body.nextCursor
    } while (cursor !== null)
    expect(seen).toEqual(ids)
  })
})

describe('POST /v1/quote', () => {
  const post = async (payload: string) => {
    const headers = { 'content-type': 'application/json' }
    const { statusCode: status, body } = await app.inject({
      method: 'POST',
      url: '/v1/quote',
      payload,
      headers,
    })
    return { status, body: JSON.parse(body) }
  }
  const node = { id: 'a', serviceId: 'shop-20', method: 'POST', path: '/orders' }

  it('fills in input and dependsOn, and hashes the plan with them', async () => {
    const short = await post(JSON.stringify({ nodes: [node] }))
    expect(short).toMatchObject({
      status: 200,
      body: { advisory: true, totalAmount: '0', stages: [['a']], nodes: [{ nodeId: 'a', source: 'live' }] },
    })
    const long = await post(JSON.stringify({ nodes: [{ dependsOn: [], input: {}, ...node }] }))
    expect(long.body.planHash).toBe(short.body.planHash)
    expect(long.body.planHash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('tells everything that is wrong with its form, at every node', async () => {
    const nodes = Array.from({ length: 60 }, (_, index) => ({ ...node, id: `n${index}`, colour: 'red' }))
    const { status, body } = await post(JSON.stringify({ nodes, more: 1 }))
    expect(status).toBe(422)
    expect(body.error.code).toBe('plan_invalid')
    expect(body.error.details).toHaveLength(61)
    expect(body.error.details[1]).toEqual({
      path: ['body', 'nodes', 0, 'colour'],
      message: 'is an unknown member',
    })
  })

  it('refuses what is no plan', async () => {
    const many = Array.from({ length: 101 }, (_, index) => ({ ...node, id: `n${index}` }))
    for (const plan of [
      [],
      {},
      { nodes: [] },
      { nodes: many },
      { nodes: [{ ...node, id: '' }] },
      { nodes: [{ ...node, serviceId: 'Shop' }] },
      { nodes: [{ ...node, method: 'HEAD' }] },
      { nodes: [{ ...node, path: '//orders' }] },
      { nodes: [{ ...node, path: '/orders?x=1' }] },
      { nodes: [{ ...node, dependsOn: 'b' }] },
      { nodes: [null] },
    ])
      expect(await post(JSON.stringify(plan)), JSON.stringify(plan).slice(0, 80)).toMatchObject({
        status: 422,
        body: { error: { code: 'plan_invalid' } },
      })
    expect((await post('{')).status).toBe(400)
    expect((await app.inject({ method: 'POST', url: '/v1/quote' })).statusCode).toBe(400)
  })

  it('refuses numbers that would change, and takes those that do not', async () => {
    const withInput = (input: string) =>
      `{"nodes":[{"id":"a","serviceId":"shop-20","method":"POST","path":"/orders","input":{"n":${input}}}]}`
    for (const number of ['12345678901234567890', '0.1234567890123456789', '1e400'])
      expect(await post(withInput(number)), number).toMatchObject({
        status: 422,
        body: {
          error: {
            code: 'plan_invalid',
            details: [{ path: ['body', 'nodes', 0, 'input', 'n'], message: expect.stringContaining(number) }],
          },
        },
      })
    for (const number of ['1.0', '1e2', '"12345678901234567890"', '9007199254740991'])
      expect((await post(withInput(number))).status, number).toBe(200)
  })

  it('takes bodies of up to 4 MiB', async () => {
    const input = 'x'.repeat(3_900_000)
    expect((await post(JSON.stringify({ nodes: [{ ...node, input }] }))).status).toBe(200)
    expect((await post(JSON.stringify({ nodes: [{ ...node, input: input + input }] }))).status).toBe(413)
  })
})

describe('/openapi.json', () => {
  it('holds the operations of the catalog', async () => {
    const { status, body } = await get('/openapi.json')
    expect(status).toBe(200)
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(orchestratorEndpoints.map(({ path }) => path)),
    )
  })
})

describe('the black box', () => {
  it('finds no fault with the operations of the catalog', async () => {
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    const options = { chainId: undefined, only: '/v1/services', apiKey: undefined, onResult: () => {} }
    const results = await runBlackbox(address, options)
    expect(results.flatMap(({ failures }) => failures)).toEqual([])
    expect(new Set(results.map(({ operation }) => operation)).size).toBeGreaterThanOrEqual(3)
  })
})
