import { describe, expect, test } from 'vitest'
import type { RewardFacts } from '#rows/jobs/rewards.ts'
import { judge, passingReasons, type RewardReason, rewardReasons, rewardTransitions } from './reward.ts'

const terms = { share: '0.25', dollarsPerDay: '10', dollarsPerPayer: '1' }
const facts: RewardFacts = {
  state: 'succeeded',
  payer: `0x${'11'.repeat(20)}`,
  charge: { chainId: 1, token: `0x${'22'.repeat(20)}`, decimals: 6 },
  isReversed: false,
  committedAmount: 1_050n,
  costs: { paidUnits: 1_000n, feeUnits: 0n },
  isCostKnown: true,
  refunds: { booked: 0n, unbooked: 0 },
  quoteDecimals: 6,
  calledNodes: ['a', 'b'],
  hasOutput: true,
  ratedNodes: ['b', 'a'],
  isProved: true,
  isPaidToPayer: false,
  isRewardedBefore: false,
}

const all = { ...terms, share: '1' }
const none = { kind: 'ineligible', reason: 'insufficient_workflow_spend' }

describe('the reward of a review', () => {
  test('is the share of what the job earned, rounded down', () => {
    expect(judge(facts, terms, 0n)).toEqual({ kind: 'eligible', amount: 12n, feePart: 0n })
    expect(judge(facts, all, 0n)).toEqual({ kind: 'eligible', amount: 50n, feePart: 0n })
  })

  test('counts what calls cost in the token’s own unit, rounded up', () => {
    const charge = { chainId: 1, token: '0x', decimals: 2 }
    const coarse = { ...facts, charge, committedAmount: 105n, costs: { paidUnits: 1_000_001n, feeUnits: 0n } }
    expect(judge(coarse, all, 0n)).toEqual({ kind: 'eligible', amount: 4n, feePart: 0n })
  })

  test('counts fees among what calls cost', () => {
    const costs = { paidUnits: 1_000n, feeUnits: 30n }
    expect(judge({ ...facts, costs }, all, 0n)).toEqual({ kind: 'eligible', amount: 20n, feePart: 0n })
  })

  test('bears the fee of its transfer, by half of what the job earned at most', () => {
    expect(judge(facts, all, 10n)).toEqual({ kind: 'eligible', amount: 40n, feePart: 10n })
    expect(judge(facts, terms, 10n)).toEqual({ kind: 'eligible', amount: 10n, feePart: 10n })
    expect(judge(facts, all, 1_000n)).toEqual({ kind: 'eligible', amount: 25n, feePart: 25n })
    expect(judge({ ...facts, committedAmount: 1_001n }, all, 1_000n)).toEqual(none)
  })

  test('is after the fees of its refunds: as they are booked, or as they may be', () => {
    expect(judge({ ...facts, refunds: { booked: 20n, unbooked: 0 } }, all, 10n)).toMatchObject({
      amount: 20n,
    })
    expect(judge({ ...facts, refunds: { booked: 0n, unbooked: 2 } }, all, 10n)).toMatchObject({ amount: 20n })
    expect(judge({ ...facts, refunds: { booked: 0n, unbooked: 1 } }, all, 50n)).toEqual(none)
  })

  test.each<[Partial<RewardFacts>, RewardReason]>([
    [{ state: 'running' }, 'job_not_ready'],
    [{ payer: `0x${'00'.repeat(20)}` }, 'payer_unknown'],
    [{ isReversed: true }, 'payment_reversed'],
    [{ charge: null }, 'insufficient_workflow_spend'],
    [{ committedAmount: 1_000n }, 'insufficient_workflow_spend'],
    [{ committedAmount: 999n }, 'insufficient_workflow_spend'],
    [{ committedAmount: 1_003n }, 'insufficient_workflow_spend'],
    [{ hasOutput: false }, 'job_not_delivered'],
    [{ ratedNodes: ['a'] }, 'incomplete_review'],
    [{ isPaidToPayer: true }, 'payer_is_provider'],
    [{ isRewardedBefore: true }, 'already_rewarded'],
    [{ isCostKnown: false }, 'cost_unknown'],
    [{ isProved: false }, 'payer_unproved'],
    [{ isProved: false, committedAmount: 1_000n }, 'insufficient_workflow_spend'],
  ])('is none where %o', (other, reason) => {
    expect(judge({ ...facts, ...other }, terms, 0n)).toEqual({ kind: 'ineligible', reason })
  })

  test('is none where the operator gives none', () => {
    expect(judge(facts, null, 0n)).toEqual({ kind: 'ineligible', reason: 'rewards_disabled' })
  })

  test('waits while nobody tells what its transfer costs', () => {
    expect(judge(facts, terms, null)).toEqual({ kind: 'ineligible', reason: 'cost_unknown' })
  })
})

test('transitions are told for every status, and nothing follows what is paid', () => {
  expect(rewardTransitions).toEqual({ ineligible: ['queued'], queued: ['paid', 'ineligible'], paid: [] })
  expect(rewardReasons).toEqual(expect.arrayContaining([...passingReasons]))
})
