/** Errors of the way out: refusals, and destinations that did not answer. */
import { failure } from '#errors.ts'

/**
 * `url`: protocol, credentials or length; `address`: not a public one; `unresolved`: the name has
 * none; the others are of the request or its answer.
 */
export type EgressRefusal = 'url' | 'address' | 'unresolved' | 'header' | 'encoding' | 'tooLong'

/** We do not go there, or do not take what came back. */
export class EgressRefusedError extends failure('EgressRefusedError', 'url_invalid', 'stop') {
  readonly reason: EgressRefusal

  constructor(reason: EgressRefusal) {
    super(
      reason === 'unresolved'
        ? 'The host of the URL does not resolve.'
        : 'The URL leads where this service does not go.',
    )
    this.reason = reason
  }
}

/** No answer: whether the request was taken is unknown, except for `busy`, which was not sent. */
export class EgressFailedError extends failure('EgressFailedError', 'egress_failed', 'retry') {
  readonly reason: 'busy' | 'timeout' | 'connection'

  constructor(reason: EgressFailedError['reason'], cause: unknown) {
    super('What the URL names did not answer', { cause })
    this.reason = reason
  }
}
