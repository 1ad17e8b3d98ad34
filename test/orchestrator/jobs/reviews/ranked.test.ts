// Goal: where the operator wants it, what was paid for and did not come moves an endpoint below one
// that fits as well, and judged questions are answered hardly worse, whatever the quality; elsewhere
// nothing moves.
// Method: jobs that an engine ran with scripted sellers, and the judged questions of test/data/catalog.
import { expect, test } from 'vitest'
import { evaluate } from '#orchestrator/search/evaluate.ts'
import { QualityPriors } from '#orchestrator/search/QualityPriors.ts'
import { PRIOR_MAX } from '#orchestrator/search/qualityPrior.ts'
import { type Priors, search } from '#orchestrator/search/search.ts'
import { openCatalog, shop, type TestCatalog } from '../../support/catalog.ts'
import { directoryServices, importServices, ownServices, questionsOf } from '../../support/catalogData.ts'
import { type Listed, listedIn } from '../../support/findEach.ts'
import { openEngine } from '../support/engine.ts'
import { node, orderOf } from '../support/jobOrder.ts'
import { paidFor, type Sale, sold } from '../support/scriptedSellers.ts'

const plainly = {
  limit: 8,
  resolution: 'static',
  serviceIds: null,
  serviceMode: null,
  withEvidence: false,
} as const
const foundBy = async ({ reads }: TestCatalog, query: string, priors: Priors | null) =>
  (await search(reads, { ...plainly, query }, null, priors)).endpoints
const loses: Sale = {
  answer: (purchase) => ({
    ...{ kind: 'paid_not_delivered', status: null, message: 'The answer is lost.' },
    paid: paidFor(purchase, 900n),
  }),
}

test('ten bad deliveries move an endpoint below an equal one, and not below a worse one', async () => {
  const catalog = await openCatalog()
  const paints = (id: string, description: string) =>
    shop(id, { name: id, description: '', endpoints: [{ method: 'POST', path: '/run', description }] })
  await catalog.importAs('painters', [
    paints('aaa', 'Paints a fresco'),
    paints('bbb', 'Paints a fresco'),
    paints('ccc', 'Paints walls, doors, fences, and for those that want one also a fresco'),
  ])
  const priors = new QualityPriors()
  const order = async (by: Priors | null) =>
    (await foundBy(catalog, 'paint a fresco', by)).map(({ serviceId }) => serviceId)
  expect(await order(priors)).toEqual(['aaa', 'bbb', 'ccc'])

  const calls = Array.from({ length: 10 }, (_, n) => node(`n${n}`, { serviceId: 'aaa', path: '/run' }))
  const { nodes } = await openEngine(catalog.app, { '/run': loses }).run(orderOf({ nodes: calls }))
  expect([...nodes.values()].map(({ error_code }) => error_code)).toEqual(
    calls.map(() => 'paid_not_delivered'),
  )
  await priors.read(catalog.reads)
  expect(await order(priors)).toEqual(['bbb', 'aaa', 'ccc'])
  expect(await order(null)).toEqual(['aaa', 'bbb', 'ccc'])
})

test('judged questions have the very answers as before where nothing was paid for', async () => {
  const catalog = await openCatalog()
  await importServices(catalog)
  const priors = new QualityPriors()
  await priors.read(catalog.reads)
  const questions = questionsOf('judged-queries.json').judged.map(({ query }) => query)
  for (const query of questions)
    expect(await foundBy(catalog, query, priors), query).toEqual(await foundBy(catalog, query, null))
})

const sells: Sale = { answer: (purchase) => sold(purchase, {}) }
const NODES_MAX = 100

/** Jobs call each of the endpoints so often, and the seller does the same each time. */
async function callEach({ app }: TestCatalog, called: readonly Listed[], times: number, sale: Sale) {
  const engine = openEngine(app, Object.fromEntries(called.map(({ path }) => [path, sale])))
  const calls = Array.from({ length: times }, () => called).flat()
  for (let at = 0; at < calls.length; at += NODES_MAX) {
    const nodes = calls.slice(at, at + NODES_MAX).map(({ serviceId, method, path }, n) =>
      // As the catalog lists them.
      node(`n${n}`, { serviceId, path, method: method as 'GET' }),
    )
    await engine.run(orderOf({ nodes }))
  }
  await engine.stop()
}

/** Judged and held-out questions. */
const judged = ['judged-queries.json', 'hold-out-queries.json'] as const
const allJudged = judged.flatMap((name) => questionsOf(name).judged)
const idsBy = (catalog: TestCatalog, priorsOf: (query: string) => Priors | null) => async (query: string) =>
  (await foundBy(catalog, query, priorsOf(query))).map(({ serviceId }) => serviceId)
/** How far the MRR of judged questions may fall, as docs/services.md states it. */
const [FALL_MAX, FALL_MAX_AT_WORST] = [0.01, 0.05]
/** The share of questions that then have nothing right among eight. */
const HITS_LOST_MAX = 0.01

test('judged questions have the same answers with a history of calls while it is off, and nearly so while it is on', async () => {
  const catalog = await openCatalog()
  await importServices(catalog)
  const answers = () => Promise.all(allJudged.map(({ query }) => foundBy(catalog, query, null)))
  const before = await answers()
  const plain = listedIn([...ownServices().services, ...directoryServices()]).filter(
    ({ path }) => !/[:{*]/.test(path),
  )
  const every = (of: (place: number) => boolean) => plain.filter((_, index) => of(index % 20))
  await callEach(
    catalog,
    every((place) => place === 0),
    10,
    loses,
  )
  await callEach(
    catalog,
    every((place) => place > 0 && place < 6),
    3,
    sells,
  )
  const priors = new QualityPriors()
  await priors.read(catalog.reads)
  const moved = plain.map(({ serviceId, ...call }) => priors.of(serviceId, call))
  const counts = [moved.filter((by) => by < 0), moved.filter((by) => by > 0), moved.filter((by) => by === 0)]
  expect(counts.map(({ length }) => length > 15)).toEqual([true, true, true])

  expect(await answers()).toEqual(before)
  const off = await evaluate(
    allJudged,
    idsBy(catalog, () => null),
  )
  const on = await evaluate(
    allJudged,
    idsBy(catalog, () => priors),
  )
  expect(off.mrr - on.mrr).toBeLessThanOrEqual(FALL_MAX)
})

test('judged questions are answered nearly as well if all that is right has the worst quality there is, and all else the best', async () => {
  const catalog = await openCatalog()
  await importServices(catalog)
  const relevant = new Map(allJudged.map((one) => [one.query, new Set(one.relevant)]))
  const against = (query: string): Priors => ({
    of: (serviceId) => (relevant.get(query)?.has(serviceId) ? -PRIOR_MAX : PRIOR_MAX),
  })
  const off = await evaluate(
    allJudged,
    idsBy(catalog, () => null),
  )
  const worst = await evaluate(allJudged, idsBy(catalog, against))
  expect(off.mrr - worst.mrr).toBeLessThanOrEqual(FALL_MAX_AT_WORST)
  expect(off.hitAt8 - worst.hitAt8).toBeLessThanOrEqual(HITS_LOST_MAX)
})
