/** POST /v1/jobs: a plan is bought, once for each key of its payer. */
import type { IncomingHttpHeaders } from 'node:http'
import type { RawAnswer, ValueAnswer } from '#http/answer/answer.ts'
import { ApiError } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import * as s from '#http/schema.ts'
import { agentRequests, unitsOf } from '../../allowance.ts'
import { JOBS_SCOPE, type PaymentDemand } from '../../job/JobOrders.ts'
import { jobRequestSchema, readJobRequest } from '../../job/readJobRequest.ts'
import { type OrchestratorServices, type OrderedJob, orderJob, orderJobErrors } from '../../operations.ts'
import { ofMember } from '../../plan/checkPlan.ts'
import { PLAN_BYTES_MAX } from '../../plan/plan.ts'
import { readExactJson } from '../../plan/readPlan.ts'

/** A plan, and what is beside it. */
const BODY_BYTES_MAX = PLAN_BYTES_MAX + 4 * 1_024

export const orderedJobSchema = s.named('OrderedJob', {
  jobId: s.text({ format: 'uuid' }),
  ready: s.boolean({ description: 'It has ended: its results can be read.' }),
})

export const createJobEndpoint = rawEndpoint({
  method: 'POST',
  path: '/v1/jobs',
  summary: 'Buys a plan: its calls are made, and paid, for you.',
  description:
    'Without a payment: 402 with the price of the plan, which is what is charged. The same payer, `idempotencyKey` and plan get the same job and pay once. A payment whose outcome is not known yet is answered with the job that it will make, without a receipt: repeat the request with the same payment. Anything that was not spent is paid back.',
  tag: 'Services',
  access: agentRequests,
  asks: { scope: JOBS_SCOPE, what: 'price' },
  body: jobRequestSchema,
  bodyBytesMax: BODY_BYTES_MAX,
  readBody: (text) => ({ request: readJobRequest(readExactJson(text)), characters: text.length }),
  units: ({ body: { characters } }) => unitsOf(characters),
  produces: { 'application/json': orderedJobSchema },
  errors: orderJobErrors,
  answer: async ({ body: { request }, headers, caller, signal }, services: OrchestratorServices) => {
    assertSameKey(headers, request.idempotencyKey)
    const ordering = { headers, caller: caller.id, signal }
    const ordered = await orderJob(request, services, ordering).catch((error: unknown) => {
      throw ofMember(error)
    })
    return orderedAnswer(ordered)
  },
})

export function orderedAnswer(
  ordered: OrderedJob | PaymentDemand,
): RawAnswer | ValueAnswer<s.Static<typeof orderedJobSchema>> {
  if (ordered.kind === 'challenged') return ordered
  const { jobId, ready, headers } = ordered
  return { kind: 'json', value: { jobId, ready }, headers }
}

/** @throws ApiError request_invalid */
export function assertSameKey(
  { 'idempotency-key': given }: IncomingHttpHeaders,
  idempotencyKey: string,
): void {
  if (given !== undefined && given !== idempotencyKey)
    throw new ApiError(
      'request_invalid',
      'The header Idempotency-Key is not the idempotencyKey of the body.',
      {
        details: [{ path: ['header', 'idempotency-key'], message: 'differs from body.idempotencyKey' }],
      },
    )
}
