// Goal: what is known of an endpoint is what became of calls of jobs: paid and delivered, how long,
// and the voices of those who paid for it.
// Method: jobs that an engine ran with scripted sellers, on a real database.
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { qualityOf } from '#orchestrator/catalog/description/quality.ts'
import type { ServiceEndpoint } from '#orchestrator/catalog/service.ts'
import { adoptHistory, reserveSpend } from '#rows/jobs/wallet.ts'
import { openAppStore } from '../../../support/appStore.ts'
import { ample } from '../../../wallet/support/wallet.ts'
import { buy, randomHex, review, reviewJob, reviewsOf } from '../support/boughtJobs.ts'
import { openEngine } from '../support/engine.ts'
import { payer } from '../support/jobOrder.ts'
import { paidFor, type Sale, sold, token } from '../support/scriptedSellers.ts'

const { app } = await openAppStore()
const fresh = await openAppStore()
await adoptHistory(app, 0)
// The parts of endpoints that are read.
const endpoints = ['/:any', '/a', '/b/*'].map((path) => ({ method: 'POST', path })) as ServiceEndpoint[]
const quality = () => qualityOf(app, 'shop', endpoints)

const echo: Sale = { answer: (purchase) => sold(purchase, { id: purchase.nodeId }) }
const lost: Sale = {
  answer: (purchase) => ({
    ...{ kind: 'paid_not_delivered', status: null, message: 'The answer is lost.' },
    paid: paidFor(purchase, 900n),
  }),
}
const ended = async (sale: Sale) => {
  const { jobId } = await buy(app)
  await openEngine(app, { '/a': sale }).ended(jobId)
  return jobId
}

test('calls of the most exact endpoint are counted, and a payer has one voice', async () => {
  expect(await quality()).toEqual([])
  const jobIds = [await ended(echo), await ended(echo)]
  // The second call of this job is never made.
  await ended(lost)
  const counts = { method: 'POST', path: '/a', calls: 5, paid: 5, delivered: 4 }
  const [unrated] = await quality()
  expect(unrated).toEqual({ ...counts, medianMs: expect.any(Number), p95Ms: expect.any(Number) })
  expect(unrated?.p95Ms).toBeGreaterThanOrEqual(unrated?.medianMs ?? Infinity)

  for (const jobId of jobIds) await reviewJob(app, jobId)
  // One voice of 4 beside three of 3.
  expect(await quality()).toMatchObject([{ ...counts, rating: { score: 3.25, payers: 1 } }])
  expect(await qualityOf(app, 'another', endpoints)).toEqual([])
})

test('a review that nobody proved has no voice', async () => {
  const { app } = fresh
  const { jobId } = await buy(app)
  await openEngine(app, { '/a': echo }).ended(jobId)
  await reviewsOf(app).take(jobId, { ...review, rating: 1 }, 'body', async () => null)
  expect(await qualityOf(app, 'shop', endpoints)).not.toMatchObject([{ rating: expect.anything() }])
  await reviewJob(app, jobId)
  expect(await qualityOf(app, 'shop', endpoints)).toMatchObject([{ rating: { payers: 1 } }])
})

test('a rating counts by what its payer spent, and half after 30 days', async () => {
  const { app } = await openAppStore()
  await adoptHistory(app, 0)
  const rated = async (units: bigint, rating: number) => {
    const { jobId } = await buy(app)
    const sale: Sale = { answer: (purchase) => sold(purchase, {}, units) }
    await openEngine(app, { '/a': sale }).ended(jobId)
    const tools = ['a', 'b'].map((nodeId) => ({ nodeId, rating, tags: [] }))
    await reviewsOf(app).take(jobId, { rating, tools }, 'body', async () => ({ kind: 'proved', payer }))
    return jobId
  }
  const score = async () => (await qualityOf(app, 'shop', endpoints))[0]?.rating?.score
  const dear = await rated(900n, 5)
  await rated(300n, 1)
  // A voice of 4 beside three of 3; of 3.4 once the dear one counts half.
  expect(await score()).toBe(3.25)
  await sql`UPDATE app.job_reviews SET reviewed_at = reviewed_at - interval '30 days' WHERE job_id = ${dear}`.execute(
    app,
  )
  expect(await score()).toBe(3.1)
})

test('what is older than 30 days is left out', async () => {
  const at = (days: number) =>
    sql`UPDATE app.job_nodes SET ended_at = ended_at - ${days} * interval '1 day'`.execute(app)
  await at(31)
  expect(await quality()).toEqual([])
  await at(-31)
  expect(await quality()).toHaveLength(1)
})

test('a seller that pays itself has no voice', async () => {
  const spend = {
    ...{ jobId: crypto.randomUUID(), nodeId: 'a', attempt: 1, serviceId: 'shop', protocol: 'mpp' as const },
    ...{ chainId: 1337, currency: token, amount: 1n, units: 1n, payer: randomHex(20), statedFeeUnits: 0n },
    recipient: payer as `0x${string}`,
  }
  expect(await reserveSpend(app, spend, ample, 1)).toMatchObject({ kind: 'reserved' })
  const [found] = await quality()
  expect(found).toMatchObject({ calls: 5 })
  expect(found).not.toHaveProperty('rating')
})
