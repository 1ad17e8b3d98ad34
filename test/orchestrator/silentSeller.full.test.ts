// Goal: a seller that never answers holds up nobody for longer than the deadline, and is named.
// Method: a seller on loopback that takes requests and stays silent; the limits are the product's own.
import { expect, test } from 'vitest'
import { Egress } from '#egress/Egress.ts'
import { ApiError } from '#http/errors.ts'
import { readPlan } from '#orchestrator/plan/readPlan.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { Liveness } from '#orchestrator/verify/Liveness.ts'
import { Verifier } from '#orchestrator/verify/Verifier.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { openCatalog } from './support/catalog.ts'
import { endless } from './support/demo.ts'
import { asks, challenge, openSeller } from './support/seller.ts'

test('a silent seller is named in quotes, fails a look, and stays in a live search', async () => {
  const catalog = await openCatalog()
  const seller = await openSeller()
  const { clock, random } = systemRuntime()
  const egress = new Egress({ isLocalOrigin: (origin) => origin === seller.origin })
  const signal = new AbortController().signal
  seller.on('/shop/silent', () => {})
  seller.on('/shop/honest', asks(challenge()))
  const paymentOffers = [{ intent: 'charge', method: 'tempo', protocol: 'mpp', amount: '10000' }]
  const endpoints = ['/silent', '/honest'].map((path) => ({
    ...{ method: 'POST', path, description: 'Zebra.', paymentOffers },
  }))
  await catalog.importAs('own', [{ id: 'shop', serviceUrl: `${seller.origin}/shop`, endpoints }])

  const quotes = new Quotes({
    ...{ app: catalog.reads, egress, clock, allowance: endless },
    terms: quoteTerms('1', parTokensDefault),
  })
  const nodes = endpoints.map(({ path }) => ({ id: path, serviceId: 'shop', method: 'POST', path }))
  const quoting = quotes.quote(readPlan({ nodes }), 'somebody', signal).catch((error: unknown) => error)
  const verifier = new Verifier({ app: catalog.app, egress, clock, random })
  const verifying = verifier.verifyService('shop', signal)
  const liveness = new Liveness({ app: catalog.reads, egress, clock, allowance: endless, isOwn: () => false })
  const { endpoints: listed } = await catalog.search('zebra')
  const living = await liveness.keepLiving(listed, 'somebody', signal)
  expect(living.map(({ path }) => path).sort()).toEqual(['/honest', '/silent'])

  const refused = await quoting
  if (!(refused instanceof ApiError)) throw new Error('was not refused')
  expect(refused.code).toBe('quote_unavailable')
  expect(refused.details.map(({ message }) => message)).toEqual([
    '/silent: shop POST /silent did not answer in time',
  ])
  expect((await verifying).map(({ path, state, sight }) => [path, state, sight?.problem])).toEqual([
    ['/honest', 'verified', null],
    ['/silent', 'failing', 'did not answer in time'],
  ])
})
