/**
 * The services that ship in the catalog, with their sellers on loopback, and those that the endpoints work
 * with.
 */
import { onTestFinished } from 'vitest'
import { Egress } from '#egress/Egress.ts'
import type { Allowance } from '#http/request/access.ts'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import { sellingOn } from '#local/devchain/selling.ts'
import { startDemoSellers } from '#orchestrator/demo/DemoSellers.ts'
import type { OrchestratorServices } from '#orchestrator/operations.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { importShipped } from '#orchestrator/shipped.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { besideDevChain, parTokensDefault, quoteTerms } from '#wallet/currencies.ts'
import { openCatalog, type TestCatalog } from './catalog.ts'

/** As many calls of sellers as anybody asks for. */
export const endless: Allowance = async () => {}

export interface Demo {
  readonly catalog: TestCatalog
  readonly services: OrchestratorServices
}

/** `api` is where this program's own chain data is said to be; no test asks there. */
export async function openDemo(
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
  api = 'http://127.0.0.1:8080',
): Promise<Demo> {
  const { clock } = systemRuntime()
  const catalog = await openCatalog(atEnd)
  const demo = await startDemoSellers(sellingOn({ chainId: DEV_CHAIN_ID, rpcUrl: 'http://127.0.0.1:1' }))
  atEnd(() => demo.close())
  await importShipped(catalog.app, { api, demo: demo.origin })
  return {
    catalog,
    services: {
      app: catalog.reads,
      rows: catalog.app,
      liveness: null,
      priors: null,
      jobs: null,
      quotes: new Quotes({
        app: catalog.reads,
        egress: new Egress({ isLocalOrigin: (origin) => origin === demo.origin }),
        clock,
        allowance: endless,
        terms: besideDevChain(quoteTerms('1', parTokensDefault), DEV_CHAIN_ID),
        isOwn: (origin) => origin === api,
      }),
    },
  }
}
