/** The side that checks authorizations and brings them to the chain: this program, or a service. */
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { failure } from '#errors.ts'

export interface Facilitator {
  /** Changes nothing. Null where it would settle, else why not. @throws where nobody could tell */
  verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<string | null>
  /**
   * `unsent`: nothing left this process, or its node refused it. Else the transaction, as far as it
   * was told: whether it settled is asked of the chain. @throws where nobody knows what became of it
   */
  settle(
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ): Promise<'unsent' | { readonly txHash: string | null }>
  /** Null while it settles on the network, else why not. */
  problem(network: string): Promise<string | null>
}

/** The answer does not say whether an authorization settles. */
export class FacilitatorError extends failure('FacilitatorError', 'facilitator_failed', 'retry') {}

const txHashText = /^0x[0-9a-fA-F]{64}$/

/** Null for what is none. */
export const txHashIn = (text: string): string | null => (txHashText.test(text) ? text.toLowerCase() : null)
