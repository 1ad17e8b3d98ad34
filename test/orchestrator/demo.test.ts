// Goal: what ships with the program is found and priced without a network: sellers with prices of
// each kind, and our own chain data. Its addresses may change, its ids do not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Egress } from '#egress/Egress.ts'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import { sellingOn } from '#local/devchain/selling.ts'
import { type DemoSellers, startDemoSellers } from '#orchestrator/demo/DemoSellers.ts'
import { sellers } from '#orchestrator/demo/sellers/index.ts'
import { readPlan } from '#orchestrator/plan/readPlan.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { evaluate } from '#orchestrator/search/evaluate.ts'
import { importShipped } from '#orchestrator/shipped.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { besideDevChain, parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { openCatalog, shop, type TestCatalog } from './support/catalog.ts'
import { importServices, questionsOf } from './support/catalogData.ts'
import { endless } from './support/demo.ts'

let catalog: TestCatalog
let demo: DemoSellers
const ends: (() => unknown)[] = []
const api = 'http://127.0.0.1:8080'

beforeAll(async () => {
  catalog = await openCatalog((end) => void ends.push(end))
  demo = await startDemoSellers(sellingOn({ chainId: DEV_CHAIN_ID, rpcUrl: 'http://127.0.0.1:1' }))
  ends.push(() => demo.close())
  expect((await importShipped(catalog.app, { api, demo: demo.origin })).problems).toEqual([])
})
afterAll(async () => {
  for (const end of ends) await end()
})

const quotes = () =>
  new Quotes({
    app: catalog.reads,
    egress: new Egress({ isLocalOrigin: (origin) => origin === demo.origin }),
    clock: systemRuntime().clock,
    allowance: endless,
    terms: besideDevChain(quoteTerms('1', parTokensDefault), DEV_CHAIN_ID),
    isOwn: (origin) => origin === api,
  })
const quote = (nodes: readonly object[]) =>
  quotes().quote(readPlan({ nodes }), 'somebody', new AbortController().signal)
const post = (serviceId: string, path: string, input: object, more: object = {}) => ({
  id: serviceId,
  serviceId,
  method: 'POST',
  path,
  input,
  ...more,
})

describe('what ships', () => {
  it('is found by intent', async () => {
    const intents = {
      'coordinates of a city': 'demo-places',
      'how long is the day in London': 'demo-sun',
      'summarize a long text': 'demo-digest',
      'write a report': 'demo-reports',
      'convert miles to kilometers': 'demo-units',
      'sha256 of a text': 'demo-hashes',
      'balance of a wallet': 'millrace-chain-data',
    }
    for (const [query, id] of Object.entries(intents))
      expect((await catalog.search(query)).endpoints[0]?.serviceId, query).toBe(id)
  })

  it('is priced in one plan of five nodes and three stages', async () => {
    const found = await quote([
      post('demo-places', '/geocode', { city: 'Paris' }),
      { id: 'blocks', serviceId: 'millrace-chain-data', method: 'GET', path: '/v1/blocks/latest' },
      post(
        'demo-sun',
        '/daylight',
        { latitude: 'flow://demo-places/output#/latitude', date: '2026-06-21' },
        { dependsOn: ['demo-places'] },
      ),
      { ...conversion, dependsOn: ['demo-places'] },
      post(
        'demo-reports',
        '/reports',
        { title: 'Daylight', facts: 'flow://demo-sun/output' },
        { dependsOn: ['demo-sun', 'demo-units'] },
      ),
    ])
    expect(found.stages).toEqual([['demo-places', 'blocks'], ['demo-sun', 'demo-units'], ['demo-reports']])
    expect(found.nodes.map(({ nodeId, amountUnits }) => [nodeId, amountUnits])).toEqual([
      ['demo-places', '10000'],
      ['blocks', '0'],
      ['demo-sun', '2000'],
      ['demo-units', '1000'],
      ['demo-reports', '50000'],
    ])
    expect(found.totalAmount).toBe('0.063')
  })

  it('has prices by input and of a session, and sellers that check the input first', async () => {
    const long = await quote([
      post('demo-digest', '/summarize', { text: 'a'.repeat(2_500) }),
      post('demo-hashes', '/hash', { text: 'hello' }),
      post('demo-moody', '/echo', { fail: true }),
    ])
    expect(long.nodes.map(({ amountUnits }) => amountUnits)).toEqual(['1500', '100', '1000'])
    expect(long.dynamic).toBe(true)
    const refused = await fetch(`${demo.origin}/demo-places/geocode`, { method: 'POST', body: '{}' })
    expect(refused.status).toBe(400)
  })

  it('keeps its ids where its addresses change, and takes no id of anybody else', async () => {
    const mine = await openCatalog()
    await mine.importAs('own', [shop('demo-sun')])
    const first = await importShipped(mine.app, { api, demo: 'http://127.0.0.1:1111' })
    expect(first.problems.map(({ path }) => path[0])).toEqual(['demo-sun'])
    const second = await importShipped(mine.app, {
      api: 'https://data.example',
      demo: 'http://127.0.0.1:2222',
    })
    expect(second.problems.map(({ path }) => path[0])).toEqual(['demo-sun'])
    expect(second.changed).toBe(sellers.length)
    const alone = await importShipped(mine.app, { api, demo: null })
    expect(alone.removed).toBe(sellers.length - 1)
    // A start without a dev chain took them out; another one has them again.
    const again = await importShipped(mine.app, { api, demo: 'http://127.0.0.1:3333' })
    expect(again.problems.map(({ path }) => path[0])).toEqual(['demo-sun'])
    expect(again.added).toBe(sellers.length - 1)
  })
})

describe('what ships beside many services', () => {
  it('takes no place of another: MRR at least 0.92, hit@8 at least 0.98', async () => {
    await importServices(catalog)
    const found = async (query: string) =>
      (await catalog.search(query)).endpoints.map(({ serviceId }) => serviceId)
    const { inTheirWords } = questionsOf('judged-queries.json')
    const { mrr, hitAt8, ranks } = await evaluate(inTheirWords, found)
    expect({ mrr, hitAt8, ranks }).toSatisfy(() => mrr >= 0.92 && hitAt8 >= 0.98)
  })
})

const conversion = {
  id: 'demo-units',
  serviceId: 'demo-units',
  method: 'GET',
  path: '/convert',
  input: { value: 1, from: 'km', to: 'mi' },
}
