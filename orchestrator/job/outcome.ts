/** The next state of a node after its call's end, or an answer to a poll: a pure function. */
import { backoffMs } from '#runtime/backoff.ts'
import type { Random } from '#runtime/runtime.ts'
import type { Purchased, RefusalCode } from '#wallet/buyer.ts'
import { type Completion, pollPathOf, progressOf } from './completion.ts'
import type { NodeErrorCode } from './jobErrors.ts'
import { JOB_OUTPUT_BYTES_MAX, type NodeOutput, OutputRefusedError, outputOf } from './output.ts'

export type NodeOutcome =
  | { readonly kind: 'succeed'; readonly output: NodeOutput }
  | { readonly kind: 'fail'; readonly code: NodeErrorCode; readonly message: string }
  /** The job was cancelled before: it paid nothing, and pays nothing. */
  | { readonly kind: 'cancel'; readonly code: 'job_cancelled'; readonly message: string }
  /** The call was not paid: another purchase is tried, or the same one if it was not tried yet. */
  | { readonly kind: 'again'; readonly dueMs: number; readonly isUntried?: true }
  /** The same purchase is asked for again. */
  | { readonly kind: 'unknown'; readonly dueMs: number }
  /** The service works on; `pollPath` is where it is asked. */
  | { readonly kind: 'accept'; readonly pollPath: string; readonly dueMs: number }

/**
 * Failures of paid calls that are the seller's, whatever it was sent: no answer, or one that nobody can
 * read. A refused input is the buyer's, and what a job ran out of (time, bytes) is ours or the buyer's.
 */
export const sellersFaults = {
  codes: [
    'paid_not_delivered',
    'output_refused',
    'completion_unreadable',
    'completion_unpayable',
    'completion_timeout',
  ],
  /** A seller that answers 400 to what it was paid for may be right. */
  codesOf5xx: ['seller_failed'],
} as const satisfies Readonly<Record<string, readonly NodeErrorCode[]>>

export interface OutcomeContext {
  readonly nowMs: number
  readonly random: Random
  /** The purchase's number, from 1. */
  readonly attempt: number
  readonly completion: Completion | null
  /** Its method has no effect beyond the first time. */
  readonly isRepeatable: boolean
  /** It was quoted for nothing. */
  readonly isFree: boolean
  /** Bytes of outputs that the job holds. */
  readonly outputBytes: number
}

/** Purchases of one node that nothing was paid for, before it has failed. */
const ATTEMPTS_MAX = 5
const retryLimits = { baseMs: 1_000, maxMs: 30_000 }
/** A wallet that pays nothing now is looked at again, until the node's deadline. */
const WALLET_MS = 15_000

/** Refusals that may be otherwise at the next try. */
const passing: ReadonlySet<RefusalCode> = new Set(['unreachable', 'payment_rejected'])
const ofWallet: ReadonlySet<RefusalCode> = new Set(['wallet_paused', 'wallet_empty'])

export function outcomeOf(purchased: Purchased, context: OutcomeContext): NodeOutcome {
  const { nowMs, isFree, isRepeatable } = context
  switch (purchased.kind) {
    case 'answered':
      return answered(purchased, context)
    case 'refused':
      return refused(purchased, context)
    case 'unknown':
      // Nothing tells later whether a call that costs nothing was done.
      if (isFree && !isRepeatable)
        return fail('outcome_unknown', 'The answer is lost, and the call may be done.')
      return { kind: 'unknown', dueMs: nowMs + purchased.retryAfterMs }
    case 'paid_not_delivered':
      return fail('paid_not_delivered', purchased.message)
  }
}

