// Goal: a payer of a job never pays twice or more than it was asked, whatever is not known, late or dearer
// by then; who pays by x402 is sold to as others are; what the wallet would not buy is not sold.
// Method: servers over one Postgres, a dev chain and a second chain; payers are the clients of both payment
// libraries as they are.
import { randomBytes, randomUUID } from 'node:crypto'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { Challenge } from 'mppx'
import { http, toHex } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Egress } from '#egress/Egress.ts'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { compareEntries } from '#rows/books/compareEntries.ts'
import { insertReservation, sumReserved } from '#rows/jobs/reservations.ts'
import { adoptHistory } from '#rows/jobs/wallet.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { pause, resume } from '#rows/payments/pauses.ts'
import { failPayment, listPayments, settlePayment } from '#rows/payments/payments.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { besideDevChain, parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { TempoChargePaying } from '#wallet/protocols/TempoChargePaying.ts'
import { Budget } from '#wallet/spend/Budget.ts'
import { deaf } from '../../../payments/support/deaf.ts'
import { type SecondChain, startSecondChain, x402Payer } from '../../../payments/support/secondChain.ts'
import { accountOf, balanceOf, PATH_USD, payer } from '../../../payments/support/shop.ts'
import { localFacilitator, x402Method } from '../../../payments/support/x402Method.ts'
import { ample } from '../../../wallet/support/wallet.ts'
import { endless } from '../../support/demo.ts'
import { hashing, startJobShop } from '../support/jobShop.ts'

const chainId = 1337
/** One call of the demo's hashes. */
const HASH_PRICE = 100n
const recipient: `0x${string}` = `0x${accountOf(17).address.slice(2).toLowerCase()}`
const { clock } = systemRuntime()
const ends: (() => unknown)[] = []
let chain: Awaited<ReturnType<typeof startJobShop>>['chain']
let shop: Awaited<ReturnType<typeof startJobShop>>['shop']

beforeAll(async () => {
  ;({ chain, shop } = await startJobShop((end) => void ends.push(end), 17))
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const received = () => balanceOf(chain.rpcUrl, PATH_USD, recipient)
const client = (index = 1) => payer(accountOf(index), { rpcUrl: chain.rpcUrl, chainId })
const requestOf = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
const post = async (body: object, headers: Record<string, string> = {}, origin = shop.origin) => {
  const answer = await fetch(`${origin}/v1/jobs`, requestOf(body, headers))
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
}
const bytesOf = (address: string) => Buffer.from(address.slice(2), 'hex')
const jobOf = (plan: object) => ({ idempotencyKey: randomUUID(), plan })
const jobs = async () => (await shop.catalog.app.selectFrom('app.jobs').select('id').execute()).length
const booksSum = async () =>
  (await readBalances(shop.catalog.app)).reduce((sum, { amount }) => sum + amount, 0n)

/** A process whose operator sells for twice of what sellers ask. */
const dearer = () =>
  new Quotes({
    ...{ app: shop.catalog.reads, egress: new Egress({ isLocalOrigin: () => true }), clock },
    ...{ allowance: endless, terms: besideDevChain(quoteTerms('2', parTokensDefault), DEV_CHAIN_ID) },
  })

async function credentialFor(body: object, origin = shop.origin): Promise<string> {
  const refused = await client().rawFetch(`${origin}/v1/jobs`, requestOf(body))
  return client().createCredential(refused)
}

it('a settlement that is not known yet is told as the job that it makes, and never asked again', async () => {
  const { origin, payments } = await shop.serve({ methods: (charges) => [deaf(charges, 3)] })
  const body = jobOf(hashing('unknown'))
  const authorization = await credentialFor(body, origin)
  const before = await received()
  const first = await post(body, { authorization }, origin)
  expect([first.status, first.body]).toEqual([200, { jobId: expect.any(String), ready: false }])
  const { jobId } = first.body
  // Another process hears as little.
  const again = await post(body, { authorization }, origin)
  for (const { headers } of [first, again])
    expect([headers.get('payment-receipt'), headers.get('www-authenticate')]).toEqual([null, null])
  expect([again.status, again.body]).toEqual([200, { jobId, ready: false }])
  const read = await fetch(`${origin}/v1/jobs/${jobId}`)
  expect([read.status, await read.json()]).toEqual([202, { jobId, ready: false }])
  const review = await fetch(`${origin}/v1/jobs/${jobId}/feedback`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ rating: 5 }),
  })
  expect([review.status, await review.json()]).toEqual([
    202,
    { jobId, reward: { status: 'ineligible', reason: 'job_not_ready' } },
  ])
  expect((await fetch(`${origin}/v1/jobs/${jobId}/feedback`)).status).toBe(200)
  const reading = new AbortController()
  onTestFinished(() => reading.abort())
  const events = fetch(`${origin}/v1/jobs/${jobId}/events`, { signal: reading.signal })

  await expect
    .poll(async () => (await post(body, { authorization }, origin)).headers.has('payment-receipt'))
    .toBe(true)
  await payments.reconcile()
  expect((await post(body, { authorization }, origin)).body).toMatchObject({ jobId })
  let told = ''
  for await (const bytes of (await events).body ?? []) {
    told += Buffer.from(bytes)
    if (told.includes('event: job')) break
  }
  expect((await received()) - before).toBe(HASH_PRICE)
  expect(await booksSum()).toBe(0n)
})

