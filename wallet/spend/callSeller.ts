/** One call of a seller, and how much of it is known afterwards. */
import type { Egress, EgressAnswer } from '#egress/Egress.ts'
import { EgressFailedError, EgressRefusedError } from '#egress/errors.ts'
import type { Purchase, Purchased } from '../buyer.ts'
import { refusedPurchase } from './purchased.ts'

export type Called =
  | { readonly kind: 'answered'; readonly answer: EgressAnswer }
  /** An answer came that is too long or cannot be read. */
  | { readonly kind: 'notTaken' }
  /** The request was not sent. */
  | { readonly kind: 'notReached' }
  /** The seller's deed is unknown. */
  | { readonly kind: 'lost' }

/** @param credential headers that pay for it @throws the signal's reason */
export async function callSeller(
  egress: Pick<Egress, 'fetch'>,
  { url, method, headers, body, idempotencyKey, bytesMax }: Purchase,
  credential: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Called> {
  try {
    const answer = await egress.fetch({
      ...{ url, method, bytesMax, signal, purpose: 'purchase' },
      headers: { ...headers, 'idempotency-key': idempotencyKey, ...credential },
      ...(body !== null && { body }),
    })
    return { kind: 'answered', answer }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof EgressFailedError) return { kind: error.reason === 'busy' ? 'notReached' : 'lost' }
    if (error instanceof EgressRefusedError)
      return { kind: error.reason === 'tooLong' || error.reason === 'encoding' ? 'notTaken' : 'notReached' }
    throw error
  }
}

/** A call that nothing was paid for. */
export function refusedCall({ kind }: Exclude<Called, { kind: 'answered' }>): Purchased {
  if (kind === 'notTaken')
    return refusedPurchase('answer_refused', 'The answer is too long or cannot be read.')
  return refusedPurchase(
    'unreachable',
    kind === 'lost' ? 'The seller did not answer in time.' : 'The seller cannot be reached.',
  )
}
