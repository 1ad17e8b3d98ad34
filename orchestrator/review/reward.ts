/**
 * Which reviews are rewarded, and with what: a share of what their own job earned after all fees, the
 * reward's own included, so that nobody gains by buying from himself, and no reward is a loss.
 */
import { rescaled, shareOf, smaller } from '#money/amounts.ts'
import { FEE_DECIMALS } from '#money/fees.ts'
import { PAYMENT_REVERSED } from '#rows/jobs/reviews.ts'
import type { RewardFacts } from '#rows/jobs/rewards.ts'

export const rewardReasons = [
  /** The job has not ended. */
  'job_not_ready',
  'not_reviewed',
  /** The chain took back what the job was paid with. */
  PAYMENT_REVERSED,
  /** After fees the job earned too little for its share to be a unit of money. */
  'insufficient_workflow_spend',
  /** A node that was called has no rating. */
  'incomplete_review',
  /** No node has an output. */
  'job_not_delivered',
  'payer_unknown',
  /** A seller of the job is paid to the payer's account. */
  'payer_is_provider',
  /** The payer is unproved: his own review takes the place of this one. */
  'payer_unproved',
  /** The job is part of a purchase that was rewarded. */
  'already_rewarded',
  /** The outcome of a payment for its calls, or the cost of its transfer, is unknown: tried again. */
  'cost_unknown',
  /** The day's budget, or the payer's: tried again. */
  'budget_exhausted',
  /** Tried again once the operator gives rewards. */
  'rewards_disabled',
] as const
export type RewardReason = (typeof rewardReasons)[number]

export type RewardStatus = 'ineligible' | 'queued' | 'paid'

/** The next states of a reward: only one ineligible for a cause that can pass is looked at again. */
export const rewardTransitions: Readonly<Record<RewardStatus, readonly RewardStatus[]>> = {
  ineligible: ['queued'],
  // A payment that the chain took back takes its reward along.
  queued: ['paid', 'ineligible'],
  paid: [],
}

/** Causes that can pass while the review stays as it is. */
export const passingReasons = [
  'cost_unknown',
  'budget_exhausted',
  'rewards_disabled',
] as const satisfies readonly RewardReason[]

/** The operator's terms. */
export interface RewardTerms {
  /** Share of what a job earned, as decimal text from 0 to 1. */
  readonly share: string
  /** Dollars a day, as decimal text. */
  readonly dollarsPerDay: string
  readonly dollarsPerPayer: string
}

export type Judged =
  | { readonly kind: 'ineligible'; readonly reason: RewardReason }
  /** Within the budget, which is not asked here. In the token's unit. */
  | ({ readonly kind: 'eligible' } & Rewarded)

/** In the token's unit: both together are at most what the job earned. */
interface Rewarded {
  readonly amount: bigint
  /** The most that it may cost as its part of the fee of its transfer. */
  readonly feePart: bigint
}

/**
 * @param terms null where rewards are off
 * @param transferFee the most that a transfer to the payer costs now, in the token's unit; null where
 *   nobody tells it
 */
export function judge(facts: RewardFacts, terms: RewardTerms | null, transferFee: bigint | null): Judged {
  const reason = reasonAgainst(facts, terms)
  if (reason || !terms) return { kind: 'ineligible', reason: reason ?? 'rewards_disabled' }
  if (!facts.isCostKnown || transferFee === null) return { kind: 'ineligible', reason: 'cost_unknown' }
  const { amount, feePart } = rewardOf(marginOf(facts, transferFee), terms, transferFee)
  if (amount === 0n) return { kind: 'ineligible', reason: 'insufficient_workflow_spend' }
  // Asked last: nobody is told to prove himself for a reward that there is not.
  return facts.isProved
    ? { kind: 'eligible', amount, feePart }
    : { kind: 'ineligible', reason: 'payer_unproved' }
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

function reasonAgainst(facts: RewardFacts, terms: RewardTerms | null): RewardReason | null {
  if (facts.state === 'queued' || facts.state === 'running') return 'job_not_ready'
  if (facts.payer === ZERO_ADDRESS) return 'payer_unknown'
  if (facts.isReversed) return PAYMENT_REVERSED
  if (!facts.charge) return 'insufficient_workflow_spend'
  if (!facts.hasOutput) return 'job_not_delivered'
  if (!facts.calledNodes.every((id) => facts.ratedNodes.includes(id))) return 'incomplete_review'
  if (facts.isPaidToPayer) return 'payer_is_provider'
  if (facts.isRewardedBefore) return 'already_rewarded'
  return terms ? null : 'rewards_disabled'
}

/**
 * The fee of a transfer takes half of a margin at most: what is less than a transfer costs waits for
 * other rewards to the same account, until their parts come to the fee.
 */
function rewardOf(margin: bigint, { share }: RewardTerms, transferFee: bigint): Rewarded {
  const feePart = smaller(transferFee, (margin + 1n) / 2n)
  return { amount: shareOf(margin - feePart, share), feePart }
}

/** Charged, less what is refunded and what calls and refunds cost, fees included; in the token's unit. */
function marginOf(
  { charge, committedAmount, costs, refunds, quoteDecimals }: RewardFacts,
  transferFee: bigint,
): bigint {
  if (!charge) return 0n
  const { decimals } = charge
  const calls = rescaled(costs.paidUnits + costs.feeUnits, quoteDecimals, decimals)
  const refunding = rescaled(refunds.booked, FEE_DECIMALS, decimals) + BigInt(refunds.unbooked) * transferFee
  const cost = calls + refunding
  return committedAmount > cost ? committedAmount - cost : 0n
}
