/** A protocol that money leaves by: what it pays, and what the chain says of it afterwards. */
import type { EgressAnswer } from '#egress/Egress.ts'
import { failure } from '#errors.ts'
import type { Fee } from '#money/fees.ts'
import type { SpendProtocol } from '#rows/jobs/spends.ts'
import type { LiveOffer } from './liveOffers.ts'

export interface Paying {
  readonly protocol: SpendProtocol
  /** The most that a chain may take beside the amount of any offer, in the smallest unit of quotes. */
  readonly feeUnitsMax: bigint
  /** Offers of a 402 that this protocol can pay, as they are now. */
  payable(answer: Pick<EgressAnswer, 'headers' | 'body'>): Promise<readonly Payable[]>
  /** A credential's outcome. Unknown if no node answers. */
  outcome(sent: SentPayment): Promise<SpendOutcome>
}

export interface Offered {
  readonly offer: LiveOffer
  /** The most the chain may take beside the amount, in the smallest unit of quotes. */
  readonly feeUnits: bigint
  /** The chain's stated fee, for prices: as much, or less. */
  readonly statedFeeUnits: bigint
}

export interface Payable extends Offered {
  readonly offer: LiveOffer & { readonly chainId: number }
  readonly payer: `0x${string}`
  /** Sends nothing. @param idempotencyKey the call's, whose code the payment has. @throws SigningError */
  sign(idempotencyKey: string): Promise<SignedCredential>
}

/** A credential, made and not sent. */
export interface SignedCredential {
  /** Headers that the request is sent with. */
  readonly headers: Readonly<Record<string, string>>
  /** The chain's name of it: hash of the transaction, memo of its transfer, or a nonce. */
  readonly reference: `0x${string}`
  /** Null where somebody else completes or sends the transaction. */
  readonly txHash: `0x${string}` | null
  /** Unix seconds; it cannot be mined from then on. */
  readonly validBeforeSeconds: number
  /** It is in no block before. */
  readonly fromBlock: number
}

/** The payment that the chain is asked about. */
export interface SentPayment extends Omit<SignedCredential, 'headers'> {
  readonly chainId: number
  readonly currency: `0x${string}`
  readonly recipient: `0x${string}`
  readonly payer: `0x${string}`
}

export type SpendOutcome =
  /** `fee`: what the chain took of the payer beside the amount. */
  | { readonly kind: 'settled'; readonly txHash: `0x${string}`; readonly fee: Fee }
  /** It is mined and moved nothing, or can be mined no more. */
  | { readonly kind: 'failed'; readonly fee: Fee }
  | { readonly kind: 'unknown' }

/** No credential was made, so nothing can be paid. What the library said stays in `cause`. */
export class SigningError extends failure('SigningError', 'signing_failed', 'retry') {}

export function unsigned(cause: unknown): never {
  if (cause instanceof SigningError) throw cause
  throw new SigningError('the chain or the library refused', { cause })
}
