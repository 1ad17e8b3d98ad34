/** A reward as it is answered. */
import * as s from '#http/schema.ts'
import { decimalText } from '#money/amounts.ts'
import type { StoredReview } from '#rows/jobs/reviews.ts'
import type { Payout } from '#rows/payments/payouts.ts'
import { wordOf } from '#rows/schema/words.ts'
import { type RewardReason, rewardReasons } from './reward.ts'

const amount = s.text({ description: 'Decimal, in the currency of the job’s usage.', examples: ['0.05'] })
const currency = s.text({ examples: ['USDC'] })

export const rewardSchema = s.union([
  s.named('RewardIneligible', { status: s.literal('ineligible'), reason: s.oneOf(rewardReasons) }),
  s.named('RewardQueued', { status: s.literal('queued'), amount, currency }),
  s.named('RewardPaid', {
    status: s.literal('paid'),
    amount,
    currency,
    attempt: s.integer({ minimum: 1, description: 'Transactions that were signed for it.' }),
    transactionHash: s.hash,
  }),
])
export type Reward = s.Static<typeof rewardSchema>

export const ineligible = (reason: RewardReason): Reward => ({ status: 'ineligible', reason })

/** @param payout what is owed for the review; null where nothing is */
export function rewardOf(
  review: Pick<StoredReview, 'unrewardedReason'> | null,
  payout: Payout | null,
  { currency, tokenDecimals }: { readonly currency: string; readonly tokenDecimals: number },
): Reward {
  if (!review) return ineligible('not_reviewed')
  if (!payout) return ineligible(wordOf(rewardReasons, review.unrewardedReason ?? 'none', 'a review'))
  const told = { amount: decimalText(payout.amount, tokenDecimals), currency }
  if (payout.state !== 'paid' || !payout.transaction) return { status: 'queued', ...told }
  const { attempt, transaction } = payout
  return { status: 'paid', ...told, attempt, transactionHash: transaction.txHash }
}
