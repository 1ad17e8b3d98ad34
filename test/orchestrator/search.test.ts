// Goal: what is asked for is found, by any door's one ranker, and nothing that describe does not
// know.
// Method: the public directory of 1,449 endpoints in a real Postgres, whose ctype is C.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeService } from '#orchestrator/catalog/describe.ts'
import { evaluate, readJudgements } from '#orchestrator/search/evaluate.ts'
import { describeWithShared } from '../support/shared.ts'
import { holdOut } from './holdOut.ts'
import { openCatalog, sharedCatalog, shop, type TestCatalog } from './support/catalog.ts'

let catalog: TestCatalog
const ends: (() => unknown)[] = []
beforeAll(async () => {
  catalog = await openCatalog((end) => void ends.push(end))
})
afterAll(async () => {
  for (const end of ends) await end()
})
const ids = async (query: string, more = {}) =>
  (await catalog.search(query, more)).endpoints.map(({ serviceId }) => serviceId)

describe('search', () => {
  beforeAll(async () => {
    const thing = (id: string, description: string, more: object = {}) =>
      shop(id, {
        name: id,
        description: '',
        endpoints: [{ method: 'GET', path: '/run', description, ...more }],
      })
    await catalog.importAs('own', [
      thing('ru', 'Погода и прогноз для любого города'),
      thing('jp', '東京の天気予報を取得する'),
      thing('fr', 'Prévisions météo à Orléans'),
      thing('dear', 'Rates a melody', {
        paymentOffers: [
          { protocol: 'mpp', intent: 'charge', method: 'tempo', amount: '5000000', decimals: 6 },
        ],
      }),
      thing('cheap', 'Rates a melody', {
        paymentOffers: [{ protocol: 'mpp', intent: 'charge', method: 'tempo', amount: '1000', decimals: 6 }],
      }),
      thing('aliased', 'Does it', {
        aliases: ['zyxwv'],
        examples: ['knit a scarf'],
        capabilities: ['gizmology'],
      }),
      thing('needy', 'Plays chess', {
        inputSchema: { type: 'object', required: ['fen'], properties: { fen: { type: 'string' } } },
      }),
    ])
  })

  it.each([
    ['погода', 'ru'],
    ['ПРОГНОЗ', 'ru'],
    ['天気', 'jp'],
    ['東京', 'jp'],
    ['previsions meteo', 'fr'],
    ['ORLÉANS', 'fr'],
    ['zyxwv', 'aliased'],
    ['gizmology', 'aliased'],
    ['melodyy', 'cheap'],
  ])('finds %s', async (query, id) => expect((await ids(query))[0]).toBe(id))

  it('prefers the cheaper of two that do the same, and says what each part is', async () => {
    const { endpoints } = await catalog.search('rate a melody')
    expect(endpoints.map(({ serviceId }) => serviceId).slice(0, 2)).toEqual(['cheap', 'dear'])
    const [first] = endpoints
    if (!first) throw new Error('nothing found')
    const { price, relevance } = first.scoreDetails
    expect(price).toBe(0.90909)
    expect(first.score).toBeCloseTo(0.95 * relevance + 0.05 * price, 12)
    expect(first).toMatchObject({
      rank: 1,
      estimatedPrice: { dynamic: false, amount: '0.001', currency: 'USDC' },
    })
  })

  it('gives its reasons', async () => {
    const reasons = async (query: string) => (await catalog.search(query)).endpoints[0]?.reasons
    expect(await reasons('zyxwv')).toEqual(['alias_match'])
    expect(await reasons('gizmology')).toEqual(['capability_match'])
    expect(await reasons('knit scarf')).toEqual(['example_match'])
    expect(await reasons('melodyy')).toEqual(['semantic_match'])
    expect(await reasons('')).toEqual(['catalog_default'])
    expect(await reasons('fen')).toEqual(['schema_match'])
  })

  it('suggests a node where nothing more is needed, else the description', async () => {
    const [ready] = (await catalog.search('melody')).endpoints
    expect(ready).toMatchObject({
      nextTool: 'quote_plan',
      suggestedPlanNode: {
        id: 'cheap',
        serviceId: 'cheap',
        method: 'GET',
        path: '/run',
        input: {},
        dependsOn: [],
      },
    })
    const needy = await catalog.search('chess')
    expect(needy.endpoints[0]).toMatchObject({ nextTool: 'describe_service', requiredArguments: ['fen'] })
    expect(needy.endpoints[0]).not.toHaveProperty('suggestedPlanNode')
    expect(needy.nextTool).toBe('describe_service')
  })

  it('keeps to required services, also where nothing of them fits, and puts preferred ones first', async () => {
    expect(await ids('melody', { serviceIds: ['dear'] })).toEqual(['dear'])
    expect(await ids('melody', { serviceIds: ['dear'], serviceMode: 'prefer' })).toEqual(['dear', 'cheap'])
    const nothing = await catalog.search('melody', { serviceIds: ['ru', 'unknown'] })
    expect(nothing).toMatchObject({
      endpoints: [],
      nextTool: 'search_services',
      zeroResultGuidance: expect.stringContaining('keep the constraint'),
    })
    const unknown = await catalog.search('qqqqqqqq')
    expect(unknown).toMatchObject({ endpoints: [], zeroResultGuidance: expect.stringContaining('broader') })
  })

  it('shows the candidates before the confidence filter', async () => {
    const { internal } = await catalog.search('melody', { withEvidence: true, limit: 1 })
    expect(internal?.catalog).toMatchObject({ serviceCount: 7, endpointCount: 7 })
    expect(internal?.candidates).toHaveLength(2)
  })
})

