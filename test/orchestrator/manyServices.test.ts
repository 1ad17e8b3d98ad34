// Goal: services of every kind go in whole, in our own form and in the mpp directory's, with their
// realms and their prices.
// Method: the 181 services of test/data/catalog.
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { readRealmNames } from '#orchestrator/catalog/realmNames.ts'
import { itemsOf, membersOf } from '#primitives.ts'
import { findServices } from '#rows/catalog/catalogReads.ts'
import { openCatalog, type TestCatalog } from './support/catalog.ts'
import { directoryServices, importServices, ownServices } from './support/catalogData.ts'

/** An import's words the first time and the second, and how many endpoints are held then. */
async function importedTwice(catalog: TestCatalog, sourceId: string, document: unknown) {
  const [first, second] = [
    await catalog.importAs(sourceId, document),
    await catalog.importAs(sourceId, document),
  ]
  const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM app.catalog_endpoints
    JOIN app.catalog_entries USING (entry) WHERE source_id = ${sourceId}`.execute(catalog.app)
  return { first, second, endpoints: rows[0]?.n }
}
const nothing = { added: 0, changed: 0, unchanged: 0, removed: 0, problems: [] }

it('takes our own format whole, twice over', async () => {
  const catalog = await openCatalog()
  const { first, second, endpoints } = await importedTwice(catalog, 'own', ownServices())
  expect(first).toMatchObject({ ...nothing, added: 145 })
  expect(second).toMatchObject({ ...nothing, unchanged: 145 })
  expect(endpoints).toBe(461)
  expect(await readRealmNames(catalog.reads)).toHaveLength(145)
})

it('takes the form of the mpp directory whole, twice over', async () => {
  const catalog = await openCatalog()
  const { first, second, endpoints } = await importedTwice(catalog, 'mpp', directoryServices())
  expect(first).toMatchObject({ ...nothing, added: 36 })
  expect(second).toMatchObject({ ...nothing, unchanged: 36 })
  expect(endpoints).toBe(112)
  // Four share one realm, and one names a stranger's.
  const names = new Map((await readRealmNames(catalog.reads)).map(({ realm, name }) => [realm, name]))
  expect(names.size).toBe(32)
  expect(names.get('relay.example')).toBe('relay.example')
  expect(names.get('skyglass.example')).toBe('Skyglass')
  expect(names.has('pay.elsewhere.example')).toBe(false)
})

it('keeps prices of each form', async () => {
  const catalog = await openCatalog()
  await importServices(catalog)
  const offersOf = async (serviceId: string, path: string) => {
    const [service] = await findServices(catalog.app, [serviceId])
    return itemsOf(membersOf(service?.document)['endpoints'])
      .map(membersOf)
      .find((endpoint) => endpoint['path'] === path)?.['paymentOffers']
  }
  const charge = { protocol: 'mpp', intent: 'charge', method: 'tempo', decimals: 6 }
  expect(await offersOf('skyglass', '/nowcast')).toMatchObject([
    { ...charge, amount: '2000', unitType: 'request' },
  ])
  expect(await offersOf('pinpoint-geo', '/v2/batch')).toMatchObject([
    { ...charge, amount: null, dynamic: true, amountHint: '$0.30 for 1,000 rows' },
  ])
  expect(await offersOf('modelmart', '/v1/chat/completions')).toMatchObject([
    { intent: 'session', dynamic: true, unitType: 'token' },
  ])
  expect(await offersOf('genopath', '/variants/:id')).toMatchObject([
    { method: 'stripe', currency: 'usd', amount: '2', decimals: 2 },
  ])
  expect(await offersOf('quillmail', '/audiences/:id/members/:email')).toEqual([])
  expect(await offersOf('coinspool', '/price')).toMatchObject([charge, { protocol: 'x402', amount: '500' }])
})
