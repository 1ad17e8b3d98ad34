// Goal: a ring of 50 accounts that buy their own endpoint of each other, and review all of it, ends poorer,
// whatever share of a margin is given away.
// Method: the program's own price, end and reward of jobs; a seed decides prices, failures and reviewers.
import { expect, test } from 'vitest'
import { larger, multiplied } from '#money/amounts.ts'
import { judge, type RewardTerms } from '#orchestrator/review/reward.ts'
import type { ChargedJob } from '#rows/jobs/books.ts'
import { closingOf } from '#rows/jobs/closing.ts'
import type { RewardFacts } from '#rows/jobs/rewards.ts'
import type { Random } from '#runtime/runtime.ts'
import { seededRandom } from '../../ingest/support/random.ts'
import { seedOf } from '../../support/seed.ts'

const BUYERS = 50
const ROUNDS = 40
const MULTIPLIER = '1.07'
const CHAIN_ID = 1
const TOKEN = `0x${'22'.repeat(20)}`
const addressOf = (index: number) => `0x${`${index + 1}`.padStart(40, '0')}`
const between = (random: Random, min: number, max: number) => min + Math.floor(random() * (max - min + 1))

/** One purchase's movement within the ring, in the token's smallest unit. */
interface Bought {
  /** The ring's money: what its sellers and payers got, less what they paid. */
  readonly gained: bigint
  readonly rewarded: bigint
}

function buyWithin(random: Random, terms: RewardTerms, transferFee: bigint): Bought {
  const [buyer, seller, reviewer] = [0, 1, 2].map(() => between(random, 0, BUYERS - 1)).map(addressOf)
  const quoted = BigInt(between(random, 1, 200_000))
  // Its seller may fail, or ask for less than it was quoted for.
  const paidUnits = random() < 0.2 ? BigInt(between(random, 0, Number(quoted))) : quoted
  const job = chargedOf(buyer ?? '', multiplied(quoted, MULTIPLIER))
  const { committedAmount, refund, costs } = closingOf(job, { paidUnits, feeUnits: 0n })
  const facts: RewardFacts = {
    ...{ state: 'succeeded', payer: job.payer, isReversed: false, committedAmount, costs, quoteDecimals: 6 },
    charge: { chainId: CHAIN_ID, token: TOKEN, decimals: 6 },
    ...{ isCostKnown: true, refunds: { booked: 0n, unbooked: refund > 0n ? 1 : 0 } },
    ...{ calledNodes: ['a'], ratedNodes: ['a'], hasOutput: true, isRewardedBefore: false },
    isProved: reviewer === buyer || random() < 0.5,
    isPaidToPayer: seller === buyer,
  }
  const judged = judge(facts, terms, transferFee)
  const rewarded = judged.kind === 'eligible' ? judged.amount : 0n
  const charged = job.charge?.amount ?? 0n
  return { gained: paidUnits - charged + refund + rewarded, rewarded }
}

const chargedOf = (payer: string, amount: bigint): ChargedJob => ({
  ...{ paymentId: 'pay', payer, costMultiplier: MULTIPLIER, decimals: 6, chargedUnits: amount },
  charge: { paymentId: 'pay', method: 'charge', chainId: CHAIN_ID, token: TOKEN, tokenDecimals: 6, amount },
})

const cases = ['0.25', '0.5', '1'].flatMap((share) => [1n, 40n, 5_000n].map((fee) => [share, fee] as const))

test.each(cases)(
  'a share of %s, at a fee of %s: no purchase gains, and the ring ends poorer',
  (share, fee) => {
    const random = seededRandom(seedOf(1))
    const terms = { share, dollarsPerDay: '1000000', dollarsPerPayer: '1000000' }
    const sums = { gained: 0n, rewarded: 0n, most: -1n }
    for (let turn = 0; turn < BUYERS * ROUNDS; turn++) {
      const { gained, rewarded } = buyWithin(random, terms, fee)
      sums.most = turn === 0 ? gained : larger(sums.most, gained)
      sums.gained += gained
      sums.rewarded += rewarded
    }
    // Rewards that nobody gets would prove nothing.
    expect(sums.rewarded).toBeGreaterThan(0n)
    expect(sums.most).toBeLessThanOrEqual(0n)
    expect(sums.gained).toBeLessThan(0n)
  },
)

test('the seller itself is rewarded for no purchase of its own', () => {
  const terms = { share: '1', dollarsPerDay: '1000', dollarsPerPayer: '1000' }
  const job = chargedOf(addressOf(0), multiplied(100_000n, MULTIPLIER))
  const { committedAmount, costs } = closingOf(job, { paidUnits: 100_000n, feeUnits: 0n })
  const facts: RewardFacts = {
    ...{ state: 'succeeded', payer: job.payer, isReversed: false, committedAmount, costs, quoteDecimals: 6 },
    charge: { chainId: CHAIN_ID, token: TOKEN, decimals: 6 },
    ...{ isCostKnown: true, refunds: { booked: 0n, unbooked: 0 }, hasOutput: true, isRewardedBefore: false },
    ...{ calledNodes: ['a'], ratedNodes: ['a'], isProved: true, isPaidToPayer: true },
  }
  expect(judge(facts, terms, 1n)).toEqual({ kind: 'ineligible', reason: 'payer_is_provider' })
})
