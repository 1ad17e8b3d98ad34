/** /v1/operator/money and /v1/operator/days: how money stands, and what came and left by day. */

import { endpoint } from '#http/endpoint.ts'
import { operatorOnly } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import * as s from '#http/schema.ts'
import type { BooksLook } from '#payments/books/BooksWatch.ts'
import { type MoneyDay, moneyKinds, sumMoneyByDay } from '#rows/books/moneyByDay.ts'
import { findPause } from '#rows/payments/pauses.ts'
import type { MoneyServices } from './services.ts'
import { decimals, isoOf, wallet } from './shapes.ts'

const pause = s.nullable(
  s.named(
    'MoneyPause',
    { reason: s.text(), since: s.timestamp },
    { description: 'Null where work goes on.' },
  ),
)

const books = s.named('BooksLook', {
  lookedAt: s.nullable(s.timestamp),
  chainsAskedAt: s.nullable(s.timestamp),
  differing: s.count,
  unchecked: s.array(s.text({ description: 'A chain that did not tell, or that no setting names.' })),
})

const money = s.named('OperatorMoney', {
  wallet: s.nullable(wallet),
  sellingProblem: s.nullable(s.text({ description: 'Why nothing is sold; null where something is.' })),
  payouts: s.named('PayoutsState', { pause }),
  books: s.nullable(books),
})
export type OperatorMoney = s.Static<typeof money>

export const readMoneyEndpoint = endpoint({
  path: '/v1/operator/money',
  summary: 'The wallet, its day, pauses, and what the last look at the books found.',
  description:
    'Balances are as of the last look at the chains, half a minute ago at most. `books` is what this process found since its start.',
  tag: 'Operator',
  chain: 'none',
  access: operatorOnly,
  response: money,
  read: async (_call, { money: desk }: MoneyServices) => ({
    wallet: (await desk.wallet?.()) ?? null,
    paused: await findPause(desk.app, 'payouts'),
    ...{ books: desk.books(), sellingProblem: desk.sellingProblem },
  }),
  present: ({ wallet: told, paused, books: look, sellingProblem }) => ({
    wallet: told && { ...told, paused: told.paused && isoOf(new Date(told.paused)) },
    sellingProblem,
    payouts: { pause: paused && { reason: paused.reason, since: isoOf(paused.pausedAt) } },
    books: look && presentBooks(look),
  }),
  cache: 'none',
})

const presentBooks = ({ lookedAt, chainsAskedAt, differing, unchecked }: BooksLook) => ({
  lookedAt: lookedAt && isoOf(lookedAt),
  chainsAskedAt: chainsAskedAt && isoOf(chainsAskedAt),
  differing,
  unchecked: [...unchecked],
})

/** A quarter of a year. */
const DAYS_MAX = 92
const DAYS_DEFAULT = 30
const DAY_MS = 24 * 3_600_000

const days = s.named('MoneyDays', {
  from: s.text({ description: 'First day, UTC.', examples: ['2026-10-28'] }),
  to: s.text({ description: 'Last day, UTC; today.', examples: ['2026-11-26'] }),
  lines: s.array(
    s.named('MoneyDayLine', {
      day: s.text(),
      kind: s.oneOf(moneyKinds),
      chainId: s.integer(),
      currency: s.address,
      decimals,
      amount: s.signedAmount,
      count: s.integer({ minimum: 0, description: 'Movements that the amount sums.' }),
    }),
  ),
})
export type MoneyDays = s.Static<typeof days>

export const readDaysEndpoint = endpoint({
  path: '/v1/operator/days',
  summary: 'Income and cost by day, kind and currency, as `millrace books export` has them.',
  description: 'What left is negative. Days are those of UTC; one on which nothing moved has no line.',
  tag: 'Operator',
  filters: {
    days: p.withDefault(p.described(p.integer(1, DAYS_MAX), 'Days, with today.'), DAYS_DEFAULT),
  },
  chain: 'none',
  access: operatorOnly,
  response: days,
  read: async ({ filters }, { money: desk, clock }: MoneyServices & Clocked) => {
    const now = clock.now()
    const [first, last] = [dayOf(now - (filters.days - 1) * DAY_MS), dayOf(now)]
    return { first, last, lines: await sumMoneyByDay(desk.app, { first, last }), desk }
  },
  present: ({ first, last, lines, desk }) => ({
    ...{ from: first, to: last },
    lines: lines.map((line) => ({
      ...presentLine(line),
      decimals: desk.decimalsOf(line.chainId, line.currency),
    })),
  }),
  cache: 'none',
})

interface Clocked {
  readonly clock: { now(): number }
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const presentLine = ({ amount, ...line }: MoneyDay) => ({ ...line, amount: `${amount}` })
