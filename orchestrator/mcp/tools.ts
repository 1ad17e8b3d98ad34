/** The orchestrator's operations as tools of agents, in the order in which they are used. */
import { ApiError } from '#http/errors.ts'
import { bodyInvalid } from '#http/request/json.ts'
import * as s from '#http/schema.ts'
import { membersOf, shorten } from '#primitives.ts'
import { feedbackKinds } from '#rows/feedback/productFeedback.ts'
import { methodSchema, PATH_CHARACTERS_MAX, serviceIdSchema } from '../catalog/service.ts'
import { MESSAGE_CHARACTERS_MAX } from '../feedback/takeFeedback.ts'
import {
  describeService,
  QUERY_CHARACTERS_MAX,
  quotePlan,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_LIMIT_MAX,
  SERVICE_FILTERS_MAX,
  searchServices,
  sendFeedback,
} from '../operations.ts'
import { planSchema } from '../plan/plan.ts'
import { askChain, type ChainTool, inputOf, outputOf } from './chainTools.ts'
import { createJobTool } from './createJobTool.ts'
import { getJobTool, getReviewTool } from './jobTools.ts'
import { planReader } from './planIn.ts'
import { reviewTool } from './reviewTool.ts'
import { type Tool, tool } from './tool.ts'

/** A service with more endpoints is described one endpoint at a time. */
const ENDPOINTS_WHOLE_MAX = 40
/** Endpoints listed to choose from. */
const CHOICES_MAX = 500

const searchTool = tool({
  name: 'search_services',
  title: 'Search services',
  description:
    'Finds endpoints of paid API services by intent. Free and read-only. Call it before describe_service or quote_plan. With no match on an unconstrained or preferred search, retry once with a broader intent; never drop a required service constraint.',
  input: s.object({
    query: s.text({ maxLength: QUERY_CHARACTERS_MAX, default: '', description: 'The intent, in words.' }),
    limit: s.optional(s.integer({ minimum: 1, maximum: SEARCH_LIMIT_MAX, default: SEARCH_LIMIT_DEFAULT })),
    resolution: s.optional(s.oneOf(['static', 'live'] as const, { default: 'static' })),
    service_ids: s.optional(s.array(serviceIdSchema, { minItems: 1, maxItems: SERVICE_FILTERS_MAX })),
    service_mode: s.optional(s.oneOf(['prefer', 'require'] as const)),
  }),
  output: searchServices.output,
  isOpenWorld: true,
  run: async (asked, call) => {
    const { query, limit = SEARCH_LIMIT_DEFAULT, resolution = 'static' } = asked
    const { service_ids: ids, service_mode: mode } = asked
    if (mode !== undefined && ids === undefined)
      throw bodyInvalid([{ path: ['arguments', 'service_mode'], message: 'needs `service_ids`' }])
    const filter = { serviceIds: ids ?? null, serviceMode: mode ?? null, withEvidence: false }
    return searchServices.run({ query, limit, resolution, ...filter }, call.services, call)
  },
})

const describeTool = tool({
  name: 'describe_service',
  title: 'Describe a service',
  description: `Tells how a service, or one endpoint of it, is called: input schema, example, prices. Free and read-only. Give method and path together to select one endpoint; a service with more than ${ENDPOINTS_WHOLE_MAX} endpoints demands it.`,
  input: s.object({
    service_id: serviceIdSchema,
    method: s.optional(methodSchema),
    path: s.optional(
      s.text({ maxLength: PATH_CHARACTERS_MAX, description: 'Template, as search tells it.' }),
    ),
  }),
  output: describeService.output,
  isOpenWorld: true,
  run: async ({ service_id: serviceId, method, path }, call) => {
    if ((method === undefined) !== (path === undefined))
      throw bodyInvalid([
        method === undefined
          ? { path: ['arguments', 'method'], message: 'is required beside `path`' }
          : { path: ['arguments', 'path'], message: 'is required beside `method`' },
      ])
    const description = await describeService.run({ serviceId, method, path }, call.services, call)
    const { scope, service } = description
    if (scope === 'service' && service.endpoints.length > ENDPOINTS_WHOLE_MAX)
      throw new ApiError(
        'parameter_conflict',
        `${serviceId} has ${service.endpoints.length} endpoints: give method and path of one of them.`,
        {
          details: service.endpoints.slice(0, CHOICES_MAX).map((endpoint) => ({
            path: ['arguments'],
            message: `${endpoint.method} ${endpoint.path}: ${shorten(endpoint.description)}`,
          })),
        },
      )
    return description
  },
})

const readQuoted = planReader(s.object({}))

const quoteTool: Tool = {
  name: 'quote_plan',
  title: 'Quote a plan',
  description:
    'Validates a plan and prices every node live. Free and read-only: sellers are asked without paying, and no job is created. A text `flow://<nodeId>/output#/pointer` in an input stands for a value of another node, which dependsOn must name.',
  input: s.object({ plan: planSchema }),
  output: quotePlan.output,
  isOpenWorld: true,
  run: async (input, call) => quotePlan.run(readQuoted(input).plan, call.services, call),
}

const feedbackTool = tool({
  name: 'send_product_feedback',
  title: 'Send feedback on this service',
  description:
    "Tells the operator of this service what the user thinks of it. Call it only when the user explicitly asks for it, with the user's own words. Never put into it secrets, credentials, payment material, receipts, personal data such as e-mail addresses and phone numbers, job ids, or inputs and outputs of tools: such a message is refused, and what was found is named.",
  input: s.object({
    kind: s.oneOf(feedbackKinds),
    message: s.text({ minLength: 1, maxLength: MESSAGE_CHARACTERS_MAX }),
  }),
  output: sendFeedback.output,
  isOpenWorld: false,
  changes: 'adds',
  run: (feedback, call) => sendFeedback.run(feedback, call.services, call),
})

/** A tool that answers from this server's own chain data. */
export function chainTool(definition: ChainTool): Tool {
  const { name, title, description } = definition
  return tool({
    ...{ name, title, description },
    input: inputOf(definition),
    output: outputOf(definition),
    isOpenWorld: false,
    run: (input, { asking, signal, services: { askOwn } }) =>
      askChain(definition, membersOf(input), { asking, signal, askOwn }),
  })
}

/** In the order in which they are listed and used. */
export const tools: readonly Tool[] = [
  searchTool,
  describeTool,
  quoteTool,
  createJobTool,
  getJobTool,
  reviewTool,
  getReviewTool,
  feedbackTool,
]
