/**
 * Jobs are ordered here, by either door: a price is asked for, its payment is claimed together with
 * the job's id, and the job is made in the transaction that settles it. Whatever is not known yet is
 * told as a job that is not ready, and never asked to be paid again.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { failure } from '#errors.ts'
import { ApiError, type ErrorCode } from '#http/errors.ts'
import type { Challenged, Managed } from '#http/request/access.ts'
import { limitOf, multiplied } from '#money/amounts.ts'
import { PaymentRefusedError } from '#payments/methods/PaymentMethod.ts'
import type { PayerProofs } from '#payments/PayerProofs.ts'
import type { Payments, PresentedPayment, Wanted } from '#payments/Payments.ts'
import type { AppDatabase } from '#rows/database.ts'
import { CarriedOutputGoneError, IdempotencyConflictError, readDelivered } from '#rows/jobs/newJobs.ts'
import { claimOrder, findJobOfPayment, type JobTerms, takeOrder } from '#rows/jobs/orders.ts'
import { assignReservation } from '#rows/jobs/reservations.ts'
import { refundUnused } from '#rows/payments/liabilities.ts'
import type { Payment, PaymentState } from '#rows/payments/payments.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { SoldCall, SoldJob, WalletBudget } from '#wallet/budget.ts'
import { canonicalJson } from '../plan/canonicalJson.ts'
import { readPlan } from '../plan/readPlan.ts'
import { PlanUnbuyableError, type Quotes } from '../quote/Quotes.ts'
import { assertSold } from '../quote/suspended.ts'
import { createJob } from './createJob.ts'
import type { JobRequest } from './readJobRequest.ts'
import { assertBuyer, holdResults, resultsGone } from './retriedJob.ts'
import { ownMeta, sealed, totalOf, unsealed } from './sealedTerms.ts'

/** The scope that jobs are sold under. */
export const JOBS_SCOPE = 'jobs'

export interface JobOrdersOptions {
  readonly app: AppDatabase
  readonly payments: Payments
  readonly proofs: PayerProofs
  readonly quotes: Pick<Quotes, 'quote' | 'pricedCalls'>
  /** The budget that buys the jobs' calls; null if another process buys. */
  readonly budget: WalletBudget | null
  readonly clock: Clock
  /** The most that a job may cost, as decimal text in the currency of quotes; null for no bound. */
  readonly costMax: string | null
  /** A job was made. */
  readonly made: () => void
}

/** The request that a job is ordered by. */
export interface Ordering {
  readonly headers: IncomingHttpHeaders
  /** Id of the caller, whose calls of sellers and refused payments are counted. */
  readonly caller: string
  readonly signal: AbortSignal
}

export interface Ordered {
  readonly kind: 'ordered'
  readonly jobId: string
  /** The receipt; none where the outcome of the payment is not known yet, or nothing was paid. */
  readonly headers: Readonly<Record<string, string>>
}

/** A demand for payment first. */
export interface PaymentDemand extends Challenged {
  /** The price, as decimal text in the currency of quotes. */
  readonly total: string
}

/** The terms of a demand, and the data that its challenge is bound to. */
interface Sealed {
  readonly terms: JobTerms
  readonly meta: Readonly<Record<string, string>>
}

export class JobOrders {
  readonly #options: JobOrdersOptions

