// Goal: nobody whom a job calls learns the id that it is read and reviewed by, nor a digest of it, and
// no log has it; the code that a call goes by is a node's own, whichever process makes the call, and tells
// on the chain what a restored database has forgotten.
// Method: an engine and a wallet on a dev chain; sellers on loopback write down all that they are sent.
import { createHash } from 'node:crypto'
import { keccak256, toHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CatalogService, ServiceEndpoint } from '#orchestrator/catalog/service.ts'
import { createJob } from '#orchestrator/job/createJob.ts'
import type { PlanNode } from '#orchestrator/plan/plan.ts'
import { address } from '#primitives.ts'
import { heldJobs } from '#rows/jobs/heldJobs.ts'
import { resumeWallet } from '#rows/payments/pauses.ts'
import type { Logger } from '#telemetry.ts'
import { accountOf, PATH_USD } from '../../../payments/support/shop.ts'
import { openAppStore } from '../../../support/appStore.ts'
import { startMiningDevChain } from '../../../support/devchain.ts'
import { forgetSpends, lookAnew } from '../../../wallet/support/forgotten.ts'
import { openPaidSeller, type PaidSeller } from '../../../wallet/support/paidSeller.ts'
import { openWallet, purchaseOf } from '../../../wallet/support/wallet.ts'
import type { Asked } from '../../support/seller.ts'
import { openEngine } from '../support/engine.ts'
import { node, orderOf, place } from '../support/jobOrder.ts'
import { type Sale, sold } from '../support/scriptedSellers.ts'

const { app } = await openAppStore()
let chain: Awaited<ReturnType<typeof startMiningDevChain>>
let seller: PaidSeller
const ends: (() => Promise<void>)[] = []

beforeAll(async () => {
  chain = await startMiningDevChain(1337)
  seller = await openPaidSeller(chain, address(accountOf(60).address), (end) => ends.push(end))
})
afterAll(async () => {
  for (const end of ends) await end()
  await chain?.remove()
})

/** The id in the forms that somebody could send it in, and what digests make of it. */
function formsOf(jobId: string): readonly string[] {
  const plain = jobId.replaceAll('-', '')
  const texts = [jobId, plain, `${jobId}-0`, `${jobId}-1`]
  const digests = ['md5', 'sha1', 'sha256'].flatMap((name) =>
    [...texts, Buffer.from(plain, 'hex')].map((given) => createHash(name).update(given).digest()),
  )
  const hashes = [
    ...digests,
    ...texts.map((text) => Buffer.from(keccak256(toHex(text)).slice(2), 'hex')),
    Buffer.from(plain, 'hex'),
  ]
  return [...texts, ...hashes.flatMap((hash) => [hash.toString('hex'), hash.toString('base64url')])]
}

