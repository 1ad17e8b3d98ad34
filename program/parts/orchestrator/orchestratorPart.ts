/** The orchestrator, with the catalog's names of services that are paid. */
import type { McpServices } from '#orchestrator/mcp/mcpEndpoint.ts'
import type { AttributionNames } from '#present/memo.ts'
import type { Base, Part } from '../part.ts'
import { Attributions } from './attributions.ts'
import { openOrchestrator, type Selling } from './openOrchestrator.ts'
import { askThrough, chainTools } from './ownEndpoints.ts'

type OrchestratorServices = Omit<McpServices, 'reviews'> & { readonly attributionNames: AttributionNames }

export function openOrchestratorPart(base: Base, selling: Selling): Part<OrchestratorServices> {
  const { lists, runtime, log, server } = base
  const orchestrator = openOrchestrator(base, selling)
  const attributed = new Attributions(lists.attributions)
  const { app, priors } = orchestrator.services
  return {
    services: {
      ...orchestrator.services,
      chainTools,
      askOwn: askThrough(server),
      attributionNames: attributed.names,
    },
    run: ({ address, shutdown }) =>
      Promise.all([
        orchestrator.run(address, shutdown),
        attributed.follow(app, runtime.clock, log, shutdown),
        priors?.follow(app, runtime.clock, log, shutdown),
      ]),
    close: () => orchestrator.close(),
  }
}
