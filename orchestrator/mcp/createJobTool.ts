/**
 * create_job: a plan is bought. Without a payment it hands over the request that buys it; a payment
 * comes in `_meta` or in Authorization, and one that is refused is answered by a challenge.
 */
import type { ProtocolError } from '@modelcontextprotocol/server'
import type { Challenged } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import {
  isPaying,
  paymentRequired,
  receiptIn,
  receiptMeta,
  requiredMeta,
} from '#payments/methods/mppOverMcp.ts'
import type { PaymentDemand } from '../job/JobOrders.ts'
import { idempotencyKeySchema, type JobRequest, jobRequestOf, spendLimits } from '../job/readJobRequest.ts'
import { orderJob } from '../operations.ts'
import { planRequestSchema, planSchema } from '../plan/plan.ts'
import { payingHeaders, paymentRefused } from './paying.ts'
import { planReader } from './planIn.ts'
import { originOf, type Tool, ToolAnswer, type ToolCall } from './tool.ts'

const besidePlan = s.object({ idempotency_key: idempotencyKeySchema, ...spendLimits })
const readOrdered = planReader(besidePlan)

const handoffSchema = s.named('JobHandoff', {
  status: s.literal('payment_required'),
  nextAction: s.literal('run_rest_request'),
  maxSpend: s.text({ description: 'The price, in the currency of the quote.', examples: ['0.0631'] }),
  rest: s.object({
    method: s.literal('POST'),
    url: s.text({ format: 'uri' }),
    body: s.object({ idempotencyKey: s.text(), plan: planRequestSchema }),
  }),
  client: s.object(
    { executable: s.text(), arguments: s.array(s.text()) },
    {
      description: 'The same as a command, which pays the price at most; its account is in MPPX_PRIVATE_KEY.',
    },
  ),
})

const resultSchema = s.object({
  job: s.optional(
    s.openObject(
      { jobId: s.text({ format: 'uuid' }), ready: s.boolean() },
      { description: 'In the result of a task that has ended: the job as get_job tells it.' },
    ),
  ),
  handoff: s.optional(handoffSchema),
  receipt: s.optional(s.foreign('What a payment session was topped up or closed by: nothing was bought.')),
})
type Result = s.Static<typeof resultSchema>

export const createJobTool: Tool = {
  name: 'create_job',
  title: 'Buy a plan',
  description:
    'Buys a plan: its calls are made, and paid, for the user. It costs money: call it once, with the plan that quote_plan priced, unchanged, after the user has accepted its totalAmount. Keep the idempotency key whenever you repeat the call, whatever happened before: the same key and plan are one job and are paid once; another key buys again. max_spend is a bound that is never exceeded. Without a payment nothing is bought: the answer is a handoff, which is the REST request that a paying client sends, and _meta has the challenges. Never ask for a private key, never show one, and never pass one on. With a job id in the answer go on with get_job.',
  input: s.object({ ...besidePlan.properties, plan: planSchema }),
  output: resultSchema,
  isOpenWorld: true,
  changes: 'pays',
  run: async (input, call) => {
    const { caller, signal, services } = call
    const headers = payingHeaders(call)
    // Before the plan is read: nothing is bought.
    const managed = await services.jobs?.orders.manage({ headers, caller })
    if (managed?.kind === 'challenged') throw refusal(managed)
    if (managed) {
      const receipt = receiptIn(managed.headers, headers)
      return new ToolAnswer({ ...(receipt && { receipt }) } satisfies Result, receiptMeta(receipt))
    }
    const request = requestIn(input)
    const ordered = await orderJob(request, services, { headers, caller, signal })
    if (ordered.kind === 'ordered') {
      const job = { jobId: ordered.jobId, ready: ordered.ready }
      const beside = receiptMeta(receiptIn(ordered.headers, headers))
      return new ToolAnswer({ job } satisfies Result, beside, ordered.jobId)
    }
    if (isPaying(headers)) throw refusal(ordered)
    const handoff = handoffOf(request, ordered, call)
    return new ToolAnswer({ handoff } satisfies Result, requiredMeta(paymentRequired(ordered)))
  },
}

/** @throws ApiError body_invalid, plan_invalid */
function requestIn(input: unknown): JobRequest {
  const { plan, beside } = readOrdered(input)
  const { idempotency_key: idempotencyKey, ...limits } = beside
  return jobRequestOf(plan, { idempotencyKey, ...limits })
}

const refusal = (challenged: Challenged): ProtocolError =>
  paymentRefused(
    challenged,
    'The payment was not accepted. Pay one of these challenges, with the same idempotency key.',
  )

const handoffOf = (
  { idempotencyKey, plan }: JobRequest,
  { total }: PaymentDemand,
  call: ToolCall,
): s.Static<typeof handoffSchema> => {
  const url = `${originOf(call)}/v1/jobs`
  const capped = JSON.stringify({ idempotencyKey, max_spend: total, plan })
  return {
    status: 'payment_required',
    nextAction: 'run_rest_request',
    maxSpend: total,
    rest: { method: 'POST', url, body: { idempotencyKey, plan } },
    client: { executable: 'npx', arguments: ['mppx', url, '--json-body', capped] },
  }
}
