/** POST /v1/quote. */
import { command } from '#http/endpoint.ts'
import { agentRequests, unitsOf } from '../allowance.ts'
import { type OrchestratorServices, quotePlan } from '../operations.ts'
import { PLAN_BYTES_MAX, planRequestSchema } from '../plan/plan.ts'
import { readExactJson, readPlan } from '../plan/readPlan.ts'

export const quoteEndpoint = command({
  method: 'POST',
  path: '/v1/quote',
  summary: 'The live price of a plan.',
  description:
    'Free: sellers are asked without paying, and nothing is begun. The same plan gets the same quote until `validUntil`.',
  tag: 'Services',
  access: agentRequests,
  body: planRequestSchema,
  bodyBytesMax: PLAN_BYTES_MAX,
  readBody: (text) => ({ plan: readPlan(readExactJson(text)), characters: text.length }),
  errors: quotePlan.errors,
  response: quotePlan.output,
  units: ({ characters }) => unitsOf(characters),
  run: ({ body: { plan }, caller, signal }, services: OrchestratorServices) =>
    quotePlan.run(plan, services, { caller: caller.id, signal }),
  present: (quote) => quote,
})
