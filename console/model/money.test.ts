import { expect, test } from 'vitest'
import {
  amountText,
  barsOf,
  daysBetween,
  ledgerOf,
  type MoneyKind,
  type MoneyLine,
  moneyAlarms,
  type Payout,
  permille,
  waitText,
} from './money.ts'

test.each([
  ['123456789012345678901', 6, '123,456,789,012,345.678901'],
  ['1500000', 6, '1.5'],
  ['0', 6, '0'],
  ['-25', 6, '−0.000025'],
  ['-1234567', 0, '−1,234,567'],
  ['7', null, '7 units'],
] as const)('%s of %s decimals is %s', (amount, decimals, text) => {
  expect(amountText({ amount, decimals })).toBe(text)
})

test('a share is of exact numbers, and never beyond the whole', () => {
  expect(permille('1.25', '50')).toBe(25)
  expect(permille('99999999999999999999.999', '99999999999999999999.999')).toBe(1_000)
  expect(permille('60', '50')).toBe(1_000)
  expect(permille('0', '0')).toBe(0)
  expect(permille('0.1', '0')).toBe(1_000)
})

const line = (day: string, kind: MoneyKind, amount: string, decimals: number | null = 6): MoneyLine => ({
  ...{ day, kind, amount, decimals, count: 2, chainId: 1337, currency: `0x${'20'.repeat(20)}` },
})
const days = {
  from: '2026-02-27',
  to: '2026-03-01',
  lines: [
    line('2026-02-27', 'payment', '9007199254740993000001'),
    line('2026-02-27', 'payment', '1000000000000000000', 18),
    line('2026-02-27', 'reversed', '-1'),
    line('2026-03-01', 'cost', '-400'),
    line('2026-03-01', 'fee', '-4'),
    line('2026-03-01', 'payment', '5', null),
  ],
}

test('sums of days are exact, whatever decimals their tokens have', () => {
  const { all, days: told, byKind, decimals, unknown } = ledgerOf(days)
  expect(decimals).toBe(18)
  expect(all).toEqual({ income: 9_007_199_254_740_994n * 10n ** 18n, cost: 404n * 10n ** 12n })
  expect(told.map(({ day, income, cost }) => [day, income > 0n, cost > 0n])).toEqual([
    ['2026-02-27', true, false],
    ['2026-02-28', false, false],
    ['2026-03-01', false, true],
  ])
  expect(byKind.map(({ kind, count }) => [kind, count])).toEqual([
    ['payment', 4],
    ['reversed', 2],
    ['cost', 2],
    ['fee', 2],
  ])
  expect(unknown).toHaveLength(1)
})

test('bars compare days; one that is small beside another is still seen', () => {
  expect(barsOf(ledgerOf(days))).toEqual([
    { day: '2026-02-27', up: 1_000, down: 0 },
    { day: '2026-02-28', up: 0, down: 0 },
    { day: '2026-03-01', up: 0, down: 1 },
  ])
  expect(barsOf({ days: [{ day: '2026-03-01', income: 0n, cost: 0n }] })).toMatchObject([{ up: 0, down: 0 }])
})

test('days go over the end of a month, and none are made of what is no day', () => {
  expect(daysBetween('2026-02-27', '2026-03-01')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01'])
  expect(daysBetween('2026-03-01', '2026-02-27')).toEqual([])
  expect(daysBetween('x', 'y')).toEqual([])
})

test('a payout says why it waits', () => {
  const queued: Payout = {
    ...{ id: 'out_1', kind: 'refund', state: 'queued', to: '0x', reference: 'pay_1', chainId: 1 },
    ...{ currency: '0x', amount: '1', decimals: 6, problem: null, sentWith: null, collectUntil: null },
    ...{ transactionHash: null, queuedAt: '', paidAt: null },
  }
  expect(waitText(queued)).toBe('next in the queue')
  expect(waitText({ ...queued, problem: 'payouts are paused: x' })).toBe('payouts are paused: x')
  expect(waitText({ ...queued, collectUntil: '2026-01-01T00:00:00Z' })).toContain('2026-01-01')
  expect(waitText({ ...queued, sentWith: 'out_2' })).toBe('goes with out_2')
  expect(waitText({ ...queued, state: 'sending' })).toBe('sent, not final yet')
  expect(waitText({ ...queued, state: 'paid' })).toBe('')
})

test('alarms of money are told from others', () => {
  const alarm = (code: string) => ({ chainId: 1, code, problem: '', since: '' })
  expect(moneyAlarms([alarm('wallet_low'), alarm('lane_stopped')]).map(({ code }) => code)).toEqual([
    'wallet_low',
  ])
})
