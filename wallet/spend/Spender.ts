/**
 * Buys calls of sellers. The worst case is reserved and the credential stored before it is sent;
 * from then on only that credential is sent, and only the chain says what became of it. Whatever is
 * done twice, by whichever process, changes nothing the second time.
 */
import type { Egress } from '#egress/Egress.ts'
import { messageOf } from '#errors.ts'
import { rescaled } from '#money/amounts.ts'
import { address } from '#primitives.ts'
import type { AppDatabase } from '#rows/database.ts'
import {
  beginTry,
  findSpend,
  type KeptAnswer,
  keepAnswer,
  keepCredential,
  readAnswer,
  type Spend,
  type SpendTerms,
  voidSpend,
} from '#rows/jobs/spends.ts'
import { adoptSpend, reserveSpend, type WalletLimits } from '#rows/jobs/wallet.ts'
import { type Forgotten, findForgottenCalls } from '#rows/payments/forgotten.ts'
import type { Sealer } from '#rows/sealing.ts'
import type { Clock, Failpoint } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Buyer, CallToRecover, Paid, Purchase, Purchased, Recovered } from '../buyer.ts'
import { callCodeOf, protocolOf } from '../callCode.ts'
import { type QuoteTerms, tokenKey } from '../currencies.ts'
import { type Payable, type Paying, SigningError } from '../paying.ts'
import { type Called, callSeller, refusedCall } from './callSeller.ts'
import { type Chosen, choosePayable, payableBy } from './choosePayable.ts'
import { lookForSpend } from './lookForSpend.ts'
import {
  answeredPurchase,
  later,
  paidOf,
  refusedOffer,
  refusedPurchase,
  refusedReservation,
  rejected,
} from './purchased.ts'
import { openHeaders, sealHeaders } from './sealedHeaders.ts'

export interface SpenderOptions {
  readonly app: AppDatabase
  readonly egress: Pick<Egress, 'fetch'>
  readonly paying: readonly Paying[]
  readonly sealer: Sealer
  readonly limits: WalletLimits
  /** False until it is known whether the database has forgotten what left the wallet on a chain. */
  readonly mayPay: (chainId: number) => boolean
  readonly terms: QuoteTerms
  readonly clock: Clock
  readonly log: Logger
  readonly failpoint: Failpoint
}

/** A transfer that is sent later than this before its end may come too late to be mined. */
const LEFT_SECONDS_MIN = 3
/** Times that a paid call is sent for its answer. */
const TRIES_MAX = 3
/** A seller that gives two callers one challenge is asked for another. */
const CHALLENGES_MAX = 3

export class Spender implements Buyer {
  readonly #options: SpenderOptions
  #paidCalls = 0

  constructor(options: SpenderOptions) {
    this.#options = options
  }

  async buy(purchase: Purchase, signal: AbortSignal): Promise<Purchased> {
    const { app } = this.#options
    for (let turn = 0; turn < CHALLENGES_MAX; turn++) {
      const known = await findSpend(app, purchase)
      const purchased = known ? await this.#goOn(known, purchase, signal) : 'anew'
      if (purchased !== 'anew') return purchased
      const paid = (await this.recover([purchase])).get(purchase.nodeId)
      if (paid) return paid
      const begun = await this.#begin(purchase, signal)
      if (begun !== 'again') return begun
    }
    return later
  }

  paidCalls(): number {
    return this.#paidCalls
  }

  /** Goes on with a spend that there is. */
  async #goOn(spend: Spend, purchase: Purchase, signal: AbortSignal): Promise<Purchased | 'anew'> {
    const { app } = this.#options
    const { id, state } = spend
    // Nothing was signed, so its price may be asked for again.
    if (state === 'reserved') return (await voidSpend(app, id, { from: 'reserved' })) ? 'anew' : later
    // Its answer is its own attempt's.
    if (state === 'void' && spend.attempt < purchase.attempt) return 'anew'
    const answer = spend.hasAnswer ? await readAnswer(app, id) : null
    if (answer) return this.#concludeWith(spend, answer)
    if (state === 'void') return spend.reference === null ? 'anew' : rejected
    if (spend.tries >= TRIES_MAX || !this.#mayBeSent(spend)) return this.#concludeWithout(spend, null)
    return this.#send(spend, purchase, signal)
  }