  constructor(options: JobOrdersOptions) {
    this.#options = options
    options.payments.onSettled(JOBS_SCOPE, (transaction, payment) => this.#makeJob(transaction, payment))
  }

  /**
   * @throws ApiError plan_invalid, quote_unavailable, wallet_unavailable, idempotency_conflict,
   *   spend_limit_exceeded
   */
  async order(request: JobRequest, ordering: Ordering): Promise<Ordered | PaymentDemand> {
    const { payments } = this.#options
    const presented = payments.presentedIn(ordering.headers, ordering.caller)
    if (!presented) return this.#ask(request, ordering)
    const before = await this.#repeated(presented, request, ['settled'])
    if (before) return before
    const meta = presented.method.metaIn?.(presented.credential) ?? {}
    const terms = unsealed(meta, request)
    return terms
      ? this.#pay(presented, request, { terms, meta: ownMeta(meta) }, ordering)
      : this.#payUnsealed(presented, request, ordering)
  }

  /** A payer's request to its payment channel alone; undefined for a request that is to buy. */
  async manage({ headers, caller }: Pick<Ordering, 'headers' | 'caller'>): Promise<Managed | undefined> {
    return this.#options.payments.managed({ ...ORDER, headers, hasBody: true }, caller)
  }

  /** Writes no row. */
  async #ask(
    request: JobRequest,
    ordering: Ordering,
    refused?: Challenged,
  ): Promise<Ordered | PaymentDemand> {
    const terms = await this.#quoted(request, ordering)
    if (BigInt(terms.totalAmountUnits) === 0n) return this.#orderFree(request, terms, ordering)
    const challenged = await this.#options.payments.challenge(
      this.#wanted(request, { terms, meta: sealed(terms, request) }, ordering),
    )
    const total = totalOf(terms)
    return { ...challenged, total, ...(refused && refusalOf(refused)) }
  }

  /** A payment that seals no quote is one of a protocol that seals nothing: the price is that of now. */
  async #payUnsealed(
    presented: PresentedPayment,
    request: JobRequest,
    ordering: Ordering,
  ): Promise<Ordered | PaymentDemand> {
    const terms = await this.#quoted(request, ordering)
    return BigInt(terms.totalAmountUnits) === 0n
      ? this.#orderFree(request, terms, ordering)
      : this.#pay(presented, request, { terms, meta: {} }, ordering)
  }

  async #pay(
    presented: PresentedPayment,
    request: JobRequest,
    { terms, meta }: Sealed,
    ordering: Ordering,
  ): Promise<Ordered | PaymentDemand> {
    const { payments } = this.#options
    this.#assertWithinLimits(request, terms)
    const unbound = this.#wanted(request, { terms, meta }, ordering)
    let isClaimed = true
    const wanted: Wanted = {
      ...unbound,
      claimed: (transaction, payment) => {
        isClaimed = false
        return this.#claim(transaction, payment, presented, request, terms).then(() => {
          isClaimed = true
        })
      },
    }
    try {
      const admission = await payments.begin(presented, wanted)
      if (admission.kind === 'admitted') throw new TypeError('a job is paid for')
      if (admission.kind === 'challenged') return await this.#ask(request, ordering, admission)
      const { settle, release } = admission.payment
      // Repeats go on with it at once.
      const taken = await settle().finally(release)
      if (taken.kind === 'challenged') return await this.#ask(request, ordering, taken)
      this.#options.made()
      return orderedAs(await this.#jobOf(admission.payment.id), taken.headers)
    } catch (error) {
      if (!isClaimed) await this.#takeUnused(presented, unbound)
      if (error instanceof KeyTakenError) return orderedAs(error.jobId)
      // Another request works on the same payment, or has just settled it.
      const isTold = error instanceof ApiError && toldAsJob.has(error.code)
      const pending = isTold
        ? await this.#repeated(presented, request, ['claimed', 'sending', 'settled'])
        : null
      if (!pending) throw error
      return pending
    }
  }

  /** A transfer that the payer has sent by then is there, and buys nothing: it settles without an order. */
  async #takeUnused(presented: PresentedPayment, wanted: Wanted): Promise<void> {
    if (!presented.method.isPushed?.(presented.credential)) return
    const admission = await this.#options.payments.begin(presented, wanted)
    if (admission.kind !== 'paid') return
    const { settle, release } = admission.payment
    await settle().finally(release)
  }

  /** The earlier order of the same credential. */
  async #repeated(
    presented: PresentedPayment,
    request: JobRequest,
    states: readonly PaymentState[],
  ): Promise<Ordered | null> {
    const { app, payments } = this.#options
    const payment = await payments.find(presented, paidRequestOf(request))
    if (!payment || !states.includes(payment.state)) return null
    const jobId = await findJobOfPayment(app, payment.id)
    if (jobId === null) return null
    return orderedAs(jobId, payment.receipt === null ? {} : presented.method.receiptHeaders(payment.receipt))
  }

  /** A plan that costs nothing still has an owner. */
  async #orderFree(
    request: JobRequest,
    terms: JobTerms,
    { headers, caller }: Ordering,
  ): Promise<Ordered | PaymentDemand> {
    const { app, proofs, clock, made } = this.#options
    const proved = await proofs.prove(headers, paidRequestOf(request), caller)
    if (proved.kind === 'challenged') return { ...proved, total: totalOf(terms) }
    const { plan, idempotencyKey, retried } = request
    assertBuyer(retried, proved.payer)
    try {
      const order = {
        ...{ payer: proved.payer, idempotencyKey, plan, quote: terms, charge: null, carried: retried },
        ...{ jobId: randomUUID(), nowMs: clock.now() },
      }
      const { jobId } = await app.transaction().execute((transaction) => createJob(transaction, order))
      made()
      return orderedAs(jobId)
    } catch (error) {
      if (error instanceof IdempotencyConflictError) throw new ApiError('idempotency_conflict')
      if (error instanceof CarriedOutputGoneError) throw resultsGone()
      throw error
    }
  }

  /** In the transaction that settles its payment. One without an order was taken to be given back. */
  async #makeJob(transaction: AppDatabase, payment: Payment): Promise<void> {
    const order = await takeOrder(transaction, payment.id)
    if (!order) return refundUnused(transaction, payment, this.#options.clock.now())
    const { jobId, payer, idempotencyKey, plan, terms, tokenDecimals, sellerSeed, retryOf } = order
    const { id: paymentId, chainId, currency: token, amount, method } = payment
    await createJob(transaction, {
      ...{ jobId, payer, idempotencyKey, quote: terms, nowMs: this.#options.clock.now(), sellerSeed },
      plan: readPlan(JSON.parse(plan)),
      carried:
        retryOf === null ? null : { jobId: retryOf, nodeIds: await readDelivered(transaction, retryOf) },
      charge: {
        ...{ paymentId, chainId, token, tokenDecimals, amount },
        method: method.endsWith('/session') ? 'session' : 'charge',
      },
    })
    await assignReservation(transaction, jobId, payer)
  }

  async #quoted(request: JobRequest, { caller, signal }: Ordering): Promise<JobTerms> {
    const { plan, retried } = request
    const quote = await this.#options.quotes.quote(plan, caller, signal, retried?.nodeIds).catch(notSold)
    const { currency, decimals, costMultiplier, totalAmountUnits } = quote
    const nodes = quote.nodes.map(({ nodeId, amountUnits }) => ({ nodeId, amountUnits }))
    const terms = { currency, decimals, costMultiplier, totalAmountUnits, nodes }
    this.#assertWithinLimits(request, terms)
    return terms
  }

  /** @throws ApiError spend_limit_exceeded */
  #assertWithinLimits({ limits }: JobRequest, terms: JobTerms): void {
    const { costMax } = this.#options
    const total = BigInt(terms.totalAmountUnits)
    const exceeded = [...limits, ...(costMax === null ? [] : [costMax])].find(
      (limit) => total > limitOf(limit, terms.decimals),
    )
    if (exceeded !== undefined)
      throw new ApiError(
        'spend_limit_exceeded',
        `The job costs ${totalOf(terms)} ${terms.currency}, above the limit of ${exceeded}. Nothing was paid.`,
      )
  }

  #wanted(request: JobRequest, { terms, meta }: Sealed, { headers }: Ordering): Wanted {
    const accept = headers['accept-payment']
    return {
      ...paidRequestOf(request),
      ...{ scope: JOBS_SCOPE, units: 1, dollars: totalOf(terms), meta },
      accept: Array.isArray(accept) ? accept[0] : accept,
    }
  }

  /**
   * In the transaction that claims the payment.
   * @throws KeyTakenError, ApiError idempotency_conflict, quote_unavailable, wallet_unavailable, forbidden,
   *   job_not_retryable
   */
  async #claim(
    transaction: AppDatabase,
    { id: paymentId, payer, method, currency }: Payment,
    { method: by, credential }: PresentedPayment,
    request: JobRequest,
    terms: JobTerms,
  ): Promise<void> {
    const { idempotencyKey, planHash, plan, retried } = request
    assertBuyer(retried, payer)
    const [jobId, retryOf] = [randomUUID(), retried?.jobId ?? null]
    const isPayer = by.provesPayer?.(credential, payer) ?? true
    const found = await claimOrder(transaction, {
      ...{ paymentId, jobId, payer, idempotencyKey, planHash, terms, retryOf },
      plan: canonicalJson(plan),
      tokenDecimals: this.#options.payments.decimalsOf(method, currency),
    })
    if (!found) {
      await assertSold(transaction, plan, retried?.nodeIds)
      if (retried) await holdResults(transaction, retried)
      return this.#reserve(transaction, { jobId, paymentId, payer: isPayer ? payer : null }, request, terms)
    }
    // A sender that only claims to be the payer is told of no job of it.
    if (!isPayer || found.planHash !== planHash || found.retryOf !== retryOf) throw keyOfAnother()
    throw new KeyTakenError(found.jobId)
  }

  /** @throws ApiError wallet_unavailable */
  async #reserve(
    transaction: AppDatabase,
    job: Omit<SoldJob, 'calls'>,
    { plan, planHash, retried }: JobRequest,
    terms: JobTerms,
  ): Promise<void> {
    const { budget, quotes } = this.#options
    const priced = quotes.pricedCalls(planHash, retried?.nodeIds) ?? []
    const feeShare = feeShareOf(terms)
    const calls = terms.nodes.flatMap(({ nodeId, amountUnits }): SoldCall[] => {
      const units = BigInt(amountUnits)
      const node = plan.nodes.find(({ id }) => id === nodeId)
      if (!node || units === 0n) return []
      const offered = priced.find((each) => each.nodeId === nodeId)?.offered ?? null
      const statedFeeUnits = offered?.statedFeeUnits ?? feeShare
      return [{ serviceId: node.serviceId, units, statedFeeUnits, offered }]
    })
    const obstacle = await budget?.reserve(transaction, { ...job, calls })
    if (obstacle) throw new ApiError('wallet_unavailable', `Not sold now: the plan ${obstacle.message}.`)
  }

  async #jobOf(paymentId: string): Promise<string> {
    const jobId = await findJobOfPayment(this.#options.app, paymentId)
    if (jobId === null) throw new TypeError('a payment of jobs has made one')
    return jobId
  }
}

