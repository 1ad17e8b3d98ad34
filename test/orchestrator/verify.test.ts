// Goal: each endpoint of the catalog is looked at in turn, without an effect; what is gone leaves the
// searches and comes back; what asks for something else than is listed is told.
// Method: a seller on loopback that writes down what it is asked; time is moved in the database.
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { Egress } from '#egress/Egress.ts'
import { sellingOn } from '#local/devchain/selling.ts'
import { describeService } from '#orchestrator/catalog/description/describe.ts'
import { startDemoSellers } from '#orchestrator/demo/DemoSellers.ts'
import { sellers } from '#orchestrator/demo/sellers/index.ts'
import { search } from '#orchestrator/search/search.ts'
import { importShipped } from '#orchestrator/shipped.ts'
import { Liveness } from '#orchestrator/verify/Liveness.ts'
import { FAILURES_MAX } from '#orchestrator/verify/schedule.ts'
import { removeEntries } from '#rows/catalog/catalogEntries.ts'
import { PROBES_KEPT } from '#rows/catalog/catalogHealth.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { endless } from './support/demo.ts'
import { type Answer, asks, challenge, payee, says, x402 } from './support/seller.ts'
import { openVerification } from './support/verification.ts'

const ends: (() => unknown)[] = []
const { catalog, seller, verifierAt, list, healthOf, becomeDue } = await openVerification(
  (end) => void ends.push(end),
)
const verifier = verifierAt(seller.origin)
const { clock } = systemRuntime()
const signal = new AbortController().signal
const paid = { intent: 'charge', method: 'tempo', protocol: 'mpp', amount: '10000' }

afterAll(async () => {
  for (const end of ends) await end()
})
beforeEach(async () => {
  await removeEntries(catalog.app, { sourceId: 'own' })
  seller.asked.length = 0
})

/** One look's findings at every endpoint of a service: `state` by method and path. */
async function lookAt(id: string) {
  const found = await verifier.verifyService(id, signal)
  return Object.fromEntries(found.map(({ method, path, state }) => [`${method} ${path}`, state]))
}

