/**
 * A way to pay. `Payments` offers all of them in one 402, takes a credential to the method that it
 * belongs to, and keeps the rows; a method knows its protocol and its chain, and keeps nothing.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { failure } from '#errors.ts'
import type { CheckedPayment } from '#rows/payments/payments.ts'

/** The price of one request. */
export interface RequestPrice {
  /** SHA-256 of the request. */
  readonly digest: Uint8Array
  /** A unit in dollars, as decimal text. */
  readonly dollars: string
  readonly units: number
  readonly description: string
  /** Further data that the payment is bound to, by name. */
  readonly meta: Readonly<Record<string, string>>
}

/** One method's part of a 402. */
export interface Challenge {
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Used where no method before it has one. */
  readonly body: string
  readonly contentType: string
}

/** A method in one currency, as documents show it (`x-payment-info`). */
export interface DocumentedOffer {
  readonly intent: string
  readonly method: string
  /** Address of the token. */
  readonly currency: string
  /** In its smallest unit. */
  readonly amount: string
}

/** A payment's outcome. */
export type PaymentOutcome =
  | {
      readonly kind: 'settled'
      /** As the payer gets it. */
      readonly receipt: string
      /** Transaction that moved the money, where one did. */
      readonly txHash: string | null
    }
  /** It surely did not settle, and never will. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'unknown' }

/**
 * A send that never left this process, or that every node that it reached refused: the credential is not
 * spent.
 */
export interface Unsent {
  readonly kind: 'unsent'
  readonly problem: PaymentProblem | null
}

/** RFC 9457: why a payment was not accepted. */
export type PaymentProblem = Readonly<Record<string, unknown>>

/** A credential's identity before it is checked. */
export interface Identity {
  /** The challenge or nonce that it spends. */
  readonly identity: string
  /** SHA-256 of the credential. */
  readonly digest: Uint8Array
}

export interface PaymentMethod {
  /** `tempo/charge`: in Accept-Payment and in the rows that it alone can tell the outcome of. */
  readonly name: string
  /** Whether it pays out of a deposit: at the price of sessions, and for nothing that is sold one by one. */
  readonly isChannel?: boolean
  /** The price of a unit in each currency that settles now; empty if none does. */
  offersOf(dollars: string): readonly DocumentedOffer[]
  /**
   * Writes no row. Null where nothing settles now.
   * @param url path and query
   * @param refused a credential of this method that was not accepted
   */
  challenge(price: RequestPrice, url: string, refused?: string): Promise<Challenge | null>
  /** The credential in a request that is this method's; null for none. @throws ApiError for two */
  presentedIn(headers: IncomingHttpHeaders): string | null
  /** Null for what is no credential. */
  identityOf(credential: string): Identity | null
  /** Further data that its challenge is bound to, as `Price.meta`; `check` alone proves it. */
  metaIn?(credential: string): Readonly<Record<string, string>>
  /** Changes nothing. @throws PaymentRefusedError */
  check(credential: string, price: RequestPrice): Promise<CheckedPayment>
  /** Spends it. */
  send(credential: string, price: RequestPrice, payment: CheckedPayment): Promise<PaymentOutcome | Unsent>
  /** Whether the payer has sent it already, so that it is settled before anything is done for it. */
  isPushed?(credential: string): boolean
  /**
   * Whether the credential itself proves that this account signed it. One that does not is settled before
   * anything is done for it. Default: it does.
   */
  provesPayer?(credential: string, payer: string): boolean
  /** The chain's word on a payment that may have been sent. */
  outcome(payment: CheckedPayment): Promise<PaymentOutcome>
  /** The receipt, as it goes with the answer. */
  receiptHeaders(receipt: string): Readonly<Record<string, string>>
  /** A credential's request to the method alone; null if it pays for an answer, or is another's. */
  managedBy?(request: ManagingRequest): (() => Promise<Managed>) | null
  /** In the place of a 402 for HEAD: how a payer proves who it is. Null where nothing settles now. */
  identify?(url: string): Promise<Challenge | null>
}

/** A request that may be for a method alone. */
export interface ManagingRequest {
  readonly headers: IncomingHttpHeaders
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly hasBody: boolean
}

/** The result of such a request. */
export type Managed =
  | { readonly kind: 'managed'; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly kind: 'refused'
      readonly challenge: Challenge | null
      readonly problem: PaymentProblem
    }

/** The reason, for an operator, why payments of a kind are not offered until the next look. */
export class NotOfferedError extends failure('NotOfferedError', 'payment_not_offered', 'retry') {}

/** The credential does not pay for this request; nothing was done with it. */
export class PaymentRefusedError extends failure('PaymentRefusedError', 'payment_refused', 'stop') {
  /** For the body of the next challenge; null for none. */
  readonly problem: PaymentProblem | null

  constructor(cause: unknown, problem: PaymentProblem | null = null) {
    super('the payment was not accepted', { cause })
    this.problem = problem
  }
}
