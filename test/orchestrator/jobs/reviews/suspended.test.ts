// Goal: an endpoint whose calls are paid for and not delivered is neither found nor sold, its operator
// is told, and it is freed by a look or a day; no buyer alone takes from sale what others use.
// Method: jobs that an engine ran with scripted sellers, on a real database in which time is moved; a
// seller on loopback is looked at.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Egress } from '#egress/Egress.ts'
import { describeService } from '#orchestrator/catalog/description/describe.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { SuspensionWatch } from '#orchestrator/verify/SuspensionWatch.ts'
import { Verifier } from '#orchestrator/verify/Verifier.ts'
import { adoptHistory, reserveSpend } from '#rows/jobs/wallet.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import { parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { ample } from '../../../wallet/support/wallet.ts'
import { openCatalog, type TestCatalog } from '../../support/catalog.ts'
import { endless } from '../../support/demo.ts'
import { asks, challenge, openSeller, type Seller } from '../../support/seller.ts'
import { randomHex } from '../support/boughtJobs.ts'
import { openEngine } from '../support/engine.ts'
import { node, orderOf } from '../support/jobOrder.ts'
import { paidFor, type Sale, sold, token } from '../support/scriptedSellers.ts'

let catalog: TestCatalog
let seller: Seller
let watch: SuspensionWatch
const ends: (() => unknown)[] = []
const { clock, random } = systemRuntime()
const signal = new AbortController().signal
const [one, other] = [randomHex(20), randomHex(20)]
const names = ['lost', 'freed', 'aged', 'alone', 'heard', 'input', 'own', 'mixed']

beforeAll(async () => {
  catalog = await openCatalog((end) => void ends.push(end))
  seller = await openSeller((end) => void ends.push(end))
  watch = new SuspensionWatch({ app: catalog.app, clock, log: silentLogger })
  const paid = { intent: 'charge', method: 'tempo', protocol: 'mpp', amount: '10000' }
  const endpoints = names.map((name) => ({
    ...{ method: 'POST', path: `/${name}`, description: `A ${name} zebra.`, paymentOffers: [paid] },
  }))
  for (const name of names) seller.on(`/shop/${name}`, asks(challenge()))
  await catalog.importAs('own', [
    {
      id: 'shop',
      serviceUrl: `${seller.origin}/shop`,
      endpoints: [{ ...endpoints[0], path: '/:any' }, ...endpoints],
    },
  ])
})
afterAll(async () => {
  for (const end of ends) await end()
})

const delivers: Sale = { answer: (purchase) => sold(purchase, { id: purchase.nodeId }) }
const answers = (status: number): Sale => ({
  answer: (purchase) => sold(purchase, {}, purchase.unitsMax, status),
})
const loses: Sale = {
  answer: (purchase) => ({
    ...{ kind: 'paid_not_delivered', status: null, message: 'The answer is lost.' },
    paid: paidFor(purchase, 900n),
  }),
}
/** A job with one call, for each payer in turn. */
async function call(name: string, sale: Sale, ...payers: readonly `0x${string}`[]) {
  const engine = openEngine(catalog.app, { [`/${name}`]: sale })
  for (const payer of payers)
    await engine.run({ ...orderOf({ nodes: [node('a', { path: `/${name}` })] }), payer })
  await engine.stop()
}
const egress = () => new Egress({ isLocalOrigin: (origin) => origin === seller.origin })
const lookAtSeller = () =>
  new Verifier({ app: catalog.app, egress: egress(), clock, random }).verifyService('shop', signal)
const pass = (hours: number) =>
  sql`UPDATE app.catalog_health SET suspended_at = suspended_at - ${hours} * interval '1 hour',
    suspended_until = suspended_until - ${hours} * interval '1 hour'`.execute(catalog.app)
const healthOf = async (name: string) =>
  (await describeService(catalog.reads, { serviceId: 'shop', method: 'POST', path: `/${name}` })).health[0]
/** After a look at all calls. */
async function stateOf(name: string) {
  await watch.look()
  return (await healthOf(name))?.state
}

