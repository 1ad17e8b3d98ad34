// Goal: the public directory of services goes in whole and is searched as well as the project's own
// catalog.
// Method: 1,449 endpoints of the folder with data of others, in a real Postgres.
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readRealmNames } from '#orchestrator/catalog/realmNames.ts'
import { evaluate, type Judgement, readJudgements } from '#orchestrator/search/evaluate.ts'
import { importShipped } from '#orchestrator/shipped.ts'
import { itemsOf, membersOf } from '#primitives.ts'
import { openCatalog, type TestCatalog } from '../orchestrator/support/catalog.ts'
import { listedIn, missedAmong } from '../orchestrator/support/findEach.ts'
import { holdOut } from './holdOut.ts'
import { sharedFile } from './sharedFolder.ts'

const readCatalog = (name: string): unknown =>
  JSON.parse(readFileSync(sharedFile('data', 'catalog', name), 'utf8'))

let catalog: TestCatalog
let directory: unknown
let judgements: Judgement[]
const ends: (() => unknown)[] = []
beforeAll(async () => {
  directory = readCatalog('mpp-directory.json')
  judgements = readJudgements(readCatalog('judged-queries.json'), 'judged')
  catalog = await openCatalog((end) => void ends.push(end))
})
afterAll(async () => {
  for (const end of ends) await end()
})
const found = async (query: string) =>
  (await catalog.search(query)).endpoints.map(({ serviceId }) => serviceId)

const foundCalls = async (query: string) =>
  (await catalog.search(query)).endpoints.map(
    ({ serviceId, method, path }) => `${serviceId} ${method} ${path}`,
  )
const heldOut = (): unknown =>
  JSON.parse(readFileSync(new URL('../data/catalog/directory-hold-out.json', import.meta.url), 'utf8'))

/** Questions with services, those that say which calls would do, and those that nothing fits. */
function intentsIn(document: unknown) {
  const all = itemsOf(document).map(membersOf)
  const met = all.filter(({ relevant }) => itemsOf(relevant).length > 0)
  const callOf = ({ serviceId, method, path }: ReturnType<typeof membersOf>) =>
    `${serviceId} ${method} ${path}`
  return {
    services: readJudgements(met, 'intents'),
    calls: met.flatMap(({ query, endpoints }) => {
      const relevant = itemsOf(endpoints).map(membersOf).map(callOf)
      return relevant.length > 0 ? [{ query: String(query), relevant }] : []
    }),
    unmet: all.filter((each) => !met.includes(each)).map(({ query }) => String(query)),
  }
}

describe('the mpp directory', () => {
  it('goes in whole, twice over', async () => {
    const before = (await readRealmNames(catalog.reads)).length
    const first = await catalog.importAs('mpp', directory)
    expect(first).toMatchObject({ added: 141, changed: 0, unchanged: 0, removed: 0, problems: [] })
    const second = await catalog.importAs('mpp', directory)
    expect(second).toMatchObject({ added: 0, changed: 0, unchanged: 141, removed: 0, problems: [] })
    const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM app.catalog_endpoints
      JOIN app.catalog_entries USING (entry) WHERE source_id = 'mpp'`.execute(catalog.app)
    expect(rows[0]?.n).toBe(1_449)
    expect(await readRealmNames(catalog.reads)).toHaveLength(before + 82)
  })
})

describe('search over the public directory', () => {
  it('answers its judged questions: MRR at least 0.80, hit@8 at least 0.96', async () => {
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

  it.each([
    {
      of: 'judged by others',
      questions: () => readCatalog('judged-queries-2.json'),
      hit: 0.9,
      mrr: 0.93,
      calls: 0.86,
    },
    { of: 'held out', questions: heldOut, hit: 0.85, mrr: 0.9, calls: 0.8 },
  ])('answers intents of every kind: $of, hit@1 at least $hit, MRR $mrr, calls $calls', async (asked) => {
    const questions = intentsIn(asked.questions())
    const services = await evaluate(questions.services, found)
    expect(services).toSatisfy(() => services.hitAt1 >= asked.hit && services.mrr >= asked.mrr)
    const calls = await evaluate(questions.calls, foundCalls)
    expect(calls).toSatisfy(() => calls.hitAt1 >= asked.calls)
  })

  it('scores at most one in fourteen of what no service does above one half', async () => {
    const unmet = [readCatalog('judged-queries-2.json'), heldOut()].flatMap((each) => intentsIn(each).unmet)
    expect(unmet.length).toBeGreaterThanOrEqual(14)
    const scores = await Promise.all(
      unmet.map(async (query) => (await catalog.search(query)).endpoints[0]?.score ?? 0),
    )
    expect(scores).toSatisfy(() => scores.filter((score) => score > 0.5).length <= unmet.length / 14)
  })

  it('finds each endpoint by its own name and by its description within 20; describe knows what is found', async () => {
    const all = listedIn(itemsOf(directory))
    expect(all).toHaveLength(1_449)
    expect(
      await missedAmong(
        catalog,
        all.filter((_, index) => index % 40 === 0),
      ),
    ).toEqual([])
  })
})

describe('what ships beside the public directory', () => {
  it('takes no place of a real service: MRR at least 0.80, hit@8 at least 0.96', async () => {
    const places = { api: 'http://127.0.0.1:8080', demo: 'http://127.0.0.1:1' }
    expect((await importShipped(catalog.app, places)).problems).toEqual([])
    const { mrr, hitAt8, ranks } = await evaluate(judgements, found)
    expect({ mrr, hitAt8, ranks }).toSatisfy(() => mrr >= 0.8 && hitAt8 >= 0.96)
  })
})
