/**
 * What the orchestrator does, each operation once: the doors `rest/` and `mcp/` read requests and
 * write answers, and nothing else.
 */
import type { ErrorCode } from '#http/errors.ts'
import type * as s from '#http/schema.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type DescribeRequest, describeService as describe } from './catalog/describe.ts'
import { descriptionSchema, presentDescription } from './catalog/description.ts'
import { type Feedback, feedbackResultSchema, takeFeedback } from './feedback/takeFeedback.ts'
import type { Plan } from './plan/plan.ts'
import type { Quotes } from './quote/Quotes.ts'
import { quoteSchema } from './quote/quoteResult.ts'
import { type KeepLiving, type SearchRequest, search } from './search/search.ts'
import { presentSearch, searchResultSchema } from './search/searchResult.ts'
import type { Liveness } from './verify/Liveness.ts'

/** What the program gives the operations. */
export interface OrchestratorServices {
  /** For reads. */
  readonly app: AppDatabase
  /** For what is written, which no search holds up. */
  readonly rows: AppDatabase
  /** Null where searches ask no seller. */
  readonly liveness: Liveness | null
  readonly quotes: Quotes
}

/** On whose behalf. */
export interface Call {
  /** Id of the caller, whose calls are counted. */
  readonly caller: string
  readonly signal: AbortSignal
}

export interface Operation<Request, Output extends s.TSchema> {
  readonly output: Output
  /** Beside those that any request may have. */
  readonly errors: readonly ErrorCode[]
  /** @throws ApiError */
  readonly run: (request: Request, services: OrchestratorServices, call: Call) => Promise<s.Static<Output>>
}

export const QUERY_CHARACTERS_MAX = 500
export const SEARCH_LIMIT_MAX = 20
export const SEARCH_LIMIT_DEFAULT = 8
export const SERVICE_FILTERS_MAX = 20

export const searchServices: Operation<SearchRequest, typeof searchResultSchema> = {
  output: searchResultSchema,
  errors: ['rate_limit_exceeded'],
  run: async (request, { app, liveness }, { caller, signal }) => {
    const keepLiving: KeepLiving | null = liveness && ((found) => liveness.keepLiving(found, caller, signal))
    return presentSearch(await search(app, request, keepLiving))
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
