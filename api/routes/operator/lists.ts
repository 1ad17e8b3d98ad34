/** Lists of payments, of refunds and rewards, and of reviews, for the operator. */

import { listEndpoint } from '#http/listEndpoint.ts'
import { operatorOnly } from '#http/request/access.ts'
import { type ListPage, pageById } from '#http/request/pagination.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import { type ListedReview, listReviews, type ReviewPlace } from '#rows/jobs/reviews.ts'
import { type ListedPayout, listPayouts } from '#rows/payments/listedPayouts.ts'
import { type ListedPayment, listPayments } from '#rows/payments/payments.ts'
import type { MoneyDesk, MoneyServices } from './services.ts'
import { isoOf, moneyMembers, moneyPageRules } from './shapes.ts'

/** Common to all of them. */
const ofMoney = {
  tag: 'Operator',
  chain: 'none',
  access: operatorOnly,
  pages: moneyPageRules,
  cache: 'none',
  owned: true,
} as const

/** A row with the desk that knows its token. */
interface Told<Row> {
  readonly row: Row
  readonly desk: MoneyDesk
}

const at = (moment: Date | null) => moment && isoOf(moment)

const moneyOf = (
  { decimalsOf }: MoneyDesk,
  { chainId, currency, amount }: Pick<ListedPayment, 'chainId' | 'currency' | 'amount'>,
) => ({ chainId, currency, decimals: decimalsOf(chainId, currency), amount: `${amount}` })

const payment = s.named('OperatorPayment', {
  id: s.text(),
  state: s.oneOf(['claimed', 'sending', 'settled', 'failed', 'reversed'], {
    description: '`reversed`: the chain took it back.',
  }),
  method: s.text({ examples: ['tempo/charge'] }),
  scope: s.text({ description: 'What was paid for.', examples: ['data:read', 'jobs', 'webhooks:write'] }),
  payer: s.address,
  ...moneyMembers,
  transactionHash: s.nullable(s.hash),
  isAnswered: s.boolean({ description: 'What was paid for has left in full, or is kept.' }),
  isOwed: s.boolean({ description: 'It is owed to its payer.' }),
  claimedAt: s.timestamp,
  settledAt: s.nullable(s.timestamp),
})
export type OperatorPayment = s.Static<typeof payment>

export const listPaymentsEndpoint = listEndpoint({
  ...ofMoney,
  path: '/v1/operator/payments',
  summary: 'What callers paid, the newest first.',
  filters: {
    unrefunded: p.described(p.boolean, '`true`: those alone that are owed and whose refund is not queued.'),
  },
  item: payment,
  list: async ({ page, filters }, { money: desk }: MoneyServices) =>
    withDesk(
      desk,
      await pageById(page, (limit, before) =>
        listPayments(desk.app, limit, { before, isUnrefunded: filters.unrefunded === true }),
      ),
    ),
  present: ({ row, desk }: Told<ListedPayment>) => ({
    ...{ id: row.id, method: row.method, scope: row.scope, payer: row.payer },
    state: row.isReversed ? ('reversed' as const) : row.state,
    ...moneyOf(desk, row),
    transactionHash: row.txHash,
    ...{ isAnswered: row.isAnswered, isOwed: row.isOwed },
    ...{ claimedAt: isoOf(row.claimedAt), settledAt: at(row.settledAt) },
  }),
})

const states = ['queued', 'sending', 'paid', 'withdrawn'] as const

const payout = s.named('OperatorPayout', {
  id: s.text(),
  kind: s.oneOf(['refund', 'reward']),
  state: s.oneOf(states),
  to: s.address,
  reference: s.text({ description: 'The payment or job that it is owed for.' }),
  ...moneyMembers,
  problem: s.nullable(s.text({ description: 'Why it is not paid yet.' })),
  sentWith: s.nullable(s.text({ description: 'The payout whose transfer pays this one too.' })),
  collectUntil: s.nullable(s.timestamp),
  transactionHash: s.nullable(s.hash),
  queuedAt: s.timestamp,
  paidAt: s.nullable(s.timestamp),
})
export type OperatorPayout = s.Static<typeof payout>

export const listPayoutsEndpoint = listEndpoint({
  ...ofMoney,
  path: '/v1/operator/payouts',
  summary: 'Refunds and rewards: what is owed, why it waits, and what was sent.',
  description:
    '`collectUntil`: one that is smaller than its transfer waits until then for others to the same account.',
  filters: { state: p.described(p.oneOf(...states), 'Those of this state alone.') },
  item: payout,
  list: async ({ page, filters: { state } }, { money: desk }: MoneyServices) =>
    withDesk(desk, await pageById(page, (limit, before) => listPayouts(desk.app, limit, { before, state }))),
  present: ({ row, desk }: Told<ListedPayout>) => ({
    ...{ id: row.id, kind: row.kind, state: row.state, to: row.to, reference: row.reference },
    ...moneyOf(desk, row),
    ...{ problem: row.problem, sentWith: row.sentWith, collectUntil: at(row.collectUntil) },
    transactionHash: row.transaction?.txHash ?? null,
    ...{ queuedAt: isoOf(row.queuedAt), paidAt: at(row.paidAt) },
  }),
})

const review = s.named('OperatorReview', {
  jobId: s.text({ format: 'uuid' }),
  payer: s.address,
  rating: s.integer({ minimum: 1, maximum: 5 }),
  comment: s.nullable(s.text()),
  isProved: s.boolean({ description: 'The account that paid for the job gave it.' }),
  reason: s.nullable(s.text({ description: 'Why no reward is owed.' })),
  reward: s.nullable(s.named('OperatorReward', { state: s.oneOf(states), ...moneyMembers })),
  reviewedAt: s.timestamp,
})
export type OperatorReview = s.Static<typeof review>

export const listReviewsEndpoint = listEndpoint({
  ...ofMoney,
  path: '/v1/operator/reviews',
  summary: 'Reviews of jobs, the newest first, and their rewards.',
  item: review,
  list: async ({ page }, { money: desk }: MoneyServices) => withDesk(desk, await pageOfReviews(desk, page)),
  present: ({ row, desk }: Told<ListedReview>) => ({
    ...{ jobId: row.jobId, payer: row.payer, rating: row.rating, comment: row.comment },
    ...{ isProved: row.isProved, reason: row.unrewardedReason },
    reward: row.reward && { state: row.reward.state, ...moneyOf(desk, row.reward) },
    reviewedAt: isoOf(row.reviewedAt),
  }),
})

async function pageOfReviews({ app }: MoneyDesk, { position, limit }: ListPage) {
  const rows = await listReviews(app, limit + 1, placeOf(position))
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { rows: shown, next: rows.length > limit && last ? [last.reviewedAtMicros, last.jobId] : null }
}

/** A cursor is sealed: what it holds was put in by this list. */
function placeOf(position: ListPage['position']): ReviewPlace | null {
  const [micros, jobId] = position ?? []
  return micros === undefined || jobId === undefined
    ? null
    : { reviewedAtMicros: `${micros}`, jobId: `${jobId}` }
}

const withDesk = <Row, Page extends { readonly rows: readonly Row[] }>(
  desk: MoneyDesk,
  page: Page & { readonly rows: readonly Row[] },
) => ({ ...page, rows: page.rows.map((row) => ({ row, desk })) })
