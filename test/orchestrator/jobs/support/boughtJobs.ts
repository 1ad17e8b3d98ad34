/** Jobs with their payments, reviews and payouts as rows: what doors and workers write, without a chain. */
import { randomBytes } from 'node:crypto'
import { createJob } from '#orchestrator/job/createJob.ts'
import { Reviews } from '#orchestrator/review/Reviews.ts'
import { lowercased } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import { keepCredential, settleSpend } from '#rows/jobs/spends.ts'
import { adoptHistory, reserveSpend } from '#rows/jobs/wallet.ts'
import { finishPayout } from '#rows/payments/debts.ts'
import { claimPayment, type Payment, type PaymentTerms, settlePayment } from '#rows/payments/payments.ts'
import { findPayout, keepSigned, type PayoutKind, takePayouts } from '#rows/payments/payouts.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'
import type { Purchase } from '#wallet/buyer.ts'
import { ample } from '../../../wallet/support/wallet.ts'
import { node, orderOf, payer } from './jobOrder.ts'
import { paidFor, token } from './scriptedSellers.ts'

const { clock } = systemRuntime()
export const randomHex = (bytes: number): `0x${string}` => `0x${randomBytes(bytes).toString('hex')}`

const twoNodes = { nodes: [node('a'), node('b', { path: '/a', dependsOn: ['a'] })] }
/** Two calls of 1,000 units, sold for 2,100. */
export const CHARGED = 2_100n

/** A payment that was claimed and is not known to have settled. */
export async function claim(app: AppDatabase, terms: Partial<PaymentTerms> = {}): Promise<Payment> {
  const claimed = await claimPayment(
    app,
    {
      ...{ identity: randomHex(16), requestDigest: randomBytes(32), credentialDigest: randomBytes(32) },
      ...{ scope: 'jobs', method: 'tempo/charge', chainId: 1337, currency: token, amount: CHARGED },
      ...{ recipient: randomHex(20), payer, txHash: randomHex(32), validBeforeSeconds: 1, reference: null },
      ...terms,
    },
    Date.now(),
    1_000,
  )
  if (!claimed) throw new Error('the payment was claimed before')
  return claimed
}

export const settle = (app: AppDatabase, payment: Payment, alongside?: Parameters<typeof settlePayment>[3]) =>
  settlePayment(app, payment, { receipt: '{}', txHash: payment.txHash }, alongside)

export interface Bought {
  readonly payment: Payment
  readonly jobId: string
}

/** A job of two calls, made with the settlement of its payment. */
export async function buy(app: AppDatabase, terms: Partial<PaymentTerms> = {}): Promise<Bought> {
  const payment = await claim(app, terms)
  const order = orderOf(twoNodes)
  if (!order.charge) throw new Error('the plan costs nothing')
  const { id: paymentId, chainId, currency, amount, payer: by } = payment
  const charge = { ...order.charge, paymentId, chainId, token: currency, amount }
  await settle(
    app,
    payment,
    async (transaction) => void (await createJob(transaction, { ...order, payer: by, charge })),
  )
  return { payment, jobId: order.jobId }
}

export const reviewsOf = (app: AppDatabase): Reviews =>
  new Reviews({
    ...{ app, clock, log: silentLogger, transferFee: async () => 0n },
    terms: { share: '0.5', dollarsPerDay: '1000', dollarsPerPayer: '1000' },
  })

/** It rates both calls. */
export const review = { rating: 5, tools: ['a', 'b'].map((nodeId) => ({ nodeId, rating: 4, tags: [] })) }

/** Its payer reviews the job. */
export const reviewJob = (app: AppDatabase, jobId: string) =>
  reviewsOf(app).take(jobId, review, 'body', async () => ({ kind: 'proved', payer }))

/** The wallet's payment for a call, and the chain's fee. */
export async function spendFor(
  app: AppDatabase,
  purchase: Purchase,
  { units, fee }: { readonly units: bigint; readonly fee: bigint },
): Promise<void> {
  const { jobId, nodeId, attempt, serviceId } = purchase
  const reference = lowercased(paidFor(purchase, units).reference)
  await adoptHistory(app, 0)
  const reserved = await reserveSpend(
    app,
    {
      ...{ jobId, nodeId, attempt, serviceId, protocol: 'mpp', chainId: 1337, currency: token },
      ...{ amount: units, units: units + 100n, statedFeeUnits: 50n },
      ...{ recipient: randomHex(20), payer: randomHex(20) },
    },
    ample,
    Date.now(),
  )
  if (reserved.kind !== 'reserved') throw new Error(`a spend is ${reserved.kind}`)
  const made = { credential: Buffer.of(1), reference, txHash: reference, fromBlock: 1 }
  await keepCredential(app, reserved.id, { ...made, validBeforeSeconds: 1 })
  await settleSpend(app, reserved.id, {
    ...{ txHash: made.txHash, units },
    fee: { fee, feeCurrency: token, units: fee },
  })
}

/** A fee that the chain took for a spend. */
export const taken = (units: bigint) => ({ fee: units, feeCurrency: token, units })

/**
 * The spend of a call whose answer comes before the chain says what became of its payment; its id.
 * Units default to the most that the purchase may cost.
 */
export async function promiseSpend(
  app: AppDatabase,
  purchase: Purchase,
  units = purchase.unitsMax,
  statedFeeUnits = 0n,
): Promise<string> {
  const { jobId, nodeId, attempt, serviceId } = purchase
  const terms = {
    jobId,
    nodeId,
    attempt,
    serviceId,
    protocol: 'mpp',
    chainId: 1337,
    currency: token,
  } as const
  const [recipient, payee] = [randomHex(20), randomHex(20)]
  const reserved = await reserveSpend(
    app,
    { ...terms, amount: units, units: units + 100n, statedFeeUnits, recipient, payer: payee },
    ample,
    Date.now(),
  )
  if (reserved.kind !== 'reserved') throw new Error(reserved.kind)
  const made = { credential: Buffer.from('sealed'), reference: randomHex(32), txHash: randomHex(32) }
  await keepCredential(app, reserved.id, { ...made, validBeforeSeconds: 1, fromBlock: 1 })
  return reserved.id
}

/** Sends what is owed, as the worker does. */
export async function payOut(app: AppDatabase, kind: PayoutKind, reference: string): Promise<void> {
  const held = (await takePayouts(app, 1337, 100, 0)).find((each) => each.reference === reference)
  if (!held) throw new Error('nothing is owed')
  const txHash = randomHex(32)
  await keepSigned(app, held, { txHash, raw: '0x00', validBeforeSeconds: 1 })
  const sent = await findPayout(app, kind, reference)
  if (!sent) throw new Error('nothing is owed')
  const isPaid = await finishPayout(app, sent, { txHash, blockNumber: 1, fee: 7n, feeCurrency: token })
  if (!isPaid) throw new Error('it was paid before')
}