/** All of a request as text, with what its headers have in base64. */
function textOf({ url, body, headers }: Asked): string {
  const values = Object.values(headers).flatMap((value) => value ?? [])
  const coded = values.flatMap((value) => value.split(/[\s,="]+/))
  const decoded = coded.map((each) => Buffer.from(each, 'base64').toString('latin1'))
  return [url, body, JSON.stringify(headers), ...decoded].join('\n').toLowerCase()
}

const completion = {
  ...{ method: 'GET', path: '/works/:id', idPointer: '/id', statusPointer: '/status' },
  ...{ successStatuses: ['done'], failureStatuses: ['failed'], maxAttempts: 3, pollIntervalSeconds: 1 },
} satisfies ServiceEndpoint['completion']

test('no request that leaves has the id of its job, and no log', async () => {
  const logged: string[] = []
  const writeDown = (fields: object, message: string) =>
    void logged.push(`${message} ${JSON.stringify(fields)}`)
  const log: Logger = { debug: writeDown, info: writeDown, warn: writeDown, error: writeDown }
  const wallet = await openWallet({ app, chain, account: accountOf(1), origins: [seller.origin], log })
  const endpointOf = async ({ serviceId, method, path }: PlanNode) => ({
    service: {
      id: serviceId,
      serviceUrl: seller.origin,
      recipientPolicy: { mode: 'origin' },
    } as CatalogService,
    endpoint: {
      ...{ method, path, requestFormat: 'json', paymentOffers: [] },
      ...(path === '/work' && { completion }),
    } as unknown as ServiceEndpoint,
    url: new URL(seller.origin + path),
  })
  const json = { 'content-type': 'application/json' }
  seller.on('/free', (_, response) => response.writeHead(200, json).end('{}'))
  seller.on('/works/w1', (_, response) => response.writeHead(200, json).end('{"status":"done"}'))
  const sell = (path: string, status: number, body: object) =>
    seller.sell(path, {}, async (response, take) => {
      await take()
      response.writeHead(status, json).end(JSON.stringify(body))
    })
  sell('/paid', 200, {})
  sell('/work', 202, { id: 'w1', status: 'pending' })
  const plan = { nodes: [node('free'), node('paid'), node('work')] }
  const { spender: buyer, options } = wallet
  const { run } = openEngine(app, {}, { buyer, egress: options.egress, endpointOf, log })
  const { job } = await run(orderOf(plan, { free: 0, paid: 1_000_000, work: 1_000_000 }))

  expect(job.state).toBe('succeeded')
  // A slow node has calls made again: each was asked, and what costs money with and without a payment.
  const { paid = [], unpaid = [] } = Object.groupBy(seller.asked, ({ headers }) =>
    headers.authorization ? 'paid' : 'unpaid',
  )
  const urlsOf = (asked: readonly Asked[]) => new Set(asked.map(({ url }) => url))
  expect(urlsOf(unpaid)).toEqual(new Set(['/free', '/paid', '/work', '/works/w1']))
  expect(urlsOf(paid)).toEqual(new Set(['/paid', '/work']))
  const leaving = [...seller.asked.map(textOf), ...logged.map((line) => line.toLowerCase())].join('\n')
  for (const form of formsOf(job.id)) expect(leaving).not.toContain(form.toLowerCase())
  const keys = Map.groupBy(
    seller.asked.filter(({ url }) => url !== '/works/w1'),
    ({ url }) => url,
  )
  for (const [, calls] of keys)
    expect(new Set(calls.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  expect(new Set(seller.asked.map(({ headers }) => headers['idempotency-key'] ?? '')).size).toBe(4)
})

const failing: Sale = {
  answer: (purchase, times) =>
    times === 1 ? { kind: 'refused', code: 'unreachable', message: 'gone' } : sold(purchase, {}),
}

test('every attempt of a node goes by one code', async () => {
  const { run, sellers } = openEngine(app, { '/a': failing, '/b': failing })
  const { job } = await run(orderOf({ nodes: [node('a'), node('b')] }))
  expect(job.state).toBe('succeeded')
  const codes = Map.groupBy(sellers.calls, ({ nodeId }) => nodeId)
  expect(codes.get('a')?.map(({ attempt }) => attempt)).toEqual([1, 2])
  for (const [, calls] of codes)
    expect(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
  expect(new Set(sellers.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2)
})

test('another process goes on with the code that is stored', async () => {
  const [first, second] = [heldJobs(app), heldJobs(app)]
  const jobId = await place(app, orderOf({ nodes: [node('a'), node('b')] }))
  const keysBy = async (jobs: typeof first) => {
    await app
      .updateTable('app.jobs')
      .set({ due_at: new Date(0) })
      .where('id', '=', jobId)
      .execute()
    const held = (await jobs.take({ free: 100, held: new Map(), perFree: 3 }, 60_000)).find(
      (each) => each.jobId === jobId,
    )
    const loaded = held && (await jobs.load(held))
    return loaded?.nodes.map(({ sellerKey }) => sellerKey)
  }
  const told = await keysBy(first)
  expect(new Set(told).size).toBe(2)
  expect(await keysBy(second)).toEqual(told)
})

test('a job that a restored database makes once more has the codes that its sellers know', async () => {
  const order = orderOf({ nodes: [node('a'), node('b')] })
  const codesOf = async () => {
    let codes: readonly (string | null)[] = []
    const lost = app.transaction().execute(async (transaction) => {
      const { jobId } = await createJob(transaction, { ...order, sellerSeed: order.jobId })
      const rows = await transaction
        .selectFrom('app.job_nodes')
        .select('seller_key')
        .where('job_id', '=', jobId)
        .orderBy('ordinal')
        .execute()
      codes = rows.map((row) => row.seller_key)
      throw new Error('lost')
    })
    await expect(lost).rejects.toThrow('lost')
    return codes
  }
  const first = await codesOf()
  expect(new Set(first).size).toBe(2)
  expect(await codesOf()).toEqual(first)
})

test('a job that a restored database ends otherwise has the costs that the chain has', async () => {
  const wallet = await openWallet({ app, chain, account: accountOf(2), origins: [seller.origin] })
  const look = () => lookAnew(app, { ...chain, account: wallet.account, tokens: [PATH_USD] })
  seller.sell('/behind', { amount: '0.002' }, async (response, take) => {
    await take()
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await look()
  const plan = { nodes: [node('before'), node('behind', { dependsOn: ['before'] })] }
  const jobId = await place(app, orderOf(plan, { before: 1_000_000, behind: 1_000_000 }))
  const { seller_key: idempotencyKey } = await app
    .selectFrom('app.job_nodes')
    .select('seller_key')
    .where('job_id', '=', jobId)
    .where('node_id', '=', 'behind')
    .executeTakeFirstOrThrow()
  const call = { jobId, nodeId: 'behind', serviceId: 'shop', idempotencyKey: idempotencyKey ?? '' }
  await wallet.spender.buy(purchaseOf(`${seller.origin}/behind`, call), new AbortController().signal)
  await forgetSpends(app, jobId)
  await look()
  expect(await resumeWallet(app)).toBe(true)
  // Its time is over.
  await app
    .updateTable('app.jobs')
    .set({ deadline_at: new Date(0) })
    .where('id', '=', jobId)
    .execute()
  const { ended } = openEngine(app, {}, { buyer: wallet.spender })
  const { state, committed_units: committed, fee_units: fees } = await ended(jobId)
  expect([state, committed]).toEqual(['failed', `${2_100n + BigInt(fees)}`])
  const attempts = await app
    .selectFrom('app.job_attempts')
    .select(['node_id', 'outcome', 'paid_units'])
    .where('job_id', '=', jobId)
    .execute()
  expect(attempts).toEqual([{ node_id: 'behind', outcome: 'paid_not_delivered', paid_units: '2000' }])
})

test('a job of an earlier version keeps the codes that its sellers may know', async () => {
  const plan = { nodes: [node('b'), node('a')] }
  const order = orderOf(plan)
  const jobId = await place(app, order)
  await app.updateTable('app.job_nodes').set({ seller_key: null }).where('job_id', '=', jobId).execute()
  const { sellers, ended } = openEngine(app, {
    '/a': { answer: (purchase) => sold(purchase, {}) },
    '/b': { answer: (purchase) => sold(purchase, {}) },
  })
  await ended(jobId)
  const codes = new Map(sellers.calls.map(({ nodeId, idempotencyKey }) => [nodeId, idempotencyKey]))
  expect(codes).toEqual(
    new Map([
      ['b', `${jobId}-0`],
      ['a', `${jobId}-1`],
    ]),
  )
})