describeWithShared('search over the public directory', () => {
  beforeAll(async () => {
    await catalog.importAs('mpp', sharedCatalog('mpp-directory.json'))
  })
  const found = async (query: string) => ids(query)

  it('answers its judged questions: MRR at least 0.80, hit@8 at least 0.96', async () => {
    const judgements = readJudgements(sharedCatalog('judged-queries.json'), 'judged')
    const { mrr, hitAt8, ranks } = await evaluate(judgements, found)
    expect({ mrr, hitAt8, ranks }).toSatisfy(() => mrr >= 0.8 && hitAt8 >= 0.96)
  })

  it(`answers ${holdOut.length} questions of our own, to which nothing was fitted`, async () => {
    expect(holdOut.length).toBeGreaterThanOrEqual(60)
    const { mrr, hitAt8, ranks } = await evaluate(holdOut, found)
    expect({ mrr, hitAt8, missed: ranks.filter(({ rank }) => rank === null) }).toSatisfy(
      () => mrr >= 0.7 && hitAt8 >= 0.9,
    )
  })

  it('finds each endpoint by its own name and by its description within 20; describe knows what is found', async () => {
    const directory = sharedCatalog('mpp-directory.json') as {
      id: string
      name: string
      endpoints: { method: string; path: string; desc: string }[]
    }[]
    const all = directory.flatMap(({ id, name, endpoints }) =>
      endpoints.map((endpoint) => ({ id, name, ...endpoint })),
    )
    const missed: string[] = []
    for (const { id, name, method, path, desc } of all.filter((_, index) => index % 40 === 0)) {
      for (const query of [`${name} ${path}`, desc]) {
        const { endpoints } = await catalog.search(query.slice(0, 500), { limit: 20 })
        // Endpoints of other services may be described in the same words.
        const isFound = endpoints.some(
          (each) => each.serviceId === id && each.method === method && each.path === path,
        )
        if (!isFound) missed.push(`${id} ${method} ${path}: ${query}`)
        const [first] = endpoints
        if (first) await describeService(catalog.app, first)
      }
    }
    expect(missed).toEqual([])
  })
})
