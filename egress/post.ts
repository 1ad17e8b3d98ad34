/**
 * The one sender: a body to an address, once, and what the answer means. Whoever signs does so over
 * these bytes.
 */
import type { Clock } from '#runtime/runtime.ts'
import type { Egress, EgressPurpose } from './Egress.ts'
import { EgressFailedError, EgressRefusedError } from './errors.ts'

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Has the bound of its time. */
  readonly purpose: EgressPurpose
}

export interface Reply {
  readonly succeeded: boolean
  readonly responseStatus: number | null
  /** Null where nothing was answered: how long that took says what lies behind an address. */
  readonly responseMs: number | null
  /** For whoever named the address. */
  readonly error: string | null
  /** Why nothing was answered, for the operator alone: it says what a network holds. */
  readonly cause: unknown
  readonly retryAfterMs: number | null
  readonly isGone: boolean
}

/** Bytes of an answer that are read; of a longer one the rest is not. */
const ANSWER_BYTES_MAX = 16 * 1024
const GONE = 410

/** @throws the signal's reason when it is aborted: nobody knows then what the receiver did */
export async function post(
  egress: Pick<Egress, 'fetch'>,
  asked: Post,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  signal: AbortSignal,
): Promise<Reply> {
  const startedMs = clock.monotonic()
  try {
    const answer = await egress.fetch({
      ...asked,
      method: 'POST',
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
      cause: null,
      retryAfterMs: readRetryAfterMs(typeof retryAfter === 'string' ? retryAfter : undefined, clock.now()),
      isGone: answer.status === GONE,
    }
  } catch (error) {
    if (!(error instanceof EgressRefusedError || error instanceof EgressFailedError)) throw error
    return { ...unanswered, error: textOf(error), cause: error }
  }
}

export const unanswered = {
  succeeded: false,
  responseStatus: null,
  responseMs: null,
  cause: null,
  retryAfterMs: null,
  isGone: false,
} as const

/** The time a `Retry-After` header names, in seconds or as a date; null for none that can be read. */
export function readRetryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}

/** Refused and unreachable destinations read alike: they would tell what a network holds. */
const textOf = (error: EgressRefusedError | EgressFailedError): string =>
  error instanceof EgressFailedError && error.reason === 'timeout'
    ? 'The endpoint did not answer in time.'
    : 'The endpoint could not be reached.'

function problemOf(status: number): string {
  if (status >= 300 && status < 400) return `The endpoint answered ${status}: redirects are not followed.`
  return status === GONE ? 'The endpoint answered 410: it is gone.' : `The endpoint answered ${status}.`
}
