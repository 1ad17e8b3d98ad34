// Goal: jobs are bought out of one deposit, by a signature each; each is paid for once, and closing pays
// for what was bought.
// Method: the doors on loopback, two of them on the same rows, on a dev chain; the payer is the payment
// library's own manager of one channel.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sponsor } from '#payments/chain/Sponsor.ts'
import type { TempoChargeMethod } from '#payments/methods/charge/TempoChargeMethod.ts'
import { membersOf } from '#primitives.ts'
import { findChannel } from '#rows/payments/channels.ts'
import { readBalances } from '#rows/payments/ledger.ts'
import { openSession, type PayerOptions, sessionsOf } from '../../../payments/support/sessions.ts'
import { accountOf, balanceOf, PATH_USD } from '../../../payments/support/shop.ts'
import { fivefold, hashing, startJobShop } from '../support/jobShop.ts'

const chainId = 1337
const recipient: `0x${string}` = `0x${accountOf(29).address.slice(2).toLowerCase()}`
const ends: (() => unknown)[] = []
let market: Awaited<ReturnType<typeof startJobShop>>
let shop: Awaited<ReturnType<typeof market.shop.serve>>
let other: typeof shop

beforeAll(async () => {
  market = await startJobShop((end) => void ends.push(end), 29)
  const { catalog, key, serve } = market.shop
  const sponsor = new Sponsor({ app: catalog.app, chainId, account: accountOf(7), limit: 10_000_000n })
  const { rpcUrl } = market.chain
  const sessions = sessionsOf({ app: catalog.app, rpcUrl, chainId, recipient, sponsor }, key)
  const methods = (charges: TempoChargeMethod) => [charges, sessions]
  ;[shop, other] = await Promise.all([serve({ methods }), serve({ methods })])
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const orderOf = (plan: object, idempotencyKey: string = randomUUID()) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ idempotencyKey, plan }),
})
const openPayer = (index: number, options: PayerOptions = {}) =>
  openSession(index, { rpcUrl: market.chain.rpcUrl, chainId }, options)
const jobsOf = (index: number) =>
  market.shop.catalog.app
    .selectFrom('app.jobs')
    .select(['id', 'payment_method', 'charged_amount'])
    .where('payer', '=', Buffer.from(accountOf(index).address.slice(2), 'hex'))
    .orderBy('created_at')
    .execute()

test('a session and a charge are offered, both for the whole price', async () => {
  const answer = await fetch(`${shop.origin}/v1/jobs`, orderOf(fivefold))
  expect(answer.status).toBe(402)
  const offered = (answer.headers.get('www-authenticate') ?? '').split(/, (?=Payment )/)
  const requests = offered.map((each) => {
    const member = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(each)?.[1] ?? ''
    const request = JSON.parse(Buffer.from(member('request'), 'base64url').toString())
    return [member('intent'), request.currency, request.amount, request.suggestedDeposit]
  })
  expect(requests).toContainEqual(['charge', PATH_USD, '63100', undefined])
  expect(requests).toContainEqual(['session', PATH_USD, '63100', '500000'])
})

test('two jobs are bought out of one deposit, each once, by either process', async () => {
  const before = await balanceOf(market.chain.rpcUrl, PATH_USD, recipient)
  const { manager, sent } = openPayer(1)
  const first = await manager.fetch(`${shop.origin}/v1/jobs`, orderOf(fivefold))
  const { jobId } = JSON.parse(await first.text())
  expect([first.status, first.receipt?.spent]).toEqual([200, '63100'])
  const second = await manager.fetch(`${other.origin}/v1/jobs`, orderOf(hashing('by session')))
  expect([second.status, second.receipt?.spent]).toEqual([200, '63200'])
  // A voucher that has bought a job is told of it again, and buys no other.
  const voucher = sent.findLast(({ headers }) => headers.has('authorization'))
  const again = await fetch(voucher?.clone() ?? '')
  expect([again.status, JSON.parse(await again.text()).jobId]).toEqual([
    200,
    JSON.parse(await second.text()).jobId,
  ])
  const authorization = voucher?.headers.get('authorization') ?? ''
  const { headers, ...changed } = orderOf(hashing('another plan'))
  const elsewhere = await fetch(`${shop.origin}/v1/jobs`, {
    ...{ ...changed, headers: { ...headers, authorization } },
  })
  expect(elsewhere.status).toBe(403)
  expect(await jobsOf(1)).toEqual([
    { id: jobId, payment_method: 'session', charged_amount: '63100' },
    { id: expect.any(String), payment_method: 'session', charged_amount: '100' },
  ])
  const receipt = await manager.close()
  expect(receipt?.spent).toBe('63200')
  expect((await balanceOf(market.chain.rpcUrl, PATH_USD, recipient)) - before).toBe(63_200n)
  expect(await findChannel(market.shop.catalog.app, manager.channelId ?? '')).toMatchObject({
    ...{ isClosed: true, spent: 63_200n, settled: 63_200n },
  })
  const balances = await readBalances(market.shop.catalog.app)
  expect(balances.find(({ account }) => account === 'escrow:jobs')?.amount).toBe(63_200n)
})

