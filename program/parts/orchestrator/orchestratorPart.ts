/** The orchestrator, with the catalog's names of services that are paid. */
import { mcpEndpoint } from '#orchestrator/mcp/mcpEndpoint.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import type { JobsPart } from '../jobs/jobsPart.ts'
import { definePart } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'
import type { WalletPart } from '../wallet/walletPart.ts'
import { Attributions } from './Attributions.ts'
import { openOrchestrator } from './openOrchestrator.ts'
import { askThrough, chainTools } from './ownEndpoints.ts'

interface BesideOrchestrator {
  readonly payments: PaymentsPart
  readonly wallet: WalletPart
  readonly jobs: JobsPart
}

export const orchestratorPart = definePart({
  name: 'orchestrator',
  endpoints: [...orchestratorEndpoints, mcpEndpoint],
  open: (base, { payments, wallet, jobs }: BesideOrchestrator) => {
    const { lists, runtime, log, server } = base
    const orchestrator = openOrchestrator(base, { ...payments, ...wallet, ...jobs })
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
  },
})
