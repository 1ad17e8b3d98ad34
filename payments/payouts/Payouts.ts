/**
 * Sends what the service owes, out of its payee's key. A transaction is stored before it is sent. An
 * outcome that nobody knows sends the same bytes again; another transaction is signed only when the
 * chain can take the one before no more. Paid means final.
 */
import { messageOf } from '#errors.ts'
import { nextMemosOf } from '#money/debtMemo.ts'
import type { Mined } from '#money/settled.ts'
import type { AppDatabase } from '#rows/database.ts'
import { collect, collectPaid, type Worth } from '#rows/payments/collected.ts'
import { finishPayout } from '#rows/payments/debts.ts'
import { type Forgotten, findPaidBefore } from '#rows/payments/forgotten.ts'
import { isOfKnownHistory, pauseAfterRestore, pauseOf } from '#rows/payments/pauses.ts'
import { readSentWithinDay } from '#rows/payments/payoutBudget.ts'
import {
  deferPayout,
  type HeldPayout,
  keepSigned,
  letPayoutGo,
  requeuePayout,
  type SignedTransaction,
  takePayouts,
} from '#rows/payments/payouts.ts'
import { type BackoffLimits, backoffMs } from '#runtime/backoff.ts'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { PayoutRefusedError, type PayoutSender } from './PayoutSender.ts'
import { settleBy } from './paidElsewhere.ts'

export interface PayoutsOptions {
  readonly app: AppDatabase
  readonly chain: PayoutSender
  /**
   * The most that may be signed for within a day, in the smallest unit of a currency, beside one debt that
   * is more; null takes none of the currency.
   */
  readonly budgetOf: (currency: string) => bigint | null
  /** False until it is known whether the database has forgotten what left the account. */
  readonly mayPay: () => boolean
  readonly runtime: Runtime
  readonly log: Logger
}

/** Longer than a step lasts. */
const HOLD_MS = 120_000
/** Taken at once, and worked on at once. */
const TAKEN_MAX = 64
const WIDTH = 8
/** Between two looks at the queue, and at a transaction that is not final. */
const POLL_MS = 1_000
/** A debt that cannot be paid now is tried again, more and more rarely. */
const backoff: BackoffLimits = { baseMs: 2_000, maxMs: 3_600_000 }

/** Fees of a transfer: refunds below one wait for others, and fees may rise as much. */
const SMALL = 10n

/** Points at which a crash is worth trying. */
type PayoutFailpoint =
  | 'payouts.taken'
  | 'payouts.signed'
  | 'payouts.keep'
  | 'payouts.kept'
  | 'payouts.sent'
  | 'payouts.looked'
  | 'payouts.paid'

export class Payouts {
  readonly #options: PayoutsOptions

  constructor(options: PayoutsOptions) {
    this.#options = options
  }

