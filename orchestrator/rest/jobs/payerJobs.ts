/** HEAD and GET /v1/jobs: for the account that proves itself, by a charge of zero. */
import { rawEndpoint } from '#http/rawEndpoint.ts'
import * as s from '#http/schema.ts'
import { decimalText } from '#money/amounts.ts'
import {
  listDaysOfPayer,
  listJobsOfPayer,
  type PayerDay,
  type PayerJob,
  type PayerSpend,
  sumSpendOfPayer,
} from '#rows/jobs/payerJobs.ts'
import { agentRequests } from '../../allowance.ts'
import { JOBS_SCOPE } from '../../job/JobOrders.ts'
import { payoutSchema, presentPayout } from '../../job/publicOrder.ts'
import type { OrchestratorServices } from '../../operations.ts'
import { provePayer } from './provePayer.ts'

/** Jobs told at once. */
const JOBS_SHOWN = 100
/** A line for each day and service. */
const DAYS_SHOWN = 1_000

export const resumeEndpoint = rawEndpoint({
  method: 'HEAD',
  path: '/v1/jobs',
  summary: 'Resumes a payment session.',
  description:
    'Asks for a charge of zero (402), which proves an account; nothing is paid, and no job is made.',
  tag: 'Services',
  access: agentRequests,
  asks: { scope: JOBS_SCOPE, what: 'proof' },
  produces: { 'application/json': null },
  errors: ['payment_required'],
  answer: async ({ asking, caller }, services: OrchestratorServices) => {
    const proved = await provePayer(asking, caller, services)
    if (proved.kind === 'challenged') return proved
    return { kind: 'bytes', contentType: 'application/json; charset=utf-8', body: '' }
  },
})

const amounts = { charged: s.decimal, committed: s.optional(s.decimal) }

const payerJobsSchema = s.named('PayerJobs', {
  payer: s.text(),
  jobs: s.array(
    s.named('PayerJob', {
      jobId: s.text({ format: 'uuid' }),
      state: s.text(),
      idempotencyKey: s.text(),
      planHash: s.text(),
      currency: s.text(),
      ...amounts,
      transactionHash: s.optional(s.hash),
      refund: s.optional(payoutSchema),
      reward: s.optional(payoutSchema),
      createdAt: s.timestamp,
      endedAt: s.optional(s.timestamp),
    }),
  ),
  spend: s.array(s.named('PayerSpend', { chainId: s.integer(), token: s.text(), jobs: s.count, ...amounts })),
  days: s.array(
    s.named('PayerDay', {
      day: s.text({ description: 'UTC.', examples: ['2026-11-26'] }),
      serviceId: s.text(),
      calls: s.count,
      amount: s.decimal,
      currency: s.text(),
    }),
  ),
})

export const payerJobsEndpoint = rawEndpoint({
  method: 'GET',
  path: '/v1/jobs',
  summary: 'Jobs and spend of the account that asks.',
  description: `Asks for a charge of zero (402), which proves the account and moves no money. The newest ${JOBS_SHOWN} jobs, each with what paid for it, its refund and its reward; \`spend\` is of all; \`days\` has what sellers got, by day and service.`,
  tag: 'Services',
  access: agentRequests,
  asks: { scope: JOBS_SCOPE, what: 'proof' },
  produces: { 'application/json': payerJobsSchema },
  errors: ['payment_required'],
  answer: async ({ asking, caller }, services: OrchestratorServices) => {
    const proved = await provePayer(asking, caller, services)
    if (proved.kind === 'challenged') return proved
    const { app } = services
    const [jobs, spend, days] = await Promise.all([
      listJobsOfPayer(app, proved.payer, JOBS_SHOWN),
      sumSpendOfPayer(app, proved.payer),
      listDaysOfPayer(app, proved.payer, DAYS_SHOWN),
    ])
    const told = {
      payer: proved.payer,
      jobs: jobs.map(presentJob),
      spend: spend.map(presentSpend),
      days: days.map(presentDay),
    }
    return { kind: 'json', value: told, headers: { 'cache-control': 'private, no-store' } }
  },
})

const presentJob = ({
  chargedUnits,
  committedUnits,
  decimals,
  transactionHash,
  refund,
  reward,
  createdAt,
  endedAt,
  ...job
}: PayerJob) => ({
  ...job,
  ...(transactionHash && { transactionHash }),
  ...(refund && { refund: presentPayout(refund) }),
  ...(reward && { reward: presentPayout(reward) }),
  charged: decimalText(chargedUnits, decimals),
  ...(committedUnits !== null && { committed: decimalText(committedUnits, decimals) }),
  createdAt: s.isoSeconds(createdAt.getTime() / 1_000),
  ...(endedAt && { endedAt: s.isoSeconds(endedAt.getTime() / 1_000) }),
})

const presentDay = ({ units, decimals, ...day }: PayerDay) => ({
  ...day,
  amount: decimalText(units, decimals),
})

const presentSpend = ({ charged, committed, tokenDecimals, ...spend }: PayerSpend) => ({
  ...spend,
  charged: decimalText(charged, tokenDecimals),
  committed: decimalText(committed, tokenDecimals),
})