describe('a look', () => {
  it('sends the declared example, unpaid, and is made only where it has no effect', async () => {
    await list('calls', [
      { method: 'POST', path: '/buy', paymentOffers: [paid], inputExample: { q: 'x' } },
      { method: 'GET', path: '/look', paymentOffers: [paid], inputExample: { q: 'x', tag: ['a', 'b'] } },
      { method: 'PUT', path: '/filled/:id', paymentOffers: [paid], inputExample: { id: 'a/b', n: 1 } },
      { method: 'POST', path: '/told/:id', paymentOffers: [paid], execution: { probePath: '/told/7' } },
      { method: 'POST', path: '/unknown/:id', paymentOffers: [paid] },
      { method: 'GET', path: '/free' },
      { method: 'POST', path: '/effect' },
      { method: 'DELETE', path: '/other', execution: { probePath: '/alive' } },
    ])
    const states = await lookAt('calls')
    expect(states).toMatchObject({
      'POST /unknown/:id': 'unprobed',
      'POST /effect': 'unprobed',
      'PUT /filled/:id': 'unprobed',
    })
    expect(new Set(seller.asked.map(({ method, url, body }) => `${method} ${url} ${body}`))).toEqual(
      new Set([
        'POST /calls/buy {"q":"x"}',
        'GET /calls/look?q=x&tag=a&tag=b ',
        'POST /calls/told/7 {}',
        'GET /calls/free ',
        'GET /calls/alive ',
      ]),
    )
    expect(seller.asked.every(({ headers }) => headers.authorization === undefined)).toBe(true)
  })

  it('verifies what asks for its price, and takes a refused input for life', async () => {
    const answers: Readonly<Record<string, readonly [Answer, string]>> = {
      '/mpp': [asks(challenge()), 'verified'],
      '/x402': [(_, out) => void out.writeHead(402, { 'payment-required': x402() }).end(), 'verified'],
      '/stripe': [asks(challenge({}, { method: 'stripe' })), 'answering'],
      '/strict': [says(400), 'answering'],
      '/keyed': [says(401), 'answering'],
      '/busy': [says(429), 'answering'],
      '/gone': [says(404), 'failing'],
      '/moved': [says(301), 'failing'],
      '/broken': [says(503), 'failing'],
      '/cut': [(_, out) => void out.destroy(), 'failing'],
      '/long': [
        (_, out) => {
          out.writeHead(402, { 'www-authenticate': challenge() })
          out.end('x'.repeat(1_000_000))
        },
        'verified',
      ],
    }
    for (const [path, [answer]] of Object.entries(answers)) seller.on(`/answers${path}`, answer)
    const endpoints = Object.keys(answers).map((path) => ({ method: 'POST', path, paymentOffers: [paid] }))
    await list('answers', endpoints)
    const expected = Object.entries(answers).map(([path, [, state]]) => [`POST ${path}`, state])
    expect(await lookAt('answers')).toEqual(Object.fromEntries(expected))
    const [health] = await healthOf('answers', 'POST', '/gone')
    expect(health).toMatchObject({
      failures: 1,
      history: [{ outcome: 'failed', status: 404, problem: 'answered 404' }],
    })
    const { service } = await describeService(catalog.reads, {
      serviceId: 'answers',
      method: 'POST',
      path: '/mpp',
    })
    expect(service.endpoints[0]?.lastVerifiedAt).toMatch(/Z$/)
  })

  it('is not made again where it worked without money', async () => {
    seller.on('/gives/things', says(200))
    seller.on('/gives/read', says(200))
    await list('gives', [
      { method: 'POST', path: '/things', paymentOffers: [paid] },
      { method: 'GET', path: '/read', paymentOffers: [paid] },
    ])
    for (let round = 0; round < 3; round++) {
      await becomeDue()
      await lookAt('gives')
      while ((await verifier.verifyDue(signal)) > 0);
    }
    const ofPosts = seller.asked.filter(({ method }) => method === 'POST')
    expect(ofPosts).toHaveLength(1)
    const [health] = await healthOf('gives', 'POST', '/things')
    expect(health?.history?.[0]).toMatchObject({ outcome: 'unpaid' })
  })

  it('tells a price and a recipient other than the listed ones', async () => {
    const other = `0x${'cd'.repeat(20)}`
    seller.on('/drifts/price', asks(challenge({ amount: '10000000' })))
    seller.on('/drifts/recipient', asks(challenge({ recipient: other })))
    seller.on('/drifts/same', asks(challenge({ amount: '5' }), challenge()))
    seller.on('/drifts/varies', asks(challenge({ amount: '77' })))
    await list(
      'drifts',
      [
        { method: 'POST', path: '/price', paymentOffers: [paid] },
        { method: 'POST', path: '/recipient', paymentOffers: [paid] },
        { method: 'POST', path: '/same', paymentOffers: [paid] },
        { method: 'POST', path: '/varies', paymentOffers: [{ ...paid, amount: null, dynamic: true }] },
      ],
      { recipientPolicy: { mode: 'allowlist', recipients: [payee.toUpperCase().replace('0X', '0x')] } },
    )
    await lookAt('drifts')
    expect((await healthOf('drifts')).map(({ path, drift }) => [path, drift])).toEqual([
      ['/price', { price: { listed: '10000', live: '10000000' } }],
      ['/recipient', { recipient: { listed: payee, live: other } }],
      ['/same', undefined],
      ['/varies', undefined],
    ])
    seller.on('/drifts/price', asks(challenge()))
    await lookAt('drifts')
    expect((await healthOf('drifts', 'POST', '/price'))[0]?.drift).toBeUndefined()
  })
})

describe('the schedule', () => {
  it('delists after seven failures, and lists again after one success', async () => {
    seller.on('/lazy/one', says(500))
    await list('lazy', [{ method: 'POST', path: '/one', description: 'Zebra.', paymentOffers: [paid] }])
    const found = async () => (await catalog.search('zebra')).endpoints
    for (let failures = 1; failures < FAILURES_MAX; failures++) {
      await becomeDue()
      expect(await verifier.verifyDue(signal)).toBe(1)
    }
    expect(await found()).toHaveLength(1)
    await becomeDue()
    await verifier.verifyDue(signal)
    expect(await found()).toEqual([])
    expect(await healthOf('lazy')).toMatchObject([{ state: 'delisted', failures: FAILURES_MAX }])
    expect((await catalog.search('', { serviceIds: ['lazy'] })).endpoints).toEqual([])
    seller.on('/lazy/one', asks(challenge()))
    await becomeDue()
    await verifier.verifyDue(signal)
    expect((await found())[0]).toMatchObject({ serviceId: 'lazy', lastVerifiedAt: expect.any(Date) })
    expect(await healthOf('lazy')).toMatchObject([{ state: 'verified', failures: 0 }])
  })

  it('keeps what it knows through imports, a bounded history, and looks again at what changed', async () => {
    seller.on('/kept/one', asks(challenge()))
    const one = { method: 'POST', path: '/one', paymentOffers: [paid] }
    await list('kept', [one, { method: 'POST', path: '/two' }])
    for (let look = 0; look < PROBES_KEPT + 3; look++) await lookAt('kept')
    expect((await healthOf('kept', 'POST', '/one'))[0]?.history).toHaveLength(PROBES_KEPT)
    expect(await verifier.verifyDue(signal)).toBe(0)
    seller.on('/kept/two', asks(challenge()))
    await list('kept', [one, { ...one, path: '/two' }, { ...one, path: '/three' }])
    expect((await healthOf('kept')).map(({ path, state }) => [path, state])).toEqual([
      ['/one', 'verified'],
      ['/three', 'unknown'],
      ['/two', 'unknown'],
    ])
    await list('kept', [one])
    expect(await healthOf('kept')).toHaveLength(1)
  })

  it('asks one endpoint of a service in a round, and each once, however many verify', async () => {
    const paths = Array.from({ length: 6 }, (_, index) => `/p${index}`)
    for (const path of paths) seller.on(`/many${path}`, asks(challenge()))
    await list(
      'many',
      paths.map((path) => ({ method: 'POST', path, paymentOffers: [paid] })),
    )
    const rounds = async (): Promise<number[]> => {
      const looked = await verifier.verifyDue(signal)
      return looked === 0 ? [] : [looked, ...(await rounds())]
    }
    const [first, second] = await Promise.all([rounds(), rounds()])
    expect([...first, ...second].every((looked) => looked === 1)).toBe(true)
    expect(seller.asked.map(({ url }) => url).sort()).toEqual(paths.map((path) => `/many${path}`))
  })
})

