/**
 * Settlements are compared with the transfers that the indexer itself proved, or that the nodes of a
 * chain tell that is not indexed here, once their blocks are final. One that the chain took back is
 * taken back in the books; one that was held to have failed and has settled is owed to its payer.
 */
import type { Ask } from '#money/node.ts'
import { lookForTx } from '#money/settled.ts'
import type { AppDatabase } from '#rows/database.ts'
import { reversePayment } from '#rows/jobs/reversals.ts'
import { type Payment, settlePayment } from '#rows/payments/payments.ts'
import {
  countFindings,
  type DoubtfulPayments,
  keepProof,
  listFailed,
  listUnproved,
  noFindings,
  renameTransaction,
  type Settled,
} from '#rows/payments/proofs.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Queryable } from '#store/ledger/lane.ts'
import { type FinalTransaction, readLinked } from '#store/read/payments/settlements.ts'
import type { Logger } from '#telemetry.ts'
import type { PaymentOutcome } from '../methods/PaymentMethod.ts'
import { readFinalOnNodes } from './finalOnNodes.ts'
import { verdictOn } from './verdictOn.ts'

export interface ProverOptions {
  readonly app: AppDatabase
  readonly chain: {
    readonly chainId: number
    /** Null where the chain is not indexed here: its nodes are asked. */
    readonly index: { readonly schema: string; readonly reads: Queryable } | null
  }
  readonly nodes: readonly Ask[]
  /** A payment's outcome, from its method. */
  readonly outcome: (payment: Payment) => Promise<PaymentOutcome>
  /** Spending limits of a day, by currency, in its smallest unit. */
  readonly budgets: () => ReadonlyMap<string, bigint>
  readonly clock: Clock
  readonly log: Logger
}

const LOOK_MS = 5_000
/** Nodes are asked about each payment: less often. */
const NODES_LOOK_MS = 30_000
const LOOKED_MAX = 200
/** A block is indexed and final within that, as a rule: nodes are asked only then. */
const MISSING_MS = 60_000
/** Nodes are asked about so many in one look. */
const ASKED_MAX = 10

type List = typeof listUnproved

export class Prover {
  readonly #options: ProverOptions
  /** The last that was looked at, of each list: what stays in it holds up nothing behind it. */
  readonly #after = new Map<List, string>()
  #findings = noFindings

  constructor(options: ProverOptions) {
    this.#options = options
  }

  get findings(): DoubtfulPayments {
    return this.#findings
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { chain, clock, log } = this.#options
    const lookMs = chain.index ? LOOK_MS : NODES_LOOK_MS
    const failed = { log, ms: lookMs, message: 'settlements could not be compared' }
    await repeat({ clock, signal, failed }, async () => {
      await this.look()
      return lookMs
    })
  }

  /** One look at some payments, in turn. */
  async look(): Promise<void> {
    const { app } = this.#options
    const unproved = await this.#next(listUnproved)
    const found = await this.#read(unproved)
    for (const payment of unproved) await this.#prove(payment, found.get(payment.txHash))
    await this.#reverse(unproved.filter(({ txHash }) => !found.has(txHash)))
    const failed = await this.#next(listFailed)
    const settled = await this.#read(failed)
    for (const payment of failed) await this.#settleLate(payment, settled.get(payment.txHash))
    this.#findings = await countFindings(app, this.#options.budgets())
  }

  async #next(list: List): Promise<readonly Settled[]> {
    const { app, chain } = this.#options
    const found = await list(app, chain.chainId, this.#after.get(list) ?? '', LOOKED_MAX)
    this.#after.set(list, found.length < LOOKED_MAX ? '' : (found.at(-1)?.id ?? ''))
    return found
  }

  #read(payments: readonly Settled[]): Promise<ReadonlyMap<string, FinalTransaction>> {
    const { chain, nodes } = this.#options
    const hashes = payments.map(({ txHash }) => txHash)
    if (hashes.length === 0) return Promise.resolve(new Map())
    const { index } = chain
    return index ? readLinked(index.reads, index.schema, hashes) : readFinalOnNodes(nodes, payments)
  }

  async #prove(payment: Settled, transaction: FinalTransaction | undefined): Promise<void> {
    if (!transaction) return
    const { app, log } = this.#options
    const verdict = verdictOn(payment, transaction)
    await keepProof(app, payment.id, verdict.kind, transaction.blockNumber)
    if (verdict.kind === 'differs')
      log.error({ payment: payment.id, problem: verdict.problem }, 'a payment is not what the chain has')
  }

  /** Payments in no final block are asked of all nodes: a gap of the index is no proof. */
  async #reverse(missing: readonly Settled[]): Promise<void> {
    const { app, nodes, clock, log } = this.#options
    const old = missing.filter(
      ({ settledAt }) => settledAt !== null && clock.now() - settledAt.getTime() > MISSING_MS,
    )
    for (const payment of old.slice(0, ASKED_MAX)) {
      const { kind } = await lookForTx(nodes, payment)
      if (kind !== 'absent' || (await this.#isElsewhere(payment))) continue
      if (!(await reversePayment(app, payment))) continue
      const { id, payer, amount, txHash } = payment
      log.error({ payment: id, payer, amount: `${amount}`, txHash }, 'THE CHAIN TOOK A PAYMENT BACK')
    }
  }

  /** An authorization may be brought to the chain again by another transaction. */
  async #isElsewhere(payment: Settled): Promise<boolean> {
    const { app, chain, outcome } = this.#options
    if (chain.index) return false
    const found = await outcome(payment)
    if (found.kind === 'settled' && found.txHash !== null)
      await renameTransaction(app, payment.id, found.txHash)
    return found.kind !== 'failed'
  }

  async #settleLate(payment: Settled, transaction: FinalTransaction | undefined): Promise<void> {
    if (!transaction?.succeeded) return
    const { app, outcome, log } = this.#options
    const found = await outcome(payment)
    if (found.kind !== 'settled' || !(await settlePayment(app, payment, found))) return
    log.warn({ payment: payment.id }, 'a payment that was held to have failed has settled: it is owed')
  }
}