/** The whole price's part for fees, by paid call, rounded up. */
function feeShareOf({ nodes, costMultiplier, totalAmountUnits }: JobTerms): bigint {
  const paid = nodes.map(({ amountUnits }) => BigInt(amountUnits)).filter((units) => units > 0n)
  const net = paid.reduce((sum, units) => sum + units, 0n)
  const fees = BigInt(totalAmountUnits) - multiplied(net, costMultiplier)
  const count = BigInt(paid.length)
  return count === 0n ? 0n : (fees + count - 1n) / count
}

/** A plan that the wallet would buy later is offered later. @throws ApiError wallet_unavailable */
function notSold(error: unknown): never {
  if (!(error instanceof PlanUnbuyableError)) throw error
  const { summary, details, headers } = error
  throw new ApiError('wallet_unavailable', `Not sold now: ${summary}.`, { details, headers })
}

const toldAsJob: ReadonlySet<ErrorCode> = new Set(['settlement_pending', 'payment_used'])

const orderedAs = (jobId: string, headers: Ordered['headers'] = {}): Ordered => ({
  ...{ kind: 'ordered', jobId, headers },
})

const ORDER = { method: 'POST', url: '/v1/jobs' } as const

/** Why a payment was refused, for another challenge. */
const refusalOf = ({ status = 402, body, contentType }: Challenged) => ({ status, body, contentType })

/** The request that a payment is bound to: the same by either door, whatever the body's letters. */
const paidRequestOf = ({ idempotencyKey, planHash, retried }: JobRequest) => ({
  method: ORDER.method,
  url: retried ? `${ORDER.url}/${retried.jobId}/retry` : ORDER.url,
  body: { idempotencyKey, planHash },
})

/** The payment pays for nothing here. */
const keyOfAnother = (): ApiError =>
  new ApiError('idempotency_conflict', undefined, {
    cause: new PaymentRefusedError(new Error('the key has another job')),
  })

/** The payer's key has an order or a job already, of this very plan: nothing is paid. */
class KeyTakenError extends failure('KeyTakenError', 'idempotency_conflict', 'stop') {
  readonly jobId: string

  constructor(jobId: string) {
    super('the key has a job already')
    this.jobId = jobId
  }
}
