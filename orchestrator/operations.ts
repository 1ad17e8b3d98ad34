/**
 * The orchestrator's operations, each once: the doors `rest/` and `mcp/` read requests and write answers,
 * and nothing else.
 */
import { ApiError, type ErrorCode } from '#http/errors.ts'
import type * as s from '#http/schema.ts'
import type { PayerProofs } from '#payments/PayerProofs.ts'
import type { AppDatabase } from '#rows/database.ts'
import { findOrderer } from '#rows/jobs/orders.ts'
import { readJob, requestCancel } from '#rows/jobs/reads.ts'
import { type DescribeRequest, describeService as describe } from './catalog/description/describe.ts'
import { descriptionSchema, presentDescription } from './catalog/description/description.ts'
import { type Feedback, feedbackResultSchema, takeFeedback } from './feedback/takeFeedback.ts'
import type { JobOrders, Ordered, Ordering, PaymentDemand } from './job/JobOrders.ts'
import type { JobRequest } from './job/readJobRequest.ts'
import type { Plan } from './plan/plan.ts'
import type { Quotes } from './quote/Quotes.ts'
import { quoteSchema } from './quote/quoteResult.ts'
import type { QualityPriors } from './search/QualityPriors.ts'
import { type KeepLiving, type SearchRequest, search } from './search/search.ts'
import { presentSearch, searchResultSchema } from './search/searchResult.ts'
import type { Liveness } from './verify/Liveness.ts'

/** Services that the program gives the operations. */
export interface OrchestratorServices {
  /** For reads. */
  readonly app: AppDatabase
  /** For what is written, which no search holds up. */
  readonly rows: AppDatabase
  /** Null where searches ask no seller. */
  readonly liveness: Liveness | null
  /** Null where searches do not count how calls went. */
  readonly priors: QualityPriors | null
  readonly quotes: Quotes
  /** Null where jobs are not sold. */
  readonly jobs: JobDoor | null
}

/** How jobs are bought. */
export interface JobDoor {
  readonly orders: JobOrders
  readonly proofs: PayerProofs
}

/** @throws ApiError payment_required where jobs are not sold */
export function doorOf(jobs: JobDoor | null): JobDoor {
  if (!jobs) throw new ApiError('payment_required', 'Jobs are not sold here.')
  return jobs
}

/** On whose behalf. */
export interface CallContext {
  /** Id of the caller, whose calls are counted. */
  readonly caller: string
  readonly signal: AbortSignal
}

export interface Operation<Request, Output extends s.TSchema> {
  readonly output: Output
  /** Beside those that any request may have. */
  readonly errors: readonly ErrorCode[]
  /** @throws ApiError */
  readonly run: (
    request: Request,
    services: OrchestratorServices,
    call: CallContext,
  ) => Promise<s.Static<Output>>
}

export const QUERY_CHARACTERS_MAX = 500
export const SEARCH_LIMIT_MAX = 20
export const SEARCH_LIMIT_DEFAULT = 8
export const SERVICE_FILTERS_MAX = 20

export const searchServices: Operation<SearchRequest, typeof searchResultSchema> = {
  output: searchResultSchema,
  errors: ['rate_limit_exceeded'],
  run: async (request, { app, liveness, priors }, { caller, signal }) => {
    const keepLiving: KeepLiving | null = liveness && ((found) => liveness.keepLiving(found, caller, signal))
    return presentSearch(await search(app, request, keepLiving, priors))
  },
}

export const describeService: Operation<DescribeRequest, typeof descriptionSchema> = {
  output: descriptionSchema,
  errors: ['service_not_found', 'rate_limit_exceeded'],
  run: async (request, { app }) => presentDescription(await describe(app, request)),
}

export const quotePlan: Operation<Plan, typeof quoteSchema> = {
  output: quoteSchema,
  errors: ['plan_invalid', 'quote_unavailable', 'rate_limit_exceeded'],
  run: (plan, { quotes }, { caller, signal }) => quotes.quote(plan, caller, signal),
}

export const sendFeedback: Operation<Feedback, typeof feedbackResultSchema> = {
  output: feedbackResultSchema,
  errors: ['body_invalid', 'rate_limit_exceeded'],
  run: (feedback, { rows }, { caller }) => takeFeedback(rows, caller, feedback),
}

export const orderJobErrors = [
  'plan_invalid',
  'quote_unavailable',
  'wallet_unavailable',
  'idempotency_conflict',
  'spend_limit_exceeded',
  'payment_used',
  'settlement_pending',
  'payment_required',
  'rate_limit_exceeded',
] as const satisfies readonly ErrorCode[]

/** A job that was ordered now or before; `ready` where it has ended, so that its results can be read. */
export interface OrderedJob extends Ordered {
  readonly ready: boolean
}

/** @throws ApiError of those */
export async function orderJob(
  request: JobRequest,
  { jobs, rows }: Pick<OrchestratorServices, 'jobs' | 'rows'>,
  ordering: Ordering,
): Promise<OrderedJob | PaymentDemand> {
  const ordered = await doorOf(jobs).orders.order(request, ordering)
  if (ordered.kind === 'challenged') return ordered
  // A job whose payment has not settled yet has no row.
  const endedAt = (await readJob(rows, ordered.jobId))?.endedAt ?? null
  return { ...ordered, ready: endedAt !== null }
}

export const cancelJobErrors = [
  'forbidden',
  'job_not_found',
  'settlement_pending',
] as const satisfies readonly ErrorCode[]

/**
 * Begins nothing more of a job; `ready` where it had ended, and stays as it is.
 * @param payer the account that asks, as it was proved
 * @throws ApiError of those
 */
export async function cancelJob(
  jobId: string,
  payer: `0x${string}`,
  { rows }: Pick<OrchestratorServices, 'rows'>,
): Promise<{ readonly ready: boolean }> {
  // The order first: whoever finds it gone finds its job.
  const orderer = await findOrderer(rows, jobId)
  const job = await readJob(rows, jobId)
  const buyer = job?.payer ?? orderer
  if (buyer === null) throw new ApiError('job_not_found')
  if (buyer !== payer) throw new ApiError('forbidden', 'Another account bought this job.')
  if (!job) throw notSettledYet()
  await requestCancel(rows, jobId)
  return { ready: job.endedAt !== null }
}

/** A job that does not run yet cannot be ended, and nobody knows whether it will. */
const notSettledYet = (): ApiError =>
  new ApiError(
    'settlement_pending',
    'The payment of this job has not settled yet. Cancel it again in some seconds.',
    {
      headers: { 'retry-after': '5' },
    },
  )
