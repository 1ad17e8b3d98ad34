// Goal: where the chain takes a job's payment back, the job spends no more, and nobody is refunded or
// rewarded with money that never came; what left all the same is a cost that the books show.
// Method: jobs that an engine runs with scripted sellers, on a real database; payments are claimed and
// settled by their rows, as the paid door does.
import { describe, expect, test } from 'vitest'
import { listJobs } from '#rows/jobs/reads.ts'
import { reversePayment } from '#rows/jobs/reversals.ts'
import { adoptHistory, reserveSpend } from '#rows/jobs/wallet.ts'
import { findUnbalanced } from '#rows/payments/ledger.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import type { Purchased } from '#wallet/buyer.ts'
import { openAppStore } from '../../support/appStore.ts'
import { ample } from '../../wallet/support/wallet.ts'
import { type Bought, buy, CHARGED, payOut, randomHex, reviewJob, reviewsOf } from './support/boughtJobs.ts'
import { openEngine } from './support/engine.ts'
import { payer } from './support/jobOrder.ts'
import { type Sale, sold, token } from './support/scriptedSellers.ts'

const { app } = await openAppStore()
await adoptHistory(app, 0)
/** What transactions of the payment and its job moved, by account; those that are even are left out. */
async function booksOf({ payment, jobId }: Bought) {
  const payouts = await app
    .selectFrom('app.payouts')
    .select('id')
    .where('reference', 'in', [payment.id, jobId])
    .execute()
  const rows = await app
    .selectFrom('app.ledger_entries')
    .select(['account', 'amount'])
    .where((is) =>
      is.or([
        is('transaction_id', 'like', `%${payment.id}%`),
        is('transaction_id', 'like', `reward:${jobId}%`),
        ...payouts.map(({ id }) => is('transaction_id', '=', id)),
      ]),
    )
    .execute()
  const sums = new Map<string, bigint>()
  for (const { account, amount } of rows) sums.set(account, (sums.get(account) ?? 0n) + BigInt(amount))
  return Object.fromEntries([...sums].filter(([, amount]) => amount !== 0n))
}

const echo: Sale = { answer: (purchase) => sold(purchase, { id: purchase.nodeId }) }
const unsold: Purchased = { kind: 'refused', code: 'offer_unpayable', message: 'It is not for sale.' }
const broken: Sale = { answer: () => unsold }
/** As payouts here cost. */
const fee = { 'costs:fees': -7n, chain: 7n }

describe('a job that has not ended', () => {
  test('begins nothing where it was queued', async () => {
    const bought = await buy(app)
    expect(await reversePayment(app, bought.payment)).toBe(true)
    const engine = openEngine(app, { '/a': echo })
    expect((await engine.ended(bought.jobId)).state).toBe('cancelled')
    expect(await listJobs(app, 1)).toMatchObject([{ jobId: bought.jobId, isReversed: true }])
    expect(await listPayments(app, 1)).toMatchObject([{ id: bought.payment.id, isReversed: true }])
    expect(engine.sellers.calls).toEqual([])
    expect(await findPayout(app, 'refund', bought.payment.id)).toBeNull()
    expect(await booksOf(bought)).toEqual({})
  })

  test('is not refunded for what fails later, and its books are even', async () => {
    const bought = await buy(app)
    const reversing: Sale = {
      answer: async () => {
        await reversePayment(app, bought.payment)
        return unsold
      },
    }
    expect((await openEngine(app, { '/a': reversing }).ended(bought.jobId)).state).toBe('failed')
    expect(await findPayout(app, 'refund', bought.payment.id)).toBeNull()
    expect(await booksOf(bought)).toEqual({})
    expect(await findUnbalanced(app)).toEqual([])
  })

  test('signs no more for calls that it began', async () => {
    const { payment, jobId } = await buy(app)
    const spend = {
      ...{ jobId, nodeId: 'a', attempt: 1, serviceId: 'shop', protocol: 'mpp' as const, chainId: 1337 },
      ...{ currency: token, amount: 10n, units: 10n, recipient: randomHex(20), payer: randomHex(20) },
    }
    expect(await reversePayment(app, payment)).toBe(true)
    expect(await reserveSpend(app, spend, ample, 1)).toEqual({ kind: 'cancelled' })
    await app
      .updateTable('app.jobs')
      .set({ ended_at: new Date(), due_at: null })
      .where('id', '=', jobId)
      .execute()
  })
})

describe('a job that has ended', () => {
  test('is not refunded where nothing was signed for it', async () => {
    const bought = await buy(app)
    const { state } = await openEngine(app, { '/a': broken }).ended(bought.jobId)
    expect(state).toBe('failed')
    expect(await findPayout(app, 'refund', bought.payment.id)).toMatchObject({
      amount: CHARGED,
      state: 'queued',
    })
    expect(await reversePayment(app, bought.payment)).toBe(true)
    expect(await reversePayment(app, bought.payment)).toBe(false)
    expect(await findPayout(app, 'refund', bought.payment.id)).toBeNull()
    expect(await booksOf(bought)).toEqual({})
  })

  test('has cost what was refunded before', async () => {
    const bought = await buy(app)
    await openEngine(app, { '/a': broken }).ended(bought.jobId)
    await payOut(app, 'refund', bought.payment.id)
    await reversePayment(app, bought.payment)
    expect(await booksOf(bought)).toEqual({ 'costs:reversed': -CHARGED, [`payer:${payer}`]: CHARGED, ...fee })
  })

  test('is rewarded no more', async () => {
    const bought = await buy(app)
    await openEngine(app, { '/a': echo }).ended(bought.jobId)
    await reviewJob(app, bought.jobId)
    expect(await findPayout(app, 'reward', bought.jobId)).toMatchObject({ amount: 50n, state: 'queued' })
    await reversePayment(app, bought.payment)
    expect(await findPayout(app, 'reward', bought.jobId)).toBeNull()
    expect(await booksOf(bought)).toEqual({})
    expect(await reviewsOf(app).read(bought.jobId)).toMatchObject({
      reward: { status: 'ineligible', reason: 'payment_reversed' },
    })
  })

  test('has cost what it was rewarded with before', async () => {
    const bought = await buy(app)
    await openEngine(app, { '/a': echo }).ended(bought.jobId)
    await reviewJob(app, bought.jobId)
    await payOut(app, 'reward', bought.jobId)
    await reversePayment(app, bought.payment)
    expect(await booksOf(bought)).toEqual({ 'costs:reversed': -50n, [`payer:${payer}`]: 50n, ...fee })
  })
})
