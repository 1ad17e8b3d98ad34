// Goal: a page says of each state of a job what is true of it: words, stages, sums, transactions.
// Method: jobs as the API answers them.
import { expect, test } from 'vitest'
import type { Job, JobReceipt, JobRun } from './job.ts'
import {
  attemptText,
  bytesText,
  figuresOf,
  problemOf,
  runWord,
  stagesOf,
  stateOf,
  stateWord,
  tookText,
  transactionsOf,
} from './jobView.ts'
import { isOpen } from './watchJob.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const base = { serviceId: 'demo', method: 'POST', path: '/', carried: false, quoted: '0.02' }
const paid = { amount: '0.01', fee: '0.001', chainId: 1337, transactionHash: hash('a') }
const run = (nodeId: string, more: Partial<JobRun> = {}): JobRun => ({
  ...{ ...base, nodeId, state: 'succeeded', dependsOn: [] },
  attempts: [{ attempt: 1, outcome: 'answered', status: 200, durationMs: 1_234, paid }],
  ...more,
})
const order = {
  ...{ planHash: 'f'.repeat(64), charged: '0.05', currency: 'USDC', state: 'running' },
  createdAt: '2026-01-31T12:00:00Z',
}
const running: Job = { jobId: 'x', ready: false, order, runs: [run('a'), run('b', { dependsOn: ['a'] })] }
const ended: Job = {
  ...{ ...running, ready: true, usage: { committed: '0.023', currency: 'USDC' } },
  order: {
    ...{ ...order, state: 'partially_succeeded', endedAt: '2026-01-31T12:00:42Z' },
    refund: { status: 'paid', amount: '0.027', transactionHash: hash('c') },
  },
}
const receipt = (finality: 'pending' | 'confirmed' | 'reversed'): JobReceipt => ({
  job: { payer: hash('e') },
  settlement: { protocol: 'tempo/charge', chainId: 1337, transactionHash: hash('b'), finality },
})
const valuesOf = (job: Job, of: JobReceipt | null = null) =>
  Object.fromEntries(figuresOf(job, of).map(({ name, value, meaning }) => [name, [value, meaning]]))

test('an order whose payment has not settled is no job yet', () => {
  const pending: Job = { jobId: 'x', ready: false }
  expect([stateOf(pending), stateWord(stateOf(pending)), tookText(pending)]).toEqual([
    'ordered',
    { text: 'payment pending', tone: 'busy' },
    null,
  ])
  expect([figuresOf(pending, null), transactionsOf(pending, null)]).toEqual([[], []])
})

test('while it runs, what was paid is summed exactly, and nothing is said of a refund', () => {
  expect(valuesOf(running)).toEqual({
    Charged: ['0.05 USDC', 'what the plan was quoted at'],
    Spent: ['0.02 USDC', 'paid to services so far'],
    'Fees of chains': ['0.002 USDC', 'part of what is spent'],
    'Paid back': ['0 USDC', 'known at the end: what was not spent'],
  })
  const { fee: _, ...unknown } = paid
  const job = { ...running, runs: [run('a', { attempts: [{ attempt: 1, paid: unknown }] })] }
  expect(valuesOf(job)['Fees of chains']).toEqual(['0 USDC', 'of 1 of 1 calls not known yet'])
})

test('at the end, spent, refund and each transaction are told', () => {
  expect(valuesOf(ended, receipt('confirmed'))).toMatchObject({
    Charged: ['0.05 USDC', 'settled in a final block'],
    Spent: ['0.023 USDC', 'calls with the margin of the quote, and fees'],
    'Paid back': ['0.027 USDC', 'in a final block'],
  })
  expect(transactionsOf(ended, receipt('confirmed'))).toEqual([
    { what: 'your payment (tempo/charge)', amount: '0.05 USDC', chainId: 1337, hash: hash('b') },
    { what: 'call of a', amount: '0.01 USDC', chainId: 1337, hash: hash('a') },
    { what: 'call of b', amount: '0.01 USDC', chainId: 1337, hash: hash('a') },
    { what: 'refund', amount: '0.027 USDC', chainId: 1337, hash: hash('c') },
  ])
  expect(valuesOf(ended, receipt('reversed'))['Paid back']?.[1]).toBe('the chain took the payment back')
  expect(tookText(ended)).toBe('42.0 s')
})

test('a job is looked at on while the chain has not told all of it', () => {
  expect(isOpen(ended, receipt('confirmed'))).toBe(false)
  expect(isOpen(ended, receipt('pending'))).toBe(true)
  expect(isOpen(ended, null)).toBe(true)
  const { transactionHash: _, ...untold } = paid
  const waits = { ...ended, runs: [run('a', { attempts: [{ attempt: 1, paid: untold }] })] }
  expect(isOpen(waits, receipt('confirmed'))).toBe(true)
})

test('calls stand in their stages, and in one list once the plan is removed', () => {
  const ids = (runs: readonly JobRun[]) => stagesOf(runs).map((stage) => stage.map(({ nodeId }) => nodeId))
  const [a, b, c] = [run('a'), run('b', { dependsOn: ['a'] }), run('c')]
  expect(ids([b, a, c])).toEqual([['a', 'c'], ['b']])
  const removed = [a, b, c].map(({ dependsOn: _, ...rest }) => rest)
  expect(ids(removed)).toEqual([['a', 'b', 'c']])
  expect(ids([])).toEqual([])
})

test('attempts, errors and states are said in words', () => {
  expect(attemptText({ attempt: 1 })).toBe('Attempt 1: under way')
  expect(attemptText({ attempt: 2, outcome: 'answered', status: 200, durationMs: 1_234 })).toBe(
    'Attempt 2: answered 200 in 1.2 s',
  )
  expect(attemptText({ attempt: 1, outcome: 'paid_not_delivered', status: 500, code: 'seller_failed' })).toBe(
    'Attempt 1: paid not delivered (seller_failed)',
  )
  const error = { code: 'seller_failed', message: 'It failed.', remedy: 'retry' as const }
  expect([problemOf({ error }), problemOf({})]).toEqual(['It failed. The same may work later.', null])
  expect([
    runWord(run('a')).text,
    runWord(run('a', { carried: true })).text,
    stateWord('new_state').text,
  ]).toEqual(['succeeded', 'carried over', 'new state'])
  expect([12, 2_150, 4_194_304].map(bytesText)).toEqual(['12 bytes', '2.1 KiB', '4.0 MiB'])
})
