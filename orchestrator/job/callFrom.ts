/** The request that a node is, once the nodes it takes from have their outputs. */
import type { ServiceEndpoint } from '../catalog/service.ts'
import { parseLossless } from '../plan/lossless.ts'
import { InputUnresolvedError, resolveInput } from '../plan/resolveInput.ts'
import { type SellerCall, sellerCallOf } from '../plan/sellerCallOf.ts'

/** Goes to a thread as it is. */
export interface CallTask {
  readonly endpoint: Pick<ServiceEndpoint, 'method' | 'requestFormat'>
  readonly url: string
  /** With references. */
  readonly input: unknown
  /** JSON texts, by their nodes. */
  readonly outputs: ReadonlyMap<string, string>
}

export type CallFrom = SellerCall | { readonly code: 'input_unresolved'; readonly message: string }

export function callFrom({ endpoint, url, input, outputs }: CallTask): CallFrom {
  const values = new Map([...outputs].map(([nodeId, text]) => [nodeId, parseLossless(text)]))
  try {
    return sellerCallOf({ endpoint, url: new URL(url) }, resolveInput(input, values))
  } catch (error) {
    if (!(error instanceof InputUnresolvedError)) throw error
    return { code: 'input_unresolved', message: `The input cannot be made: ${error.message}.` }
  }
}