  /** Until aborted; what is under way then is finished. */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#options
    const failed = { log, ms: POLL_MS, message: 'payouts wait' }
    await repeat({ clock: runtime.clock, signal, failed }, async () =>
      (await this.turn()) === TAKEN_MAX ? 0 : POLL_MS,
    )
  }

  /** One step of each payout that is due; how many were. */
  async turn(): Promise<number> {
    const { app, chain, log } = this.#options
    if (await pauseAfterRestore(app, 'payouts')) log.warn({}, 'payouts are paused: the database was restored')
    const taken = await takePayouts(app, chain.chainId, TAKEN_MAX, HOLD_MS)
    if (taken.length === 0) return 0
    const pause = await this.#pauseOf()
    this.#visit('payouts.taken')
    await mapAtMost(WIDTH, taken, (payout) => this.#step(payout, pause))
    return taken.length
  }

  async #pauseOf(): Promise<string | null> {
    const reason = await pauseOf(this.#options.app, 'payouts')
    if (reason !== null) return `payouts are paused: ${reason}`
    return this.#options.mayPay() ? null : 'the chain has not told yet what left the account'
  }

  async #step(payout: HeldPayout, pause: string | null): Promise<void> {
    const { app, log } = this.#options
    try {
      if (payout.state === 'sending') await this.#follow(payout, pause)
      else if (pause === null) await this.#begin(payout)
      else await deferPayout(app, payout, POLL_MS, pause)
    } catch (error) {
      const problem = messageOf(error)
      if (!(error instanceof PayoutRefusedError)) log.warn({ payout: payout.id, problem }, 'a payout waits')
      await letPayoutGo(app, payout, this.#pauseMs(payout), problem)
    }
  }

  /** Signs, keeps and sends. @throws PayoutRefusedError */
  async #begin(due: HeldPayout): Promise<void> {
    const { app, chain } = this.#options
    const { own, larger } = await findPaidBefore(app, due, nextMemosOf(due, due.attempt))
    if (own && (await this.#adopt(due, own))) return
    const worth = { refunds: await chain.statedFee(), fee: (await chain.feeTo(due)).now }
    if (larger && isSmall(due, worth)) throw inDoubt(larger)
    const collected = await collect(app, due, worth)
    if (!collected) return
    const payout = { ...due, total: collected.total }
    const signed = await chain.sign(payout, collected.feeMax)
    this.#visit('payouts.signed')
    if (!(await this.#keep(payout, signed))) return
    this.#visit('payouts.kept')
    await chain.send(signed, { ...payout, attempt: payout.attempt + 1 })
    this.#visit('payouts.sent')
    await letPayoutGo(app, payout, POLL_MS, null)
  }

  /**
   * Paid before the database was restored, by a transaction that it has forgotten: nothing is signed. False
   * where no block has that any more.
   */
  async #adopt(due: HeldPayout, { txHash, amount, validBeforeSeconds }: Forgotten): Promise<boolean> {
    const { app, chain, log } = this.#options
    const found = await chain.lookAt({ txHash, validBeforeSeconds })
    if (found.kind === 'absent') return false
    const payout = { ...due, total: await collectPaid(app, due, amount) }
    const problem = await settleBy(app, payout, found)
    if (problem === null) log.warn({ payout: due.id, txHash }, 'a payout was paid before the restore')
    else await letPayoutGo(app, due, this.#pauseMs(due), `${txHash} was sent for it before: ${problem}`)
    return true
  }

  /** False where another process has the payout. @throws PayoutRefusedError beyond the budget */
  async #keep(payout: HeldPayout, signed: SignedTransaction): Promise<boolean> {
    const { app, budgetOf } = this.#options
    const { currency } = payout
    const budget = budgetOf(currency)
    if (budget === null) throw new PayoutRefusedError(`${currency} is none of the currencies of payments`)
    return app.transaction().execute(async (transaction) => {
      // Another server may have taken over since the turn began.
      if (!(await isOfKnownHistory(transaction, 'payouts')))
        throw new PayoutRefusedError('the database was restored or promoted')
      await this.#assertWithinBudget(transaction, payout, budget)
      const kept = await keepSigned(transaction, payout, signed)
      this.#visit('payouts.keep')
      return kept
    })
  }

  /** One debt a day may be above the budget: beside it, for else it would be owed for ever. */
  async #assertWithinBudget(transaction: AppDatabase, payout: HeldPayout, budget: bigint): Promise<void> {
    const { id, currency, total: amount } = payout
    const { sum, large } = await readSentWithinDay(transaction, payout, budget)
    if (amount > budget ? large > 0 : sum + amount > budget)
      throw new PayoutRefusedError(
        `the day's budget for payouts, ${budget} units of ${currency}, ${amount > budget ? 'lets one debt above it go, and one went' : 'is used up'}`,
      )
    if (amount > budget)
      this.#options.log.warn(
        { payout: id, amount: `${amount}` },
        "a payout is above the day's budget: it goes alone",
      )
  }

  async #follow(payout: HeldPayout, pause: string | null): Promise<void> {
    const { app, chain, log } = this.#options
    const { transaction } = payout
    if (!transaction) throw new TypeError(`${payout.id} is being sent without a transaction`)
    const found = await chain.look(transaction, payout)
    this.#visit('payouts.looked')
    if (found.kind === 'mined' && found.isFinal) return this.#finish(payout, found)
    if (found.kind === 'absent') {
      log.warn({ payout: payout.id, txHash: transaction.txHash }, 'no block took a payout: it is signed anew')
      return requeuePayout(app, payout, this.#pauseMs(payout), 'no block took its last transaction', null)
    }
    const isSentAgain = found.kind === 'unknown' && pause === null
    if (isSentAgain) await chain.send(transaction, payout)
    await letPayoutGo(app, payout, isSentAgain ? chain.resendMs : POLL_MS, null)
  }

  async #finish(payout: HeldPayout, { succeeded, txHash, blockNumber, logs }: Mined): Promise<void> {
    const { app, chain, log } = this.#options
    const fee = chain.feeIn(logs)
    if (!succeeded) {
      log.warn({ payout: payout.id }, 'the chain refused a payout')
      const problem = 'the chain refused its last transaction'
      return requeuePayout(app, payout, this.#pauseMs(payout), problem, fee)
    }
    await finishPayout(app, payout, { txHash, blockNumber, ...fee })
    this.#visit('payouts.paid')
    log.info({ payout: payout.id, kind: payout.kind, amount: `${payout.total}` }, 'a payout is final')
  }

  #pauseMs({ failures }: HeldPayout): number {
    return backoffMs(failures + 1, backoff, this.#options.runtime.random)
  }

  #visit(place: PayoutFailpoint): void {
    this.#options.runtime.failpoint(place)
  }
}

/** Sent with others, maybe. */
const isSmall = ({ kind, feePart, amount }: HeldPayout, { refunds }: Worth): boolean =>
  kind === 'reward' ? feePart !== null : amount < SMALL * refunds

/** The debt that the transfer names takes it along, if that one comes back; else an operator decides. */
const inDoubt = ({ txHash }: Forgotten): PayoutRefusedError =>
  new PayoutRefusedError(
    `${txHash} moved more to its account before the database was restored, and may have paid it with others: \`millrace payments settle\` says that it did, \`millrace payments unpaid\` that it did not`,
  )