test('five lost calls take an endpoint from searches, quotes and jobs, and raise an alarm', async () => {
  const quotes = new Quotes({
    ...{ app: catalog.reads, egress: egress(), clock, allowance: endless },
    terms: quoteTerms('1', parTokensDefault),
  })
  const plan = { nodes: [node('x', { path: '/heard' }), node('y', { path: '/lost' })] }
  const found = async () => (await catalog.search('zebra', { limit: 20 })).endpoints.map(({ path }) => path)
  await call('lost', loses, one, other, one, other)
  expect(await stateOf('lost')).toBe('unknown')
  expect(await quotes.quote(plan, 'somebody', signal)).toMatchObject({ totalNetAmountUnits: '20000' })
  expect(await found()).toContain('/lost')
  expect(watch.problems()).toEqual([])

  await call('lost', loses, one)
  expect(await stateOf('lost')).toBe('suspended')
  const reason = 'its last 5 calls that jobs paid for were not delivered (paid_not_delivered)'
  expect(await healthOf('lost')).toMatchObject({
    suspension: { reason, since: expect.stringMatching(/Z$/), until: expect.stringMatching(/Z$/) },
  })
  expect(await found()).not.toContain('/lost')
  expect(await found()).toContain('/:any')
  for (const asked of [plan, { nodes: plan.nodes.slice(1) }])
    await expect(quotes.quote(asked, 'somebody', signal)).rejects.toMatchObject({
      code: 'quote_unavailable',
      details: [
        {
          path: ['body', 'nodes', asked.nodes.length - 1],
          message: expect.stringMatching(/^y: shop POST \/lost is suspended until .*Z: its last 5 calls/),
        },
      ],
    })
  // A retried job has the output of its node.
  expect(await quotes.quote(plan, 'somebody', signal, ['y'])).toMatchObject({ totalNetAmountUnits: '10000' })
  expect(watch.problems()).toEqual([
    {
      ...{ chainId: 1337, code: 'endpoint_suspended' },
      problem: expect.stringMatching(/^shop POST \/lost is suspended until .*Z: its last 5 calls/),
    },
  ])
  await pass(24)
  await watch.look()
  expect(watch.problems()).toEqual([])
})

test('a look that verifies it frees it after an hour, and its next lost call suspends it again', async () => {
  await call('freed', answers(503), one, other, one, other, one)
  expect(await stateOf('freed')).toBe('suspended')
  await lookAtSeller()
  expect(await stateOf('freed')).toBe('suspended')
  await pass(1)
  await lookAtSeller()
  expect(await stateOf('freed')).toBe('verified')
  await call('freed', loses, one)
  expect(await stateOf('freed')).toBe('suspended')
})

test('what no look verifies is freed after a day', async () => {
  await call('aged', loses, one, other, one, other, one)
  expect(await stateOf('aged')).toBe('suspended')
  const { rows } = await sql<{ soon: boolean }>`
    SELECT next_at < now() + interval '1 hour' AS soon FROM app.catalog_health WHERE path = '/aged'`.execute(
    catalog.app,
  )
  expect(rows).toEqual([{ soon: true }])
  await pass(23)
  expect(await stateOf('aged')).toBe('suspended')
  await pass(1)
  expect(await stateOf('aged')).not.toBe('suspended')
})

test('one payer suspends what nobody else has called, and nothing that others use', async () => {
  await call('alone', loses, one, one, one, one, one)
  expect(await stateOf('alone')).toBe('suspended')
  await call('heard', delivers, other)
  await call('heard', loses, one, one, one, one, one)
  expect(await stateOf('heard')).not.toBe('suspended')
})

test('refused inputs suspend nothing, and hide nothing', async () => {
  await call('input', answers(400), one, other, one, other, one)
  expect(await stateOf('input')).not.toBe('suspended')
  await call('mixed', loses, one, other)
  await call('mixed', answers(422), one, other)
  await call('mixed', answers(500), one, other)
  expect(await stateOf('mixed')).not.toBe('suspended')
  await call('mixed', loses, one)
  expect(await stateOf('mixed')).toBe('suspended')
})

test('calls that a seller buys from itself count neither for nor against it', async () => {
  await adoptHistory(catalog.app, 0)
  const itself = randomHex(20)
  const spend = {
    ...{ jobId: crypto.randomUUID(), nodeId: 'a', attempt: 1, serviceId: 'shop', protocol: 'mpp' as const },
    ...{ chainId: 1337, currency: token, amount: 1n, units: 1n, payer: randomHex(20), statedFeeUnits: 0n },
    recipient: itself,
  }
  expect(await reserveSpend(catalog.app, spend, ample, 1)).toMatchObject({ kind: 'reserved' })
  await call('own', loses, one, other, itself, itself, itself)
  expect(await stateOf('own')).not.toBe('suspended')
  await call('own', loses, one, other, one)
  await call('own', delivers, itself)
  expect(await stateOf('own')).toBe('suspended')
})