describe('an order whose payment has not settled', () => {
  /** Orders whose payment's outcome stays unheard so often. */
  const ordered = async (times: number) => {
    const { origin, payments } = await shop.serve({ methods: (charges) => [deaf(charges, times)] })
    const body = jobOf(hashing('pending'))
    const authorization = await credentialFor(body, origin)
    const { body: told } = await post(body, { authorization }, origin)
    const jobId = String(told.jobId)
    return { origin, payments, body, authorization, jobId }
  }
  const keptFor = (jobId: string) =>
    shop.catalog.app
      .selectFrom('app.jobs')
      .select('cancel_requested_at')
      .where('id', '=', jobId)
      .executeTakeFirst()

  it('is told to its payer as one to cancel later, and to no other', async () => {
    const { origin, body, authorization, jobId } = await ordered(2)
    const cancel = (by: number) =>
      client(by).fetch(`${origin}/v1/jobs/${jobId.toUpperCase()}/cancel`, { method: 'POST' })
    expect((await cancel(2)).status).toBe(403)
    const early = await cancel(1)
    expect([early.status, early.headers.get('retry-after'), await early.json()]).toMatchObject([
      ...[503, '5'],
      { error: { code: 'settlement_pending' } },
    ])
    await expect
      .poll(async () => (await post(body, { authorization }, origin)).headers.has('payment-receipt'))
      .toBe(true)
    const answer = await cancel(1)
    expect([answer.status, await answer.json()]).toEqual([200, { jobId, ready: false }])
    expect(await keptFor(jobId)).toEqual({ cancel_requested_at: expect.any(Date) })
  })

  it('and was held to have failed is no job where it settles after all: its payer was asked anew', async () => {
    const { app } = shop.catalog
    const { origin, body, authorization, jobId } = await ordered(Number.POSITIVE_INFINITY)
    const payment = (await listPayments(app, 1)).find(({ scope }) => scope === 'jobs')
    if (!payment) throw new Error('it has a payment')
    const parts = [{ serviceId: 'demo-hashes', payee: null, units: 5n }]
    const before = await sumReserved(app)
    await insertReservation(app, { jobId, paymentId: payment.id, payer: payment.payer, parts }, '2026-01-01')
    await failPayment(app, payment)
    const read = async () => (await fetch(`${origin}/v1/jobs/${jobId}`)).status
    expect(await read()).toBe(404)
    await settlePayment(app, payment, { receipt: 'e30', txHash: null })
    expect(await read()).toBe(404)
    expect((await fetch(`${origin}/v1/jobs/${jobId}/events`)).status).toBe(404)
    expect((await post(body, { authorization }, origin)).body).not.toMatchObject({ jobId })
    expect(await sumReserved(app)).toBe(before)
    const anew = await post(body, { authorization: await credentialFor(body) })
    expect([anew.status, anew.body.jobId]).toEqual([200, expect.not.stringMatching(jobId)])
    expect(await keptFor(anew.body.jobId)).toEqual({ cancel_requested_at: null })
  })
})

