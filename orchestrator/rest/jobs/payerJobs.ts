/** HEAD and GET /v1/jobs: for the account that proves itself, by a charge of zero. */
import { ApiError } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import type { AccessRequest } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import type { Proved } from '#payments/PayerProofs.ts'
import { listJobsOfPayer, type PayerJob, type PayerSpend, sumSpendOfPayer } from '#rows/jobs/payerJobs.ts'
import { agentRequests } from '../../allowance.ts'
import { JOBS_SCOPE } from '../../job/JobOrders.ts'
import type { OrchestratorServices } from '../../operations.ts'
import { decimalText } from '../../pay/currencies.ts'

/** Jobs told at once. */
const JOBS_SHOWN = 100

/**
 * Which account asks for this very request, or the challenge that it is answered with.
 * @throws ApiError payment_required where nothing is sold
 */
function provePayer(
  { method, url, headers, body }: AccessRequest,
  { jobs }: Pick<OrchestratorServices, 'jobs'>,
): Promise<Proved> {
  if (!jobs) throw new ApiError('payment_required', 'Jobs are not sold here.')
  return jobs.proofs.prove(headers, { method, url, body })
}

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
  answer: async ({ asking }, services: OrchestratorServices) => {
    const proved = await provePayer(asking, services)
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
      createdAt: s.timestamp,
      endedAt: s.optional(s.timestamp),
    }),
  ),
  spend: s.array(s.named('PayerSpend', { chainId: s.integer(), token: s.text(), jobs: s.count, ...amounts })),
})

export const payerJobsEndpoint = rawEndpoint({
  method: 'GET',
  path: '/v1/jobs',
  summary: 'Jobs and spend of the account that asks.',
  description: `Asks for a charge of zero (402), which proves the account and moves no money. The newest ${JOBS_SHOWN} jobs; spend is of all.`,
  tag: 'Services',
  access: agentRequests,
  asks: { scope: JOBS_SCOPE, what: 'proof' },
  produces: { 'application/json': payerJobsSchema },
  errors: ['payment_required'],
  answer: async ({ asking }, services: OrchestratorServices) => {
    const proved = await provePayer(asking, services)
    if (proved.kind === 'challenged') return proved
    const { app } = services
    const [jobs, spend] = await Promise.all([
      listJobsOfPayer(app, proved.payer, JOBS_SHOWN),
      sumSpendOfPayer(app, proved.payer),
    ])
    const told: s.Static<typeof payerJobsSchema> = {
      payer: proved.payer,
      jobs: jobs.map(presentJob),
      spend: spend.map(presentSpend),
    }
    return {
      kind: 'bytes',
      contentType: 'application/json; charset=utf-8',
      headers: { 'cache-control': 'private, no-store' },
      body: JSON.stringify(told),
    }
  },
})

const presentJob = ({ chargedUnits, committedUnits, decimals, createdAt, endedAt, ...job }: PayerJob) => ({
  ...job,
  charged: decimalText(chargedUnits, decimals),
  ...(committedUnits !== null && { committed: decimalText(committedUnits, decimals) }),
  createdAt: s.isoSeconds(createdAt.getTime() / 1_000),
  ...(endedAt && { endedAt: s.isoSeconds(endedAt.getTime() / 1_000) }),
})

const presentSpend = ({ charged, committed, tokenDecimals, ...spend }: PayerSpend) => ({
  ...spend,
  charged: decimalText(charged, tokenDecimals),
  committed: decimalText(committed, tokenDecimals),
})