test('a voucher that two processes get at once buys one job', async () => {
  const payer = openPayer(2)
  await payer.manager.fetch(`${shop.origin}/v1/jobs`, orderOf(hashing('first')))
  const order = orderOf(hashing('second'))
  const voucher = await payer.nextVoucher(`${shop.origin}/v1/jobs`, order)
  const answers = await Promise.all(
    [shop, other, shop, other].map(({ origin }) => voucher(`${origin}/v1/jobs`, order)),
  )
  const told = await Promise.all(answers.map(async (answer) => JSON.parse(await answer.text()).jobId))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(new Set(told).size).toBe(1)
  expect(await jobsOf(2)).toHaveLength(2)
  expect(await findChannel(market.shop.catalog.app, payer.manager.channelId ?? '')).toMatchObject({
    spent: 200n,
  })
})

const toolPlan = { nodes: hashing('tool').nodes.map((node) => ({ ...node, dependsOn: [] })) }
/** The answer of create_job to a credential. */
const create = async (authorization: string, key?: string) =>
  membersOf((await askToCreate(authorization, key))['result'])

async function askToCreate(authorization: string, idempotency_key: string = randomUUID()) {
  const params = { name: 'create_job', arguments: { idempotency_key, plan: toolPlan } }
  const headers = { authorization, 'content-type': 'application/json', accept: 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const answer = await fetch(`${shop.origin}/mcp`, { method: 'POST', headers, body })
  return membersOf(await answer.json())
}

test('a tool takes a voucher for a job, and closes a channel without buying one', async () => {
  const url = `${shop.origin}/v1/jobs`
  const buying = openPayer(3)
  await buying.manager.fetch(url, orderOf(hashing('rest')))
  const key = randomUUID()
  const voucher = await buying.signedFor(() => buying.manager.fetch(url, orderOf(toolPlan, key)))
  expect(await create(voucher, key)).toMatchObject({
    structuredContent: { job: { jobId: expect.any(String), ready: false } },
    _meta: { 'org.paymentauth/receipt': { status: 'success', spent: '200' } },
  })
  expect(await jobsOf(3)).toHaveLength(2)

  const closing = openPayer(4)
  await closing.manager.fetch(url, orderOf(hashing('the only one')))
  const closed = await create(await closing.signedFor(() => closing.manager.close()))
  expect(closed).toMatchObject({ structuredContent: { receipt: { status: 'success' } } })
  expect(await jobsOf(4)).toHaveLength(1)
  expect(await findChannel(market.shop.catalog.app, closing.manager.channelId ?? '')).toMatchObject({
    ...{ isClosed: true, settled: 100n },
  })
})

test('a tool adds to a channel without buying a job', async () => {
  const { manager, sent } = openPayer(5, { maxDeposit: '5' })
  // Eight of 63,100 are more than the deposit of half a dollar.
  for (let job = 0; job < 8; job++) {
    const bought = await manager.fetch(`${shop.origin}/v1/jobs`, orderOf(fivefold))
    expect(bought.status).toBe(200)
  }
  const topUp = sent.find(({ method, headers }) => method === 'POST' && !headers.has('content-type'))
  const before = await findChannel(market.shop.catalog.app, manager.channelId ?? '')
  const told = await create(topUp?.headers.get('authorization') ?? '')
  expect(told).toMatchObject({ structuredContent: { receipt: { status: 'success' } } })
  expect(told['structuredContent']).not.toHaveProperty('job')
  expect(await jobsOf(5)).toHaveLength(8)
  // It was added before, and is added once.
  expect(await findChannel(market.shop.catalog.app, manager.channelId ?? '')).toEqual(before)
})

test('a client that has lost its record goes on with its channel, by HEAD /v1/jobs', async () => {
  const url = `${shop.origin}/v1/jobs`
  const first = openPayer(6)
  await first.manager.fetch(url, orderOf(hashing('before')))
  const cold = openPayer(6, { bootstrap: true })
  const answer = await cold.manager.fetch(url, orderOf(hashing('after')))
  expect([answer.status, answer.receipt?.spent]).toEqual([200, '200'])
  expect(cold.manager.channelId).toBe(first.manager.channelId)
  const proof = cold.sent.find(({ method, headers }) => method === 'HEAD' && headers.has('authorization'))
  expect(new URL(proof?.url ?? '').pathname).toBe('/v1/jobs')
  expect(await jobsOf(6)).toHaveLength(2)
})

test('a channel that is over buys no job: 410, and a tool is told so', async () => {
  const url = `${shop.origin}/v1/jobs`
  const payer = openPayer(8)
  await payer.manager.fetch(url, orderOf(hashing('the last one')))
  const key = randomUUID()
  const voucher = await payer.nextVoucher(url, orderOf(toolPlan, key))
  const authorization = payer.sent.at(-1)?.headers.get('authorization') ?? ''
  await payer.manager.close()
  const gone = { type: 'https://paymentauth.org/problems/session/channel-finalized' }
  for (const { origin } of [shop, other]) {
    const answer = await voucher(`${origin}/v1/jobs`)
    expect([answer.status, await answer.json()]).toMatchObject([410, gone])
  }
  expect(JSON.stringify(await askToCreate(authorization, key))).toContain(gone.type)
  expect(await jobsOf(8)).toHaveLength(1)
})