describe('a challenge', () => {
  /** The charge that a 402 asks for, with another end. */
  async function endingAt(body: object, expires: string, secretKey?: string): Promise<string> {
    const refused = await client().rawFetch(`${shop.origin}/v1/jobs`, requestOf(body))
    const [asked] = Challenge.fromResponseList(refused)
    if (!asked) throw new Error('nothing is asked')
    const { id, ...terms } = asked
    const changed = Challenge.from({ ...terms, expires, ...(secretKey ? { secretKey } : { id }) })
    const headers = { 'www-authenticate': Challenge.serialize(changed) }
    return client().createCredential(new Response(null, { status: 402, headers }))
  }
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

  it('that is over is paid no more: a new one is asked, and nothing is taken', async () => {
    const body = jobOf(hashing('expired'))
    const authorization = await endingAt(body, inMs(60_000), shop.key.toString('hex'))
    const [before, jobsBefore] = [await received(), await jobs()]
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    const over = await post(body, { authorization }).finally(() => vi.useRealTimers())
    expect(over.status).toBe(402)
    expect(over.headers.get('www-authenticate')).toMatch(/^Payment /)
    expect(over.body.type).toBe('https://paymentauth.org/problems/payment-expired')
    expect([await received(), await jobs()]).toEqual([before, jobsBefore])
    // Before its end the very same is taken.
    expect((await post(body, { authorization })).status).toBe(200)
  })

  it('is not given a later end by its payer', async () => {
    const body = jobOf(hashing('prolonged'))
    const before = await received()
    expect((await post(body, { authorization: await endingAt(body, inMs(3_600_000)) })).status).toBe(402)
    expect(await received()).toBe(before)
  })
})

it('a price that rose after it was asked is not charged, and is asked of whoever comes next', async () => {
  const { origin } = await shop.serve({ quotes: dearer() })
  const body = jobOf(hashing('rises'))
  const authorization = await credentialFor(body)
  const [before, next] = [await received(), await post(jobOf(hashing('rises')), {}, origin)]
  expect(Challenge.fromHeadersList(next.headers)[0]?.request).toMatchObject({ amount: `${2n * HASH_PRICE}` })
  expect((await post(body, { authorization }, origin)).status).toBe(200)
  expect((await received()) - before).toBe(HASH_PRICE)
})

describe('a plan that costs nothing', () => {
  const free = (id: string) => ({
    nodes: [{ id: 'look', serviceId: 'demo-reports', method: 'GET', path: `/reports/${id}` }],
  })

  it('is its payer’s by a proof, once for each key, and moves no money', async () => {
    const body = jobOf(free('none'))
    const [before, jobsBefore] = [await received(), await jobs()]
    const asked = await post(body)
    expect(asked.status).toBe(402)
    expect(Challenge.fromHeadersList(asked.headers)[0]?.request).toMatchObject({ amount: '0' })
    expect(await jobs()).toBe(jobsBefore)
    const order = (of = body, index = 1) => client(index).fetch(`${shop.origin}/v1/jobs`, requestOf(of))
    const first = await order()
    expect([first.status, first.headers.get('payment-receipt')]).toEqual([200, null])
    const { jobId } = Object(await first.json())
    expect(Object(await (await order()).json()).jobId).toBe(jobId)
    expect((await order({ ...body, plan: free('other') })).status).toBe(409)
    expect(Object(await (await order(body, 2)).json()).jobId).not.toBe(jobId)
    expect([await received(), await jobs()]).toEqual([before, jobsBefore + 2])
    expect(await booksSum()).toBe(0n)
  })
})