function answered(
  { status, contentType, body, paid }: Extract<Purchased, { kind: 'answered' }>,
  context: OutcomeContext,
): NodeOutcome {
  if (status < 200 || status > 299) {
    const message = `The service answered ${status}${paid ? ' after it was paid' : ''}.`
    const isPassing = paid === null && mayBeRepeated(status, context)
    return isPassing ? retried(context, 'seller_failed', message) : fail('seller_failed', message)
  }
  const { completion } = context
  try {
    const output = outputOf(contentType, body)
    return completion === null ? taken(output, context) : begun(output, completion, context)
  } catch (error) {
    if (!(error instanceof OutputRefusedError)) throw error
    return fail('output_refused', `The answer is not taken: ${error.message}.`)
  }
}

/** A service that was not paid has done nothing of what is paid for. */
const mayBeRepeated = (status: number, { isRepeatable, isFree }: OutcomeContext): boolean =>
  status === 429 || status === 503 || (status >= 500 && (isRepeatable || !isFree))

function begun(output: NodeOutput, completion: Completion, context: OutcomeContext): NodeOutcome {
  const answer: unknown = JSON.parse(output.text)
  const progress = progressOf(completion, answer)
  if (progress === 'done') return taken(output, context)
  if (progress === 'failed') return fail('seller_failed', 'The service says that its work has failed.')
  const pollPath = pollPathOf(completion, answer)
  if (pollPath === null)
    return fail('completion_unreadable', 'The answer does not name the work that it began.')
  return { kind: 'accept', pollPath, dueMs: context.nowMs + completion.pollIntervalSeconds * 1_000 }
}

function refused(
  { code, message }: Extract<Purchased, { kind: 'refused' }>,
  context: OutcomeContext,
): NodeOutcome {
  if (code === 'job_cancelled') return { kind: 'cancel', code, message }
  if (ofWallet.has(code)) return { kind: 'again', dueMs: context.nowMs + WALLET_MS, isUntried: true }
  return passing.has(code) ? retried(context, code, message) : fail(code, message)
}

function retried(
  { nowMs, attempt, random }: OutcomeContext,
  code: NodeErrorCode,
  message: string,
): NodeOutcome {
  if (attempt >= ATTEMPTS_MAX) return fail(code, message)
  return { kind: 'again', dueMs: nowMs + backoffMs(attempt, retryLimits, random) }
}

function taken(output: NodeOutput, { outputBytes }: OutcomeContext): NodeOutcome {
  if (outputBytes + output.bytes <= JOB_OUTPUT_BYTES_MAX) return { kind: 'succeed', output }
  return fail('output_too_large', `All outputs together have more than ${JOB_OUTPUT_BYTES_MAX} bytes.`)
}

const fail = (code: NodeErrorCode, message: string): NodeOutcome => ({ kind: 'fail', code, message })

/** The answer to a poll; null if there was none. */
export type Polled = { readonly status: number; readonly contentType: string; readonly body: Buffer } | null

/** @param polls answers and silences so far, with this one */
export function pollOutcomeOf(
  polled: Polled,
  completion: Completion,
  polls: number,
  pollPath: string,
  context: OutcomeContext,
): NodeOutcome {
  // Polls are never paid.
  if (polled?.status === 402)
    return fail('completion_unpayable', 'The service asks for money to say whether it is done.')
  const isTaken = polled !== null && polled.status >= 200 && polled.status <= 299
  try {
    const output = isTaken ? outputOf(polled.contentType, polled.body) : null
    const progress = output ? progressOf(completion, JSON.parse(output.text)) : 'pending'
    if (output && progress === 'done') return taken(output, context)
    if (progress === 'failed') return fail('seller_failed', 'The service says that its work has failed.')
  } catch (error) {
    if (!(error instanceof OutputRefusedError)) throw error
    return fail('output_refused', `The answer is not taken: ${error.message}.`)
  }
  if (polls >= completion.maxAttempts)
    return fail('completion_timeout', `The service was not done when it was asked ${polls} times.`)
  return { kind: 'accept', pollPath, dueMs: context.nowMs + completion.pollIntervalSeconds * 1_000 }
}
