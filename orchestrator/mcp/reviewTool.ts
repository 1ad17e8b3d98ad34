/**
 * create_job_review: what is thought of a job is kept, and counts once its payer has proved himself by
 * a charge of zero: in `_meta`, or by the REST request that is handed over.
 */
import type { Challenged } from '#http/request/access.ts'
import * as s from '#http/schema.ts'
import { mppPaymentIn } from '#payments/methods/mpp.ts'
import { paymentRequired, requiredMeta } from '#payments/methods/mppOverMcp.ts'
import { type GivenReview, reviewSchema } from '../review/review.ts'
import { reviewResultSchema } from '../review/reviewResult.ts'
import { jobIdSchema } from './jobTools.ts'
import { payingHeaders, paymentRefused } from './paying.ts'
import { originOf, type Tool, ToolAnswer, type ToolCall, tool } from './tool.ts'

const handoffSchema = s.named('ReviewHandoff', {
  status: s.literal('proof_required'),
  nextAction: s.literal('run_rest_request'),
  maxSpend: s.literal('0'),
  rest: s.object({
    method: s.literal('POST'),
    url: s.text({ format: 'uri' }),
    body: reviewSchema,
  }),
})

const { jobId, reward } = reviewResultSchema.properties
const resultSchema = s.object({ jobId, reward, handoff: s.optional(handoffSchema) })
type Result = s.Static<typeof resultSchema>

const { rating, comment, tools } = reviewSchema.properties

export const reviewTool: Tool = tool({
  name: 'create_job_review',
  title: 'Review a job',
  description:
    'Stores what the user or you think of a job that is ready: a rating of 1 to 5, and one for each node. Free. A job has one review, and the same one again changes nothing; before the job is ready (reason job_not_ready) nothing is stored. It counts, and a reward may be queued for the account that paid for the job, where that account proves itself by a charge of zero, which moves no money, and every node that was called is rated: _meta has the challenge, and handoff is the REST request that a paying client sends. Without a proof it is kept as unproved. Say what happened; never put secrets or personal data into it.',
  input: s.object({ job_id: jobIdSchema, rating, comment, tools }),
  output: resultSchema,
  isOpenWorld: false,
  changes: 'keeps',
  run: async ({ job_id: given, ...review }, call) => {
    const id = given.toLowerCase()
    const { services, caller } = call
    const headers = payingHeaders(call)
    const isProving = mppPaymentIn(headers) !== null
    const asked: Challenged[] = []
    const taken = await services.reviews.take(id, review, 'arguments', async (request) => {
      const proved = (await services.jobs?.proofs.prove(headers, request, caller)) ?? null
      if (proved?.kind !== 'challenged' || isProving) return proved
      asked.push(proved)
      return null
    })
    if (taken.kind === 'challenged')
      throw paymentRefused(taken, 'The proof was not accepted. Answer one of these challenges.')
    const result: Result = { jobId: id, reward: taken.reward }
    const [challenged] = asked
    if (!challenged || taken.isProved) return result
    const handoff = handoffOf(id, review, call)
    return new ToolAnswer({ ...result, handoff } satisfies Result, requiredMeta(paymentRequired(challenged)))
  },
})

const handoffOf = (jobId: string, review: GivenReview, call: ToolCall): s.Static<typeof handoffSchema> => ({
  ...{ status: 'proof_required', nextAction: 'run_rest_request', maxSpend: '0' },
  rest: { method: 'POST', url: `${originOf(call)}/v1/jobs/${jobId}/feedback`, body: review },
})
