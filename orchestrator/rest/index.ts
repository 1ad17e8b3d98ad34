/** Every endpoint of the orchestration service. */
import type { Endpoint } from '#api/http/endpoint.ts'
import { type QuoteServices, quoteEndpoint } from './quote.ts'
import { type SearchServices, searchServicesEndpoint } from './searchServices.ts'
import { describeServiceEndpoint, listServicesEndpoint } from './services.ts'

/** What the program gives the endpoints. */
export interface OrchestratorServices extends SearchServices, QuoteServices {}

export const orchestratorEndpoints: readonly Endpoint<OrchestratorServices>[] = [
  searchServicesEndpoint,
  describeServiceEndpoint,
  listServicesEndpoint,
  quoteEndpoint,
]
