/** Every endpoint of the orchestration service. */
import type { Endpoint } from '#api/http/endpoint.ts'
import { searchServicesEndpoint } from './searchServices.ts'
import { type CatalogServices, describeServiceEndpoint, listServicesEndpoint } from './services.ts'

/** What the program gives the endpoints. */
export interface OrchestratorServices extends CatalogServices {}

export const orchestratorEndpoints: readonly Endpoint<OrchestratorServices>[] = [
  searchServicesEndpoint,
  describeServiceEndpoint,
  listServicesEndpoint,
]
