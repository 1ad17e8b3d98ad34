// Goal: where the operator wants it, what was paid for and did not come moves an endpoint below one
// that fits as well, and nothing else moves.
// Method: jobs that an engine ran with scripted sellers, and the judged questions of test/data/catalog.
import { expect, test } from 'vitest'
import { QualityPriors } from '#orchestrator/search/QualityPriors.ts'
import { type Priors, search } from '#orchestrator/search/search.ts'
import { openCatalog, shop, type TestCatalog } from '../support/catalog.ts'
import { importServices, questionsOf } from '../support/catalogData.ts'
import { openEngine } from './support/engine.ts'
import { node, orderOf } from './support/jobOrder.ts'
import { paidFor, type Sale } from './support/scriptedSellers.ts'

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
