/** Codes of a job's own errors; docs/errors.md says what each means and what to do. */

/**
 * `retry`: the same may work later; `change_plan`: quote another plan; `none`: nothing helps, or nothing
 * is needed.
 */
export const remedies = ['retry', 'change_plan', 'none'] as const

export type Remedy = (typeof remedies)[number]

/** Codes of nodes and of their attempts, each with its remedy. */
export const nodeErrors = {
  // The wallet refused: nothing was paid.
  unreachable: 'retry',
  wallet_paused: 'retry',
  wallet_empty: 'retry',
  budget_exceeded: 'retry',
  price_exceeded: 'change_plan',
  recipient_refused: 'change_plan',
  offer_unpayable: 'change_plan',
  payment_rejected: 'retry',
  answer_refused: 'change_plan',

  // The call was made.
  seller_failed: 'retry',
  paid_not_delivered: 'retry',
  output_refused: 'change_plan',
  output_too_large: 'change_plan',
  outcome_unknown: 'retry',
  completion_unreadable: 'change_plan',
  completion_unpayable: 'change_plan',
  completion_timeout: 'retry',

  // The call was not made.
  input_unresolved: 'change_plan',
  input_too_large: 'change_plan',
  endpoint_gone: 'change_plan',
  dependency_failed: 'none',
  deadline_passed: 'retry',
  job_cancelled: 'retry',
} as const satisfies Readonly<Record<string, Remedy>>

/** Why a node has no output. */
export type NodeErrorCode = keyof typeof nodeErrors

/** Codes of whole jobs; a cancelled one has that of its nodes. */
export const jobErrors = ['job_failed', 'job_partially_succeeded', 'job_results_removed'] as const

/** @param code of a node, also one that an earlier version stored */
export const remedyOf = (code: string | null): Remedy =>
  code !== null && isNodeError(code) ? nodeErrors[code] : 'change_plan'

const isNodeError = (code: string): code is NodeErrorCode => Object.hasOwn(nodeErrors, code)