describe('a payer by x402', () => {
  let second: SecondChain
  let key: `0x${string}`
  beforeAll(async () => {
    second = await startSecondChain()
    key = await second.feePayer()
    ends.push(() => second.stop())
  })
  /** A server that sells by charges and by x402. */
  const serve = async (quotes?: Quotes) => {
    const place = { app: shop.catalog.app, rpcUrl: second.rpcUrl }
    const facilitator = localFacilitator({ ...place, key, perDay: 10n ** 17n })
    const x402 = await x402Method({ ...place, facilitator, recipient })
    return shop.serve({ methods: (charges) => [charges, x402], ...(quotes && { quotes }) })
  }
  const receivedThere = () => second.balanceOf(recipient)

  it('buys a plan by exactly its price, and has the same job for the same key', async () => {
    const { origin } = await serve()
    const account = await second.payer()
    const body = jobOf(hashing('by x402'))
    const before = await receivedThere()
    const answer = await x402Payer(account).fetch(`${origin}/v1/jobs`, requestOf(body))
    expect(answer.status).toBe(200)
    const { jobId } = Object(await answer.json())
    const receipt = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '')
    expect(receipt).toMatchObject({ success: true, payer: account.address.toLowerCase() })
    const job = await shop.catalog.app
      .selectFrom('app.jobs')
      .select(['state', 'charged_amount', 'chain_id'])
      .where('id', '=', jobId)
      .executeTakeFirstOrThrow()
    expect(job).toMatchObject({ state: 'queued', charged_amount: `${HASH_PRICE}`, chain_id: 8453 })
    const again = await x402Payer(account).fetch(`${origin}/v1/jobs`, requestOf(body))
    expect([again.status, Object(await again.json()).jobId]).toEqual([200, jobId])
    expect((await receivedThere()) - before).toBe(HASH_PRICE)
    expect(await booksSum()).toBe(0n)
  })

  it('who signed for less than the price of now is asked for that, and nothing is taken', async () => {
    const { origin } = await serve()
    const { origin: dear } = await serve(dearer())
    const one = x402Payer(await second.payer())
    const body = jobOf(hashing('dearer by x402'))
    const credential = await one.credentialFor(`${origin}/v1/jobs`, requestOf(body))
    const [before, jobsBefore] = [await receivedThere(), await jobs()]
    const refused = await post(body, { 'payment-signature': credential }, dear)
    expect([refused.status, refused.headers.has('payment-required')]).toEqual([402, true])
    expect([await receivedThere(), await jobs()]).toEqual([before, jobsBefore])
    expect((await one.fetch(`${dear}/v1/jobs`, requestOf(body))).status).toBe(200)
    expect((await receivedThere()) - before).toBe(2n * HASH_PRICE)
  })
})

/** A process whose calls a wallet of that key buys. */
async function buyer(account: LocalAccount, limits: Partial<typeof ample> = {}) {
  const { app, reads } = shop.catalog
  const terms = besideDevChain(quoteTerms('1', parTokensDefault), chainId)
  const chains = [{ chainId, endpoints: [http(chain.rpcUrl)] }]
  await adoptHistory(app, 0)
  const budget = new Budget({
    ...{ app, address: account.address, chains, terms, clock, mayPay: () => true },
    ...{ limits: { ...ample, ...limits }, paying: [new TempoChargePaying({ account, chains, clock })] },
  })
  const egress = new Egress({ isLocalOrigin: () => true })
  const quotes = new Quotes({ app: reads, egress, clock, allowance: endless, terms, budget })
  return (await shop.serve({ quotes, budget })).origin
}
/** One call of a hundredth of a dollar, and a fee of a twentieth at most. */
const locating = (city: string) => ({
  nodes: [{ id: 'place', serviceId: 'demo-places', method: 'POST', path: '/geocode', input: { city } }],
})
const answerOf = async (asked: ReturnType<typeof post>) => {
  const { status, headers, body } = await asked
  return { status, isAsked: headers.has('www-authenticate'), code: body.error?.code, body }
}

