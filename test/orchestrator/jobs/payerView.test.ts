// Goal: a payer sees what each job was paid by, what came back of it, and which service got what.
// Method: jobs that an engine ran with scripted sellers, on a real database; payouts are finished by
// their rows, as the worker does.
import { expect, test } from 'vitest'
import { listDaysOfPayer, listJobsOfPayer } from '#rows/jobs/payerJobs.ts'
import { reversePayment } from '#rows/jobs/reversals.ts'
import { openAppStore } from '../../support/appStore.ts'
import { buy, CHARGED, payOut, reviewJob } from './support/boughtJobs.ts'
import { openEngine } from './support/engine.ts'
import { payer } from './support/jobOrder.ts'
import { type Sale, sold } from './support/scriptedSellers.ts'

const { app } = await openAppStore()
const echo: Sale = { answer: (purchase) => sold(purchase, { id: purchase.nodeId }) }
const unsold: Sale = {
  answer: () => ({ kind: 'refused', code: 'offer_unpayable', message: 'It is not for sale.' }),
}

test('jobs with their payment, refund and reward, and days by service', async () => {
  const rewarded = await buy(app)
  await openEngine(app, { '/a': echo }).ended(rewarded.jobId)
  await reviewJob(app, rewarded.jobId)
  const refunded = await buy(app)
  await openEngine(app, { '/a': unsold }).ended(refunded.jobId)
  await payOut(app, 'refund', refunded.payment.id)
  const reversed = await buy(app)
  await openEngine(app, { '/a': unsold }).ended(reversed.jobId)
  await reversePayment(app, reversed.payment)

  const hash = expect.stringMatching(/^0x[\da-f]{64}$/)
  expect(await listJobsOfPayer(app, payer, 10)).toMatchObject([
    { jobId: reversed.jobId, refund: null, reward: null },
    {
      ...{ jobId: refunded.jobId, transactionHash: refunded.payment.txHash, reward: null },
      refund: { state: 'paid', amount: CHARGED, tokenDecimals: 6, transactionHash: hash },
    },
    {
      ...{ jobId: rewarded.jobId, transactionHash: rewarded.payment.txHash, refund: null },
      reward: { state: 'queued', amount: 50n, tokenDecimals: 6, transactionHash: null },
    },
  ])
  expect(await listJobsOfPayer(app, payer, 1)).toHaveLength(1)
  const day = new Date().toISOString().slice(0, 10)
  expect(await listDaysOfPayer(app, payer, 10)).toEqual([
    { day, serviceId: 'shop', currency: 'USDC', decimals: 6, calls: 2, units: 2_000n },
  ])
  expect(await listDaysOfPayer(app, `0x${'99'.repeat(20)}`, 10)).toEqual([])
})
