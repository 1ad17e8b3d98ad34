// Goal: where the chain takes a job's payment back, the job spends no more, and nobody is refunded or
// rewarded with money that never came; what left all the same is a cost that the books show. What a job
// counted for a call, and no block has, is taken back.
// Method: jobs that an engine runs with scripted sellers, on a real database; payments are claimed and
// settled by their rows, as the paid door does.
import { describe, expect, test } from 'vitest'
import { compareEntries } from '#rows/books/compareEntries.ts'
import { compareRows } from '#rows/books/compareRows.ts'
import { listJobsOfPayer } from '#rows/jobs/payerJobs.ts'
import { listJobs, readAttempts } from '#rows/jobs/reads.ts'
import { reversePayment } from '#rows/jobs/reversals.ts'
import { settleSpend, voidSpend } from '#rows/jobs/spends.ts'
import { adoptHistory, reserveSpend } from '#rows/jobs/wallet.ts'
import { findUnbalanced } from '#rows/payments/ledger.ts'
import { listPayments } from '#rows/payments/payments.ts'
import { findPayout } from '#rows/payments/payouts.ts'
import type { Purchased } from '#wallet/buyer.ts'
import { openAppStore } from '../../support/appStore.ts'
import { ample } from '../../wallet/support/wallet.ts'
import { booksOf } from './support/bookedRows.ts'
import {
  type Bought,
  buy,
  CHARGED,
  payOut,
  promiseSpend,
  randomHex,
  reviewJob,
  reviewsOf,
  taken,
} from './support/boughtJobs.ts'
import { openEngine } from './support/engine.ts'
import { payer } from './support/jobOrder.ts'
import { type Sale, sold, token } from './support/scriptedSellers.ts'

