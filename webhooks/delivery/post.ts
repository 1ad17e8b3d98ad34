/** One attempt: what is sent, and what the answer means. */
import { type Egress, EgressFailedError, EgressRefusedError } from '#egress/egress.ts'
import type { Target } from '#rows/webhooks/subscriptions.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type Outgoing, requestTo } from '../destinations.ts'
import { readRetryAfterMs } from './schedule.ts'

export interface Reply {
  readonly succeeded: boolean
  readonly responseStatus: number | null
  /** Null where nothing was answered: how long that took says what lies behind an address. */
  readonly responseMs: number | null
  readonly error: string | null
  readonly retryAfterMs: number | null
  readonly isGone: boolean
}

/** Bytes of an answer that are read; of a longer one the rest is not. */
const ANSWER_BYTES_MAX = 16 * 1024
const GONE = 410

/** @throws the signal's reason when it is aborted: nobody knows then what the endpoint did */
export async function post(
  egress: Egress,
  target: Target,
  outgoing: Outgoing,
  clock: Clock,
  signal: AbortSignal,
): Promise<Reply> {
  const startedMs = clock.monotonic()
  try {
    const answer = await egress.fetch({
      ...requestTo(target, outgoing),
      method: 'POST',
      purpose: 'webhook',
      bytesMax: ANSWER_BYTES_MAX,
      cuts: true,
      signal,
    })
    const succeeded = answer.status >= 200 && answer.status < 300
    const { 'retry-after': retryAfter } = answer.headers
    return {
      succeeded,
      responseStatus: answer.status,
      responseMs: Math.round(clock.monotonic() - startedMs),
      error: succeeded ? null : problemOf(answer.status),
      retryAfterMs: readRetryAfterMs(typeof retryAfter === 'string' ? retryAfter : undefined, clock.now()),
      isGone: answer.status === GONE,
    }
  } catch (error) {
    if (!(error instanceof EgressRefusedError || error instanceof EgressFailedError)) throw error
    return { ...unanswered, error: textOf(error) }
  }
}

export const unanswered = {
  succeeded: false,
  responseStatus: null,
  responseMs: null,
  retryAfterMs: null,
  isGone: false,
} as const

/** What is refused and what cannot be reached read alike: they would tell what a network holds. */
const textOf = (error: EgressRefusedError | EgressFailedError): string =>
  error instanceof EgressFailedError && error.reason === 'timeout'
    ? 'The endpoint did not answer in time.'
    : 'The endpoint could not be reached.'

function problemOf(status: number): string {
  if (status >= 300 && status < 400) return `The endpoint answered ${status}: redirects are not followed.`
  return status === GONE ? 'The endpoint answered 410: it is gone.' : `The endpoint answered ${status}.`
}
