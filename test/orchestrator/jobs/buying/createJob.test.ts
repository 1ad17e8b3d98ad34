// Goal: a payer's key makes one job of one plan, however often and however many at once ask for it.
// Method: a real database; a hundred at once, other plans, other payers, carried outputs.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createJob, type JobOrder } from '#orchestrator/job/createJob.ts'
import type { Plan } from '#orchestrator/plan/plan.ts'
import { findJobByKey } from '#rows/jobs/newJobs.ts'
import { openAppStore } from '../../../support/appStore.ts'

const { app } = await openAppStore()

const payer = `0x${'11'.repeat(20)}`
const echo = (message: string): Plan => ({
  nodes: [
    { id: 'a', serviceId: 'demo-moody', method: 'POST', path: '/echo', input: { message }, dependsOn: [] },
  ],
})

const order = (changes: Partial<JobOrder> = {}): JobOrder => ({
  jobId: randomUUID(),
  payer,
  idempotencyKey: 'the-first-key',
  plan: echo('hello'),
  quote: {
    currency: 'USDC',
    decimals: 6,
    costMultiplier: '1.05',
    totalAmountUnits: '1050',
    nodes: [{ nodeId: 'a', amountUnits: '1000' }],
  },
  charge: {
    paymentId: `pay_${randomUUID()}`,
    method: 'charge',
    chainId: 1337,
    token: `0x${'22'.repeat(20)}`,
    tokenDecimals: 6,
    amount: 1050n,
  },
  nowMs: Date.now(),
  ...changes,
})

const create = (changes?: Partial<JobOrder>) =>
  app.transaction().execute((transaction) => createJob(transaction, order(changes)))

test('a hundred at once with one key make one job', async () => {
  const made = await Promise.all(Array.from({ length: 100 }, () => create()))
  expect(new Set(made.map(({ jobId }) => jobId)).size).toBe(1)
  expect(made.filter(({ isNew }) => isNew)).toHaveLength(1)
  expect((await findJobByKey(app, payer, 'the-first-key'))?.jobId).toBe(made[0]?.jobId)
})

test('the key of another plan is refused, and another payer’s key is another key', async () => {
  await create({ idempotencyKey: 'second-key' })
  const other = echo('bye')
  await expect(create({ idempotencyKey: 'second-key', plan: other })).rejects.toMatchObject({
    code: 'idempotency_conflict',
  })
  const made = await create({ idempotencyKey: 'second-key', plan: other, payer: `0x${'33'.repeat(20)}` })
  expect(made.isNew).toBe(true)
})

test('outputs that are gone are not carried over, and nothing is left of the try', async () => {
  const first = await create({ idempotencyKey: 'third-key' })
  const carried = { jobId: first.jobId, nodeIds: ['a'] }
  await expect(create({ idempotencyKey: 'fourth-key', carried })).rejects.toMatchObject({
    code: 'job_results_removed',
  })
  expect(await findJobByKey(app, payer, 'fourth-key')).toBeNull()
})