it('a transfer that its payer has sent, and that buys nothing, goes back', async () => {
  const pusher = payer(accountOf(6), { rpcUrl: chain.rpcUrl, chainId }, 'push')
  const order = async (body: object) => {
    const asked = await pusher.rawFetch(`${shop.origin}/v1/jobs`, requestOf(body))
    return post(body, { authorization: await pusher.createCredential(asked) })
  }
  const body = jobOf(hashing('pushed'))
  const [before, first] = [await received(), await order(body)]
  const again = await order(body)
  expect([again.status, again.body.jobId]).toEqual([200, first.body.jobId])
  const other = await order({ ...body, plan: hashing('pushed for another plan') })
  expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_conflict'])
  expect((await received()) - before).toBe(3n * HASH_PRICE)
  const { app } = shop.catalog
  const refunds = app.selectFrom('app.payouts').select(['amount', 'reference', 'kind'])
  const due = await refunds.where('recipient', '=', bytesOf(accountOf(6).address)).execute()
  expect(due.map(({ kind, amount }) => [kind, amount])).toEqual(Array(2).fill(['refund', `${HASH_PRICE}`]))
  const owed = (await listPayments(app, 1_000)).filter(({ isOwed }) => isOwed).map(({ id }) => id)
  expect(owed).toEqual(expect.arrayContaining(due.map(({ reference }) => reference)))
  const differing = (await compareEntries(app, 1_000)).map(({ transactionId }) => transactionId)
  for (const { reference } of due) expect(differing).not.toContain(reference)
})

describe('what the wallet would not buy', () => {
  it('is not sold: 503 in place of a 402', async () => {
    const poor = await buyer(privateKeyToAccount(toHex(randomBytes(32))))
    const rich = await buyer(accountOf(7))
    const ask = (origin: string, plan: object = locating('Paris')) => answerOf(post(jobOf(plan), {}, origin))
    expect(await ask(rich)).toMatchObject({ status: 402, isAsked: true })
    const refused = { status: 503, isAsked: false, code: 'wallet_unavailable' }
    expect(await ask(poor)).toMatchObject(refused)
    await pause(shop.catalog.app, 'wallet', 'a look')
    expect(await ask(rich)).toMatchObject(refused)
    await resume(shop.catalog.app, 'wallet')
  })

  it('of two orders at once one is sold where the day has room for one, and only that one is paid', async () => {
    const origin = await buyer(accountOf(7), { dayUnits: 110_000n })
    const bodies = ['Paris', 'London'].map((city) => jobOf(locating(city)))
    const credentials = await Promise.all(bodies.map((body) => credentialFor(body, origin)))
    const [moneyBefore, before] = [await received(), await jobs()]
    const told = await Promise.all(
      bodies.map((body, index) => answerOf(post(body, { authorization: credentials[index] ?? '' }, origin))),
    )
    expect(told.map(({ status, code }) => [status, code]).toSorted()).toEqual([
      [200, undefined],
      [503, 'wallet_unavailable'],
    ])
    const { charged_amount: charged } = await shop.catalog.app
      .selectFrom('app.jobs')
      .select('charged_amount')
      .orderBy('created_at', 'desc')
      .executeTakeFirstOrThrow()
    // Its price with the stated fee.
    expect(BigInt(charged ?? 0)).toBeGreaterThan(10_000n)
    expect((await received()) - moneyBefore).toBe(BigInt(charged ?? 0))
    expect((await jobs()) - before).toBe(1)
    // From now on it is told before the 402, and the same job is told to its payer.
    expect(await answerOf(post(jobOf(locating('Oslo')), {}, origin))).toMatchObject({
      ...{ status: 503, isAsked: false },
    })
    const sold = told.findIndex(({ status }) => status === 200)
    const again = await answerOf(post(bodies[sold] ?? {}, { authorization: credentials[sold] ?? '' }, origin))
    expect([again.status, again.body.jobId]).toEqual([200, told[sold]?.body.jobId])
  })
})
