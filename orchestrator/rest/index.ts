/** Every endpoint of the orchestration service. */
import type { Endpoint } from '#http/endpoint.ts'
import type { OrchestratorServices } from '../operations.ts'
import { cancelJobEndpoint } from './jobs/cancelJob.ts'
import { createJobEndpoint } from './jobs/createJob.ts'
import { payerJobsEndpoint, resumeEndpoint } from './jobs/payerJobs.ts'
import { retryJobEndpoint } from './jobs/retryJob.ts'
import { quoteEndpoint } from './quote.ts'
import { searchServicesEndpoint } from './searchServices.ts'
import { describeServiceEndpoint, listServicesEndpoint } from './services.ts'

export const orchestratorEndpoints: readonly Endpoint<OrchestratorServices>[] = [
  searchServicesEndpoint,
  describeServiceEndpoint,
  listServicesEndpoint,
  quoteEndpoint,
  createJobEndpoint,
  // Before GET, which would answer in its place.
  resumeEndpoint,
  payerJobsEndpoint,
  cancelJobEndpoint,
  retryJobEndpoint,
]
