/**
 * The port between a job and the wallet: one call of a seller, paid for at most once. A job says
 * what is called and what it may cost; the wallet alone knows keys, credentials and the chain.
 */
import type { EgressMethod } from '#egress/Egress.ts'

export interface Buyer {
  /**
   * Calls the endpoint, and pays where it asks for money. Repeated with the same identity, in
   * whatever process, it goes on with the same spend: nothing is paid twice. The signal ends what is
   * not paid for yet: once a credential has left, the answer is waited for and kept.
   * @throws only the signal's reason, and what the database throws; then the spend's state says more
   */
  buy(purchase: Purchase, signal: AbortSignal): Promise<Purchased>
  /**
   * Payments for calls that a restored database has forgotten, by node: from now on each is its call's,
   * whose answer is lost. Nobody is called.
   */
  recover(calls: readonly CallToRecover[]): Promise<ReadonlyMap<string, Recovered>>
  /** Calls of this process whose credential has left, and which have no answer yet. */
  paidCalls(): number
}

/** A purchase's identity: another attempt of the same node is another spend. */
export interface PurchaseId {
  readonly jobId: string
  readonly nodeId: string
  /** Counts from 1, and grows only where the attempt before surely paid nothing, or a repeat is agreed to. */
  readonly attempt: number
}

/** A call that may have been paid for. */
export type CallToRecover = Pick<
  Purchase,
  'jobId' | 'nodeId' | 'attempt' | 'serviceId' | 'idempotencyKey' | 'unitsMax'
>

export type Recovered = Extract<Purchased, { readonly kind: 'paid_not_delivered' | 'unknown' }>

/** The recipients that a service's entry in the catalog allows. */
export type RecipientPolicy =
  | { readonly mode: 'allowlist'; readonly recipients: readonly string[] }
  /** The account that the seller's own challenge names. */
  | { readonly mode: 'origin' }

export interface Purchase extends PurchaseId {
  readonly serviceId: string
  readonly method: EgressMethod
  /** With its query. Its origin is the catalog's. */
  readonly url: string
  /** Without credentials, and without an idempotency key: both are the buyer's to add. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** For the seller's `Idempotency-Key`: one for all attempts of a node, and nothing of the job's id. */
  readonly idempotencyKey: string
  /** The most it may cost, in the smallest unit of the quote's currency; 0 for what must be free. */
  readonly unitsMax: bigint
  readonly recipientPolicy: RecipientPolicy | undefined
  /** A longer answer is not taken: then it was paid and not delivered. */
  readonly bytesMax: number
  /** Milliseconds since the epoch: nothing is begun after it. */
  readonly deadlineMs: number
  /** False once the process ends: whoever comes next pays. Default: true. */
  readonly mayPay?: () => boolean
}

/** The amount that left the wallet for good. */
export interface Paid {
  readonly chainId: number
  /** Token, lowercase. */
  readonly currency: `0x${string}`
  /** In the token's smallest unit. */
  readonly amount: bigint
  /** The same in the smallest unit of the quote's currency, rounded up. */
  readonly units: bigint
  /** The books know it by this: the hash of its transaction, or what the chain will find it by. */
  readonly reference: string
}

export type Purchased =
  /** The seller's answer, whatever its status; `paid` is null where it cost nothing. */
  | {
      readonly kind: 'answered'
      readonly status: number
      /** Lowercase, without parameters; empty when not told. */
      readonly contentType: string
      readonly body: Buffer
      readonly paid: Paid | null
    }
  /** The spend paid nothing, and will pay nothing. */
  | {
      readonly kind: 'refused'
      readonly code: RefusalCode
      /** For the job's owner: without secrets. */
      readonly message: string
    }
  /** It may have been paid: ask again with the same identity, not before so many milliseconds. */
  | { readonly kind: 'unknown'; readonly retryAfterMs: number }
  /** It was paid, and its answer is lost or was not taken. */
  | {
      readonly kind: 'paid_not_delivered'
      readonly paid: Paid
      readonly status: number | null
      readonly message: string
    }

/** Why nothing was paid. */
export type RefusalCode =
  /** Not reached, no answer in time, too much at once: another try may succeed. */
  | 'unreachable'
  /** The wallet is paused, empty or at a limit of the operator. */
  | 'wallet_paused'
  | 'wallet_empty'
  | 'budget_exceeded'
  /** The seller asks more than was quoted, someone else to be paid, or in no way that is paid. */
  | 'price_exceeded'
  | 'recipient_refused'
  | 'offer_unpayable'
  /** The seller asked for money again after it was offered, and the chain holds no payment. */
  | 'payment_rejected'
  /** The answer cannot be taken: it is too long, or encoded in a way that is not read. */
  | 'answer_refused'
  | 'deadline_passed'
  /** The end of the job was asked for before anything was signed. */
  | 'job_cancelled'