describe('a live search', () => {
  it('leaves out what does not answer, and asks nobody twice in a while', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      const status = name === 'b' ? 404 : name === 'c' ? 400 : 402
      seller.on(`/live/${name}`, status === 402 ? asks(challenge()) : says(status))
    }
    const endpoints = ['a', 'b', 'c', 'd'].map((name) => ({
      ...{ method: 'POST', path: `/${name}`, description: 'Zebra.', paymentOffers: [paid] },
    }))
    await list('live', [...endpoints, { method: 'POST', path: '/effect', description: 'Zebra.' }])
    const egress = new Egress({ isLocalOrigin: (each) => each === seller.origin })
    const liveness = new Liveness({
      app: catalog.reads,
      egress,
      clock,
      allowance: endless,
      isOwn: () => false,
    })
    const request = { query: 'zebra', limit: 4, serviceIds: null, serviceMode: null, withEvidence: false }
    const live = (more: object = {}) =>
      search(catalog.reads, { ...request, resolution: 'live', ...more }, (found) =>
        liveness.keepLiving(found, 'somebody', signal),
      )
    const found = await live()
    expect(found.resolution).toBe('live')
    expect(found.endpoints.map(({ path }) => path).sort()).toEqual(['/a', '/c', '/d', '/effect'])
    expect(found.endpoints.map(({ rank }) => rank)).toEqual([1, 2, 3, 4])
    expect(found.endpoints.filter(({ lastVerifiedAt }) => lastVerifiedAt).map(({ path }) => path)).toEqual([
      ...['/a', '/d'],
    ])
    expect(new Set(seller.asked.map(({ url }) => url))).toEqual(
      new Set(['a', 'b', 'c', 'd'].map((name) => `/live/${name}`)),
    )
    await live({ limit: 1 })
    expect(seller.asked).toHaveLength(4)
    expect((await live({ resolution: 'static' })).endpoints.map(({ path }) => path)).toContain('/b')
    expect(await search(catalog.reads, { ...request, resolution: 'live' })).toMatchObject({
      resolution: 'static',
    })
  })
})

describe('the sellers of the demo', () => {
  it('do no paid work for a look', async () => {
    const done: string[] = []
    const demo = await startDemoSellers({
      ...sellingOn({ chainId: 4217, rpcUrl: 'http://127.0.0.1:1' }),
      onWork: (id, { method, path, price }) => void (price && done.push(`${id} ${method} ${path}`)),
    })
    ends.push(() => demo.close())
    await importShipped(catalog.app, { api: 'http://127.0.0.1:8080', demo: demo.origin })
    const own = verifierAt(demo.origin)
    for (const { id, endpoints } of sellers) {
      const found = await own.verifyService(id, signal)
      expect(found, id).toHaveLength(endpoints.length)
      const paidOnes = found.filter(
        ({ path }) => endpoints.find((endpoint) => endpoint.path === path)?.price !== null,
      )
      expect(
        paidOnes.map(({ state }) => state),
        id,
      ).toEqual(paidOnes.map(() => 'verified'))
      expect(
        found.flatMap(({ sight }) => sight?.drift ?? []),
        id,
      ).toEqual([])
    }
    expect(done).toEqual([])
  })
})