const { app } = await openAppStore()
await adoptHistory(app, 0)
const echo: Sale = { answer: (purchase) => sold(purchase, { id: purchase.nodeId }) }
const unsold: Purchased = { kind: 'refused', code: 'offer_unpayable', message: 'It is not for sale.' }
const broken: Sale = { answer: () => unsold }
/** As payouts here cost. */
const fee = { 'costs:fees': 7n, payee: -7n }

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
    expect(await booksOf(app, bought)).toEqual({})
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
    expect(await booksOf(app, bought)).toEqual({})
    expect(await findUnbalanced(app)).toEqual([])
  })

  test('signs no more for calls that it began', async () => {
    const { payment, jobId } = await buy(app)
    const spend = {
      ...{ jobId, nodeId: 'a', attempt: 1, serviceId: 'shop', protocol: 'mpp' as const, chainId: 1337 },
      ...{ currency: token, amount: 10n, units: 10n, recipient: randomHex(20), payer: randomHex(20) },
      statedFeeUnits: 0n,
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

const voidSent = (id: string | undefined) => voidSpend(app, id ?? '', { from: 'sending' })
/** Entries of the job and of the ledger that are not each other's. */
const differencesOf = async ({ payment, jobId }: Bought) => [
  ...(await compareEntries(app, 1_000)).filter(({ transactionId }) =>
    [payment.id, Buffer.from(jobId).toString('hex')].some((id) => transactionId.includes(id)),
  ),
  ...(await compareRows(app, 1_000)).filter(({ table, id }) => table === 'app.payouts' || id === jobId),
]

describe('a call whose payment no block has', () => {
  const ids = new Map<string, string>()
  const promising: Sale = {
    answer: async (purchase) => {
      ids.set(purchase.nodeId, await promiseSpend(app, purchase))
      return sold(purchase, {})
    },
  }
  const hashes = async (jobId: string) =>
    (await readAttempts(app, jobId)).map(({ paid }) => paid?.transactionHash)

  test('is owed to its payer after the end, once, and is told without a transaction before', async () => {
    const bought = await buy(app)
    const { jobId, payment } = bought
    await openEngine(app, { '/a': promising }).ended(jobId)
    expect(await hashes(jobId)).toEqual([null, null])
    expect(await voidSent(ids.get('a'))).toBe(true)
    expect(await voidSent(ids.get('a'))).toBe(false)
    const job = await app.selectFrom('app.jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow()
    expect(job).toMatchObject({ committed_units: '1050', committed_amount: '1050' })
    expect(await findPayout(app, 'refund', ids.get('a') ?? '')).toMatchObject({
      ...{ id: expect.stringMatching(/^out_\d{15}_/), amount: 1_050n, to: payer },
    })
    const txHash = randomHex(32)
    await settleSpend(app, ids.get('b') ?? '', { txHash, units: 1_000n, fee: taken(0n) })
    expect((await readAttempts(app, jobId)).map(({ paid }) => paid)).toEqual([
      null,
      expect.objectContaining({ transactionHash: txHash }),
    ])
    const [shown] = await listJobsOfPayer(app, payer, 1)
    expect(shown).toMatchObject({
      jobId,
      committedUnits: 1_050n,
      refund: { state: 'queued', amount: 1_050n },
    })
    expect([await differencesOf(bought), await findUnbalanced(app)]).toEqual([[], []])

    await payOut(app, 'refund', ids.get('a') ?? '')
    await reversePayment(app, payment)
    expect(await differencesOf(bought)).toEqual([])
  })

  test('is owed with the fee that was stated for it, and other fees stay as the end counted them', async () => {
    const bought = await buy(app)
    const { jobId, payment } = bought
    const sale: Sale = {
      answer: async (purchase) => {
        ids.set(purchase.nodeId, await promiseSpend(app, purchase, 900n, 50n))
        return sold(purchase, {}, 900n)
      },
    }
    // Twice 900, a twentieth of it, and two fees as they were stated.
    expect(await openEngine(app, { '/a': sale }).ended(jobId)).toMatchObject({ committed_units: '1990' })
    await settleSpend(app, ids.get('b') ?? '', { txHash: randomHex(32), units: 900n, fee: taken(90n) })
    // The chain refused the other one, and took a fee: that is nobody's but ours.
    await voidSpend(app, ids.get('a') ?? '', { from: 'sending', fee: taken(7n) })
    const job = await app.selectFrom('app.jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow()
    expect(job).toMatchObject({ committed_units: '995', committed_amount: '995', fee_units: '50' })
    expect(await findPayout(app, 'refund', payment.id)).toMatchObject({ amount: 110n })
    expect(await findPayout(app, 'refund', ids.get('a') ?? '')).toMatchObject({ amount: 995n })
    expect([await differencesOf(bought), await findUnbalanced(app)]).toEqual([[], []])
  })

  test('or whose fee is less than was stated is owed the rest, once; what is more is not charged', async () => {
    const bought = await buy(app)
    const { jobId } = bought
    const sale: Sale = {
      answer: async (purchase) => {
        ids.set(purchase.nodeId, await promiseSpend(app, purchase, 900n, 50n))
        return sold(purchase, {}, 900n)
      },
    }
    expect(await openEngine(app, { '/a': sale }).ended(jobId)).toMatchObject({ committed_units: '1990' })
    const settled = (nodeId: string, units: bigint) =>
      settleSpend(app, ids.get(nodeId) ?? '', { txHash: randomHex(32), units: 900n, fee: taken(units) })
    expect([await settled('a', 20n), await settled('a', 20n), await settled('b', 90n)]).toEqual([
      ...[true, false, true],
    ])
    const job = await app.selectFrom('app.jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow()
    expect(job).toMatchObject({ committed_units: '1960', committed_amount: '1960', fee_units: '70' })
    expect(await findPayout(app, 'refund', ids.get('a') ?? '')).toMatchObject({ amount: 30n, to: payer })
    expect(await findPayout(app, 'refund', ids.get('b') ?? '')).toBeNull()
    expect((await listJobsOfPayer(app, payer, 1))[0]).toMatchObject({ refund: { amount: 140n } })
    // Rewards are after the fees as they are: of 1,960 the calls took 1,910.
    await reviewJob(app, jobId)
    expect(await findPayout(app, 'reward', jobId)).toMatchObject({ amount: 25n })
    expect([await differencesOf(bought), await findUnbalanced(app)]).toEqual([[], []])
    await payOut(app, 'refund', ids.get('a') ?? '')
    await reversePayment(app, bought.payment)
    expect(await differencesOf(bought)).toEqual([])
  })

  test('is owed to nobody where the chain took back what its job was paid with', async () => {
    const bought = await buy(app)
    await openEngine(app, { '/a': promising }).ended(bought.jobId)
    await voidSent(ids.get('a'))
    await reversePayment(app, bought.payment)
    await voidSent(ids.get('b'))
    for (const id of ids.values()) expect(await findPayout(app, 'refund', id)).toBeNull()
    expect([await differencesOf(bought), await booksOf(app, bought)]).toEqual([[], {}])
  })

  test('costs nothing where it is known before the job has ended', async () => {
    const bought = await buy(app)
    let calls = 0
    const voiding: Sale = {
      answer: async (purchase) => {
        const id = await promiseSpend(app, purchase)
        // The first one before its call is written, and then nothing of it is.
        if (++calls === 1) await voidSent(id)
        return sold(purchase, {})
      },
    }
    const { committed_units: committed } = await openEngine(app, { '/a': voiding }).ended(bought.jobId)
    expect(committed).toBe('1050')
    expect(await findPayout(app, 'refund', bought.payment.id)).toMatchObject({ amount: 1_050n })
    expect(await differencesOf(bought)).toEqual([])
  })

  test('is taken back while its job runs', async () => {
    const bought = await buy(app)
    const sale: Sale = {
      answer: async (purchase) => {
        if (purchase.nodeId === 'b') await voidSent(ids.get('a'))
        return promising.answer(purchase, 1, new AbortController().signal)
      },
    }
    const { committed_units: committed } = await openEngine(app, { '/a': sale }).ended(bought.jobId)
    expect(committed).toBe('1050')
    expect(await differencesOf(bought)).toEqual([])
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
    expect(await booksOf(app, bought)).toEqual({})
  })

  test('has cost what was refunded before', async () => {
    const bought = await buy(app)
    await openEngine(app, { '/a': broken }).ended(bought.jobId)
    await payOut(app, 'refund', bought.payment.id)
    await reversePayment(app, bought.payment)
    expect(await booksOf(app, bought)).toEqual({
      'costs:reversed': -CHARGED,
      [`payer:${payer}`]: CHARGED,
      ...fee,
    })
  })

  test('is rewarded no more', async () => {
    const bought = await buy(app)
    await openEngine(app, { '/a': echo }).ended(bought.jobId)
    await reviewJob(app, bought.jobId)
    expect(await findPayout(app, 'reward', bought.jobId)).toMatchObject({ amount: 50n, state: 'queued' })
    await reversePayment(app, bought.payment)
    expect(await findPayout(app, 'reward', bought.jobId)).toBeNull()
    expect(await booksOf(app, bought)).toEqual({})
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
    expect(await booksOf(app, bought)).toEqual({ 'costs:reversed': -50n, [`payer:${payer}`]: 50n, ...fee })
  })
})
