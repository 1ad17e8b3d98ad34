/** The orchestrator's doors over a catalog with what ships, on loopback. */
import { createServer } from '#api/server.ts'
import { Egress } from '#egress.ts'
import { CallerRates } from '#orchestrator/CallerRates.ts'
import { startDemoSellers } from '#orchestrator/demo/DemoSellers.ts'
import { mcpEndpoint } from '#orchestrator/mcp/mcpEndpoint.ts'
import { SEARCHES_PER_MINUTE } from '#orchestrator/operations.ts'
import { parTokensDefault, quoteTerms } from '#orchestrator/pay/currencies.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import { importShipped } from '#orchestrator/shipped.ts'
import { systemRuntime } from '#runtime.ts'
import { createLogger } from '#telemetry.ts'
import { openCatalog } from './catalog.ts'

const { clock } = systemRuntime()

/** `publicOrigin`: where people reach it; null where nothing says so. */
export async function openDoors(
  atEnd: (end: () => Promise<void>) => void,
  publicOrigin: string | null = null,
) {
  const catalog = await openCatalog(atEnd)
  const demo = await startDemoSellers({ chainId: 4217, rpcUrl: 'http://127.0.0.1:1' })
  atEnd(() => demo.close())
  await importShipped(catalog.app, { api: publicOrigin ?? 'http://127.0.0.1:8080', demo: demo.origin })
  const app = await createServer({
    endpoints: [...orchestratorEndpoints, mcpEndpoint],
    services: {
      app: catalog.reads,
      searchRates: new CallerRates(clock, SEARCHES_PER_MINUTE),
      liveness: null,
      quotes: new Quotes({
        app: catalog.reads,
        egress: new Egress({ isLocalOrigin: (origin) => origin === demo.origin }),
        clock,
        terms: quoteTerms('1', parTokensDefault),
      }),
      publicOrigin,
      chainTools: [],
      askOwn: () => Promise.reject(new Error('no tool of this server asks it')),
    },
    chains: [],
    cursorKeys: [Buffer.alloc(32, 1)],
    clock,
    log: createLogger('silent'),
    shutdown: new AbortController().signal,
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  atEnd(() => app.close())
  return { catalog, app, address }
}