  /** Sent again while it can be mined, and once it is, for the answer. */
  #mayBeSent({ state, credential, validBeforeSeconds }: Spend): boolean {
    const isMineable = this.#options.clock.now() / 1_000 < validBeforeSeconds - LEFT_SECONDS_MIN
    return credential !== null && (state === 'settled' || isMineable)
  }

  async recover(calls: readonly CallToRecover[]): Promise<ReadonlyMap<string, Recovered>> {
    const payable = calls.filter(({ unitsMax }) => unitsMax > 0n)
    const found = await findForgottenCalls(
      this.#options.app,
      payable.map(({ idempotencyKey }) => callCodeOf(idempotencyKey)),
    )
    const recovered = new Map<string, Recovered>()
    for (const call of found.size === 0 ? [] : payable) {
      const paid = found.get(callCodeOf(call.idempotencyKey))
      const spend = paid && (await this.#adopt(call, paid))
      const come = spend && (await this.#concludeWithout(spend, null))
      if (come?.kind === 'paid_not_delivered' || come?.kind === 'unknown') recovered.set(call.nodeId, come)
    }
    return recovered
  }

  /** Null where the call or the payment has a spend. */
  async #adopt(call: CallToRecover, paid: Forgotten): Promise<Spend | null> {
    const { app, clock, log } = this.#options
    if (!(await adoptSpend(app, this.#termsOf(paid, call), paid, clock.now()))) return null
    log.warn({ service: call.serviceId, txHash: paid.txHash }, 'a call was paid before the restore')
    return findSpend(app, call)
  }

  #termsOf(
    { chainId, account: payer, currency, to: recipient, amount, memo }: Forgotten,
    { jobId, nodeId, attempt, serviceId, unitsMax }: CallToRecover,
  ): SpendTerms {
    const { paying, terms } = this.#options
    const protocol = protocolOf(memo)
    const decimals = terms.atPar.get(tokenKey(`eip155:${chainId}`, currency))
    const price = decimals === undefined ? unitsMax : rescaled(amount, decimals, terms.decimals)
    const feeUnits = paying.find((one) => one.protocol === protocol)?.feeUnitsMax ?? 0n
    return {
      ...{ jobId, nodeId, attempt, serviceId, protocol, chainId, currency, amount, recipient, payer },
      ...{ units: price + feeUnits, statedFeeUnits: 0n },
    }
  }

  async #begin(purchase: Purchase, signal: AbortSignal): Promise<Purchased | 'again'> {
    const { egress, clock } = this.#options
    if (clock.now() >= purchase.deadlineMs)
      return refusedPurchase('deadline_passed', 'The time for it is over.')
    const called = await callSeller(egress, purchase, {}, signal)
    if (called.kind !== 'answered') return refusedCall(called)
    if (called.answer.status !== 402) return answeredPurchase(called.answer, null)
    if (purchase.unitsMax === 0n)
      return refusedPurchase('price_exceeded', 'The seller asks for money, and was to be free.')
    if (!mayBegin(purchase, signal)) return later
    const chosen = await this.#choose(called, purchase)
    return typeof chosen === 'string' ? refusedOffer(chosen) : this.#pay(chosen, purchase, signal)
  }

  async #choose({ answer }: Extract<Called, { kind: 'answered' }>, purchase: Purchase) {
    const { paying, terms } = this.#options
    const { unitsMax, recipientPolicy } = purchase
    return choosePayable(await payableBy(paying, answer), { terms, unitsMax, recipientPolicy })
  }

  async #pay(
    { payable, units }: Chosen<Payable>,
    purchase: Purchase,
    signal: AbortSignal,
  ): Promise<Purchased | 'again'> {
    const { app, limits, mayPay, clock, log, failpoint, sealer } = this.#options
    const { jobId, nodeId, attempt, serviceId } = purchase
    const { offer, payer, feeUnits, statedFeeUnits } = payable
    if (!mayPay(offer.chainId)) return refusedReservation({ kind: 'frozen' })
    const spending = {
      ...{ jobId, nodeId, attempt, serviceId, payer },
      ...{ protocol: offer.protocol, chainId: offer.chainId, amount: offer.amount },
      ...{ currency: address(offer.token), recipient: address(offer.recipient), units: units + feeUnits },
      statedFeeUnits,
    }
    const reserved = await reserveSpend(app, spending, limits, clock.now())
    if (reserved.kind === 'taken') return 'again'
    if (reserved.kind !== 'reserved') return refusedReservation(reserved)
    const { id } = reserved
    failpoint('spend.reserved')
    try {
      signal.throwIfAborted()
      const { headers, ...made } = await payable.sign(purchase.idempotencyKey)
      if (!mayBegin(purchase, signal)) {
        await voidSpend(app, id, { from: 'reserved' })
        return later
      }
      const credential = sealHeaders(sealer, id, headers)
      if (!(await keepCredential(app, id, { ...made, credential }))) return 'again'
    } catch (error) {
      await voidSpend(app, id, { from: 'reserved' })
      if (!(error instanceof SigningError)) throw error
      log.warn({ spend: id, problem: messageOf(error) }, 'a payment could not be signed')
      return refusedPurchase('wallet_empty', 'The wallet could not make the payment.')
    }
    failpoint('spend.kept')
    const spend = await findSpend(app, purchase)
    return spend?.id === id ? this.#send(spend, purchase, signal) : 'again'
  }

  async #send(spend: Spend, purchase: Purchase, signal: AbortSignal): Promise<Purchased> {
    if (spend.credential === null) return this.#concludeWithout(spend, null)
    if (!mayBegin(purchase, signal)) return later
    const headers = openHeaders(this.#options.sealer, spend.id, spend.credential)
    this.#paidCalls++
    try {
      return await this.#sendPaid(spend, purchase, headers)
    } finally {
      this.#paidCalls--
    }
  }

  /** Only the answer and the way out's own limit end it: it may be paid for from here on. */
  async #sendPaid(
    spend: Spend,
    purchase: Purchase,
    headers: Readonly<Record<string, string>>,
  ): Promise<Purchased> {
    const { app, egress, failpoint } = this.#options
    await beginTry(app, spend.id)
    failpoint('spend.sending')
    const called = await callSeller(egress, purchase, headers, new AbortController().signal)
    failpoint('spend.sent')
    const tried = { ...spend, tries: spend.tries + 1 }
    if (called.kind !== 'answered' || called.answer.status === 402)
      return this.#concludeWithout(tried, called)
    await keepAnswer(app, spend.id, called.answer)
    failpoint('spend.answered')
    return this.#concludeWith(tried, called.answer)
  }

  /** The seller answered, and asked for no more money. */
  async #concludeWith(spend: Spend, answer: KeptAnswer): Promise<Purchased> {
    const outcome = await this.#look(spend)
    if (outcome.kind === 'settled') return answeredPurchase(answer, outcome.paid)
    if (outcome.kind === 'failed') return answeredPurchase(answer, null)
    // An answer is paid for: by the reservation, until the chain has said it.
    return isSuccess(answer.status)
      ? answeredPurchase(answer, this.#promised(spend, outcome.reference))
      : later
  }

  /** There is no answer that was paid for. */
  async #concludeWithout(spend: Spend, called: Called | null): Promise<Purchased> {
    const outcome = await this.#look(spend)
    if (outcome.kind === 'failed') return rejected
    if (outcome.kind === 'unknown') return later
    const isTaken = called?.kind === 'notTaken'
    if (!isTaken && spend.tries < TRIES_MAX && spend.credential !== null) return later
    return {
      kind: 'paid_not_delivered',
      paid: outcome.paid,
      status: called?.kind === 'answered' ? called.answer.status : null,
      message: isTaken
        ? 'The answer was paid for and cannot be taken.'
        : 'The call was paid for and not answered.',
    }
  }

  async #look(spend: Spend) {
    const { terms, failpoint } = this.#options
    const looked = await lookForSpend(this.#options, spend)
    failpoint('spend.looked')
    if (looked.kind !== 'settled') return looked
    return { kind: 'settled', paid: paidOf(spend, looked.txHash, terms) } as const
  }

  #promised(spend: Spend, reference: string): Paid {
    return paidOf(spend, reference, this.#options.terms)
  }
}

/** False once its caller waits no more, or its process ends: then no credential leaves. */
const mayBegin = ({ mayPay }: Purchase, { aborted }: AbortSignal): boolean => !aborted && (mayPay?.() ?? true)

const isSuccess = (status: number): boolean => status >= 200 && status < 300
