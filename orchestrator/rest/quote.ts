/** POST /v1/quote. */
import { recognised } from '#api/http/access.ts'
import { command } from '#api/http/endpoint.ts'
import { PLAN_BYTES_MAX, planRequestSchema } from '../plan/plan.ts'
import { readExactJson, readPlan } from '../plan/readPlan.ts'
import type { Quotes } from '../quote/Quotes.ts'
import { quoteSchema } from '../quote/quoteResult.ts'

/** What a quote is made with. */
export interface QuoteServices {
  readonly quotes: Quotes
}

export const quoteEndpoint = command({
  method: 'POST',
  path: '/v1/quote',
  summary: 'The live price of a plan.',
  description:
    'Free: sellers are asked without paying, and nothing is begun. The same plan gets the same quote until `validUntil`.',
  tag: 'Services',
  access: recognised,
  body: planRequestSchema,
  bodyBytesMax: PLAN_BYTES_MAX,
  readBody: (text) => readPlan(readExactJson(text)),
  errors: ['plan_invalid', 'quote_unavailable', 'rate_limit_exceeded'],
  response: quoteSchema,
  run: ({ body, caller, signal }, { quotes }: QuoteServices) => quotes.quote(body, caller.id, signal),
  present: (quote) => quote,
})
