/** Payments, refunds and rewards, and reviews. */
import { shortAddress } from '../../model/AccountClient.ts'
import {
  type ListedReview,
  type MoneyClient,
  type Payment,
  type Payout,
  type PayoutState,
  scopeText,
  waitText,
} from '../../model/money.ts'
import { element } from '../element.ts'
import { badge, type Tone } from '../parts/badge.ts'
import { card } from '../parts/card.ts'
import { type Listed, listView } from './listView.ts'
import { amountCell, choices, hashCell, type MoneyContext, meaning, momentCell, worded } from './parts.ts'

const paymentTones = {
  claimed: 'busy',
  sending: 'busy',
  settled: 'good',
  failed: 'bad',
  reversed: 'bad',
} as const satisfies Readonly<Record<Payment['state'], Tone>>

const payoutTones = {
  queued: 'busy',
  sending: 'busy',
  paid: 'good',
  withdrawn: 'bad',
} as const satisfies Readonly<Record<PayoutState, Tone>>

/** The next page of a list, with what it is narrowed to. */
const pageOf =
  <Item>(
    client: MoneyClient,
    name: Parameters<MoneyClient['page']>[0],
    asked: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Listed<Item>['read'] =>
  (cursor) =>
    client.page<Item>(name, { ...asked, ...(cursor !== null && { cursor }) }, signal)

const paymentColumns = ['When', 'State', 'For', 'Amount', 'Payer', 'By', 'Transaction']

const paymentRow = (one: Payment): (string | Node)[] => [
  momentCell(one.settledAt ?? one.claimedAt),
  element(
    'span',
    { class: 'badges' },
    badge(one.state, paymentTones[one.state]),
    one.isOwed ? badge('owed', 'bad') : null,
  ),
  scopeText(one.scope),
  amountCell(one),
  hashCell(one.payer),
  one.method,
  hashCell(one.transactionHash),
]

export async function paymentsView(client: MoneyClient, context: MoneyContext): Promise<HTMLElement[]> {
  const isUnrefunded = context.only === 'unrefunded'
  const list = await listView<Payment>({
    columns: paymentColumns,
    row: paymentRow,
    none: isUnrefunded ? 'No payment is owed without a queued refund.' : 'Nobody has paid yet.',
    read: pageOf(client, 'payments', isUnrefunded ? { unrefunded: 'true' } : {}, context.signal),
  })
  const kinds = [
    ['', 'All'],
    ['unrefunded', 'Owed, no refund queued'],
  ] as const
  const hint = isUnrefunded
    ? meaning(element('code', {}, 'millrace payments refund --all'), ' queues a refund of each.')
    : null
  return [card('Payments, the newest first', choices('Which payments', kinds, context), hint, list)]
}

const payoutRow = (one: Payout): (string | Node)[] => [
  momentCell(one.paidAt ?? one.queuedAt),
  one.kind,
  badge(one.state, payoutTones[one.state]),
  amountCell(one),
  hashCell(one.to),
  element('span', { class: 'why' }, ...worded(waitText(one))),
  hashCell(one.transactionHash),
]

export async function payoutsView(client: MoneyClient, context: MoneyContext): Promise<HTMLElement[]> {
  const { only } = context
  const kinds = [
    ['', 'All'],
    ['queued', 'Queued'],
    ['sending', 'Sending'],
    ['paid', 'Paid'],
    ['withdrawn', 'Withdrawn'],
  ] as const
  const state = kinds.some(([value]) => value === only) ? only : ''
  const list = await listView<Payout>({
    columns: ['When', 'Kind', 'State', 'Amount', 'To', 'Why it waits', 'Transaction'],
    row: payoutRow,
    none: state === '' ? 'Nothing was owed to anybody yet.' : 'None is in this state.',
    read: pageOf(client, 'payouts', state === '' ? {} : { state }, context.signal),
  })
  return [card('Refunds and rewards, the newest first', choices('Which state', kinds, context), list)]
}

const reviewRow = (one: ListedReview): (string | Node)[] => [
  momentCell(one.reviewedAt),
  element('span', { class: 'stars', role: 'img', 'aria-label': `${one.rating} of 5` }, stars(one.rating)),
  one.isProved ? badge('proved', 'good') : badge('not proved', 'busy'),
  one.reward
    ? element(
        'span',
        { class: 'badges' },
        badge(one.reward.state, payoutTones[one.reward.state]),
        amountCell(one.reward),
      )
    : element('span', { class: 'none' }, one.reason ?? 'not decided yet'),
  hashCell(one.payer),
  element('span', { class: 'why' }, one.comment ?? ''),
  element('code', { title: one.jobId }, shortAddress(one.jobId)),
]

const STARS = 5
const stars = (rating: number): string => '★'.repeat(rating) + '☆'.repeat(Math.max(0, STARS - rating))

export async function reviewsView(client: MoneyClient, { signal }: MoneyContext): Promise<HTMLElement[]> {
  const list = await listView<ListedReview>({
    columns: ['When', 'Rating', 'Payer', 'Reward', 'Account', 'Comment', 'Job'],
    row: reviewRow,
    none: 'No job was reviewed yet.',
    read: pageOf(client, 'reviews', {}, signal),
  })
  return [card('Reviews, the newest first', list)]
}
