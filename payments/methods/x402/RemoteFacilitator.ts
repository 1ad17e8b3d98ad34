/**
 * A facilitator that the operator names. It decides what it sends, and never what settled: its word
 * is compared with the chain.
 */
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import type { Egress, EgressRequest } from '#egress/Egress.ts'
import { isRecord } from '#primitives.ts'
import { type Facilitator, FacilitatorError, txHashIn } from './Facilitator.ts'

export interface RemoteFacilitatorOptions {
  readonly url: string
  readonly egress: Pick<Egress, 'fetch'>
}

const ANSWER_BYTES_MAX = 256 * 1_024
/** Answers beyond 2xx that say something too. */
const REFUSED_FROM = 300

export class RemoteFacilitator implements Facilitator {
  readonly #options: RemoteFacilitatorOptions

  constructor(options: RemoteFacilitatorOptions) {
    this.#options = options
  }

  async verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<string | null> {
    const { told } = await this.#post('verify', payload, requirements)
    if (told['isValid'] === true) return null
    const { invalidReason } = told
    if (told['isValid'] !== false)
      throw new FacilitatorError('the facilitator did not say whether it would settle')
    return typeof invalidReason === 'string' ? invalidReason : 'invalid'
  }

  /** No answer says that it has not sent the authorization, or will not (202, `settlement_pending`). */
  async settle(payload: PaymentPayload, requirements: PaymentRequirements) {
    const { told } = await this.#post('settle', payload, requirements)
    const { transaction } = told
    return { txHash: typeof transaction === 'string' ? txHashIn(transaction) : null }
  }

  async problem(network: string): Promise<string | null> {
    const { status, told } = await this.#ask({ path: 'supported' })
    if (status >= REFUSED_FROM) return `it answers ${status}`
    const { kinds } = told
    const isSupported =
      Array.isArray(kinds) &&
      kinds.some(
        (kind) =>
          isRecord(kind) &&
          kind['x402Version'] === 2 &&
          kind['scheme'] === 'exact' &&
          (kind['network'] === network || kind['network'] === 'eip155:*'),
      )
    return isSupported ? null : `it does not settle exact payments on ${network}`
  }

  #post(path: 'verify' | 'settle', paymentPayload: PaymentPayload, paymentRequirements: PaymentRequirements) {
    const { x402Version } = paymentPayload
    return this.#ask({
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ x402Version, paymentPayload, paymentRequirements }),
    })
  }

  async #ask({ path, ...rest }: Pick<EgressRequest, 'method' | 'headers' | 'body'> & { path: string }) {
    const { url, egress } = this.#options
    const { status, body } = await egress.fetch({
      ...rest,
      url: `${url.replace(/\/+$/, '')}/${path}`,
      purpose: 'facilitator',
      bytesMax: ANSWER_BYTES_MAX,
      signal: new AbortController().signal,
    })
    const told: unknown = JSON.parse(body.toString())
    if (!isRecord(told)) throw new FacilitatorError('the facilitator answered with no object')
    return { status, told }
  }
}
