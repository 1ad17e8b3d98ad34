/**
 * The orchestrator of a running program: what its endpoints work with, what ships in the catalog,
 * and the demo's sellers where there is a dev chain.
 */
import { allowanceOf } from '#api/access/allowance.ts'
import { messageOf } from '#errors.ts'
import { SELLER_CALLS_PER_MINUTE } from '#orchestrator/allowance.ts'
import type { DemoSellers } from '#orchestrator/demo/DemoSellers.ts'
import { JobOrders, type JobOrdersOptions } from '#orchestrator/job/JobOrders.ts'
import type { McpServices } from '#orchestrator/mcp/mcpEndpoint.ts'
import { Quotes } from '#orchestrator/quote/Quotes.ts'
import { QualityPriors } from '#orchestrator/search/QualityPriors.ts'
import { importShipped } from '#orchestrator/shipped.ts'
import { Liveness } from '#orchestrator/verify/Liveness.ts'
import { Verifier } from '#orchestrator/verify/Verifier.ts'
import manifest from '#package.json' with { type: 'json' }
import { appDatabase } from '#rows/database.ts'
import { besideDevChain } from '#wallet/currencies.ts'
import { aborted } from '../../process/stopSignal.ts'
import type { Program } from '../../program.ts'
import type { JobsPart } from '../jobs/jobsPart.ts'
import type { Base } from '../part.ts'
import type { PaymentsPart } from '../payments/paymentsPart.ts'
import type { WalletPart } from '../wallet/walletPart.ts'

const DAY_MS = 24 * 3_600_000

export interface Orchestrator {
  readonly services: Omit<McpServices, 'askOwn' | 'chainTools' | 'reviews'>
  /** Fills in what ships, for a server that listens at the address; ends with the signal. */
  run(address: string, signal: AbortSignal): Promise<void>
  /** Ends the demo's sellers, which jobs wait for until they have ended. */
  close(): Promise<void>
}

type OrchestratorBase = Pick<
  Base,
  'config' | 'program' | 'egress' | 'sellerOrigins' | 'ownOrigins' | 'quotas' | 'runtime' | 'log'
>

export function openOrchestrator(base: OrchestratorBase, selling: Selling): Orchestrator {
  const { config, program, egress, sellerOrigins, ownOrigins, quotas, runtime, log } = base
  const { clock, random } = runtime
  const allowance = allowanceOf(quotas, 'sellers', SELLER_CALLS_PER_MINUTE)
  const { engines, reachable } = program
  const { postgres } = engines
  const rows = appDatabase(postgres)
  // Searches must not hold up what writes.
  const app = appDatabase({ pool: postgres.reads })
  const isOwn = (origin: string) => ownOrigins.has(origin)
  const verifier = new Verifier({ app: rows, egress, clock, random, isOwn })
  const terms = besideDevChain(config.quoteTerms, localIdOf(reachable))
  const { budget } = selling
  const quotes = new Quotes({ app, egress, clock, allowance, terms, budget, isOwn })
  const priors = config.ranksByQuality ? new QualityPriors() : null
  const services = {
    app,
    rows,
    priors,
    liveness: config.searchesLive ? new Liveness({ app, egress, clock, allowance, isOwn }) : null,
    quotes,
    jobs: jobDoorOf(selling, {
      app: rows,
      quotes,
      budget,
      clock,
      costMax: config.jobCostMax,
      made: () => selling.due.ring(),
    }),
    publicOrigin: config.access.publicUrl?.origin ?? null,
    resultsKeptMs: config.resultDays * DAY_MS,
    version: manifest.version,
  }

  let demo: DemoSellers | null = null
  const run = async (address: string, signal: AbortSignal): Promise<void> => {
    const api = new URL(config.access.publicUrl ?? address).origin
    ownOrigins.add(api).add(new URL(address).origin)
    try {
      demo = await startDemo(reachable)
      if (demo) sellerOrigins.add(demo.origin)
      const { problems } = await importShipped(rows, { api, demo: demo?.origin ?? null })
      for (const { path, message } of problems)
        log.warn({ place: path.join('.') }, `the catalog does not take a service that ships: ${message}`)
      selling.begin()
      if (config.probesCatalog) await verifier.run(log, signal)
      else await aborted(signal)
    } catch (error) {
      log.warn({ problem: messageOf(error) }, 'what ships in the catalog could not be filled in')
      selling.begin()
      await aborted(signal)
    }
  }
  return { services, run, close: async () => demo?.close() }
}

/** The parts that jobs are sold and run by. */
export type Selling = Pick<PaymentsPart, 'payments' | 'proofs'> &
  Pick<WalletPart, 'buyer' | 'budget'> &
  Pick<JobsPart, 'due' | 'begin'>

function jobDoorOf(
  { payments, proofs, buyer }: Selling,
  options: Omit<JobOrdersOptions, 'payments' | 'proofs'>,
): McpServices['jobs'] {
  // A job that nobody runs is not sold.
  return buyer && payments && proofs && { proofs, orders: new JobOrders({ ...options, payments, proofs }) }
}

const localIdOf = (reachable: Program['reachable']): number | null =>
  reachable.find(({ devChain }) => devChain !== null)?.chainId ?? null

/** Beside a dev chain alone. */
async function startDemo(reachable: Program['reachable']): Promise<DemoSellers | null> {
  const chain = reachable.find(({ devChain }) => devChain !== null)
  if (!chain?.devChain) return null
  // The sellers' library is large, and programs on real chains have no use for it.
  const { startDemoSellers } = await import('#orchestrator/demo/DemoSellers.ts')
  const { sellingOn } = await import('#local/devchain/selling.ts')
  return startDemoSellers(sellingOn(chain.devChain))
}
