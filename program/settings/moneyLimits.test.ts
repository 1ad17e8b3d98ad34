import { expect, test } from 'vitest'
import { SettingError } from '#errors.ts'
import { jobCostMaxOf, type MoneyLimits } from './moneyLimits.ts'
import { limitsOf } from './walletFile.ts'

const usual: MoneyLimits = { jobCostMax: null, multiplier: '1', wallet: limitsOf(), payouts: '10' }

test.each<[string, Partial<MoneyLimits>, string]>([
  ['unset, all that the wallet may buy', {}, '5'],
  ['unset, with a margin', { multiplier: '1.5' }, '7.5'],
  ['unset, below cost', { multiplier: '0.5' }, '2.5'],
  ['all that the wallet may buy', { jobCostMax: '5' }, '5'],
  ['less', { jobCostMax: '0.25' }, '0.25'],
  ['as much as is sent out in a day', { multiplier: '2' }, '10'],
  ['more than is sent out, where nothing is', { multiplier: '3', payouts: null }, '15'],
  ['unset, no more than is sent out in a day', { payouts: '4.99' }, '4.99'],
  ['without a wallet', { wallet: null }, '0'],
])('a job may cost: %s', (_, limits, costs) => {
  expect(jobCostMaxOf({ ...usual, ...limits })).toBe(costs)
})

test.each<[string, Partial<MoneyLimits>, setting: string, problem: RegExp]>([
  [
    'sold above bought',
    { jobCostMax: '5.000001' },
    'JOB_COST_MAX',
    /5\.000001 dollars are more .* for 5 dollars/,
  ],
  ['sold below cost', { jobCostMax: '5', multiplier: '0.5' }, 'JOB_COST_MAX', /^JOB_COST_MAX: 5 dollars/],
  [
    'a job above a day',
    { wallet: limitsOf({ job: '60' }) },
    'WALLET_FILE',
    /limits\.job: 60 dollars are more than limits\.day, 50/,
  ],
  [
    'a job above a payer’s share of a day',
    { wallet: limitsOf({ payer: '4' }) },
    'WALLET_FILE',
    /limits\.job: 5 dollars are more than limits\.payer, 4/,
  ],
  [
    'a refund above a day',
    { jobCostMax: '5', payouts: '4.99' },
    'ACCESS_FILE',
    /payments\.payouts\.dollarsPerDay: 4\.99 dollars are less .*, 5:/,
  ],
])('limits contradict each other: %s', (_, limits, setting, problem) => {
  const refusal = () => jobCostMaxOf({ ...usual, ...limits })
  expect(refusal).toThrow(SettingError)
  expect(refusal).toThrow(expect.objectContaining({ setting, message: expect.stringMatching(problem) }))
})

test.each([
  ['a quarter of the day', {}, 12_500_000n],
  ['no less than a job', { job: '20' }, 20_000_000n],
  ['as it is set', { payer: '50' }, 50_000_000n],
])('a payer’s share of the day: %s', (_, given, units) => {
  expect(limitsOf(given).payerUnits).toBe(units)
})
