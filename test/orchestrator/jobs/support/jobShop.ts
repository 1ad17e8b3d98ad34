/** The doors of jobs over a catalog with what ships, selling on a dev chain. */
import { randomBytes } from 'node:crypto'
import { http, type Transport } from 'viem'
import { createServer } from '#api/server.ts'
import { anonymous } from '#http/request/access.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import { JOBS_SCOPE, JobOrders, type JobOrdersOptions } from '#orchestrator/job/JobOrders.ts'
import { mcpEndpoint } from '#orchestrator/mcp/mcpEndpoint.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import { jobReadEndpoints, reviewEndpoints } from '#orchestrator/rest/jobs/index.ts'
import type { TempoChargeMethod } from '#payments/methods/charge/TempoChargeMethod.ts'
import type { PaymentMethod } from '#payments/methods/PaymentMethod.ts'
import { PayerProofs } from '#payments/PayerProofs.ts'
import { Payments } from '#payments/Payments.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { createLogger, silentLogger } from '#telemetry.ts'
import { openToCallers, refusedPayments } from '../../../payments/support/refused.ts'
import { accountOf, chargesOf, PATH_USD, REALM } from '../../../payments/support/shop.ts'
import { startMiningDevChain } from '../../../support/devchain.ts'
import { openDemo } from '../../support/demo.ts'
import { reviewsOf } from './boughtJobs.ts'

const { clock } = systemRuntime()

export interface JobShopOptions {
  readonly rpcUrl: string
  readonly chainId: number
  readonly recipient: `0x${string}`
}

/** `serve`: another process beside it, on the same rows. */
export async function openJobShop(atEnd: (end: () => Promise<void>) => void, options: JobShopOptions) {
  const { catalog, services } = await openDemo(atEnd)
  const key = randomBytes(32)
  const keys = [key]
  const serve = async ({
    costMax = null,
    quotes = services.quotes,
    budget = null,
    methods = (charges) => [charges],
    transport = http(options.rpcUrl),
  }: Partial<JobOrdersOptions> & {
    /** To the chain's node. */
    readonly transport?: Transport
    /** In the place of charges alone. */
    readonly methods?: (charges: TempoChargeMethod) => readonly PaymentMethod[]
  } = {}) => {
    const refused = refusedPayments(catalog.app)
    const payments = new Payments({
      ...{ app: catalog.app, realm: REALM, methods: methods(chargesOf(options, key, transport)), refused },
      ...{ prices: {}, priced: new Set([JOBS_SCOPE]), clock, log: silentLogger },
    })
    const proofs = new PayerProofs({
      ...{ app: catalog.app, realm: REALM, keys, currency: PATH_USD },
      ...{ chainId: options.chainId, recipient: options.recipient, transport, refused },
    })
    const orders = new JobOrders({
      ...{ app: catalog.app, payments, proofs, quotes, budget, clock, costMax, made: () => {} },
    })
    const app = await createServer({
      endpoints: [...orchestratorEndpoints, ...jobReadEndpoints, ...reviewEndpoints, mcpEndpoint],
      services: {
        ...services,
        reviews: reviewsOf(catalog.app),
        jobsChanged: new CommitBell(),
        clock,
        jobs: { orders, proofs },
        publicOrigin: null,
        resultsKeptMs: 86_400_000,
        version: '1.2.3',
        chainTools: [],
        askOwn: () => Promise.reject(new Error('no tool of this server asks it')),
      },
      chains: [],
      access: { ...openToCallers, manage: (request) => payments.managed(request, anonymous.id) },
      cursorKeys: new CursorKeys([Buffer.alloc(32, 1)]),
      clock,
      log: createLogger('silent'),
      shutdown: new AbortController().signal,
    })
    atEnd(() => app.close())
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    return { origin, app, payments }
  }
  return { catalog, key, serve, ...(await serve()) }
}

/** A dev chain whose clock runs, and a shop on it that pays into one of its accounts. */
export async function startJobShop(atEnd: (end: () => Promise<void>) => void, payee: number) {
  const chainId = 1337
  const chain = await startMiningDevChain(chainId)
  atEnd(() => chain.remove())
  const recipient: `0x${string}` = `0x${accountOf(payee).address.slice(2).toLowerCase()}`
  const options = { rpcUrl: chain.rpcUrl, chainId, recipient }
  return { chain, shop: await openJobShop(atEnd, options) }
}

const node = (id: string, serviceId: string, path: string, input: object, dependsOn: string[] = []) => ({
  ...{ id, serviceId, method: 'POST' as const, path, input, dependsOn },
})

/** Five calls in three stages, which cost 0.0631 dollars together. */
export const fivefold = {
  nodes: [
    node('place', 'demo-places', '/geocode', { city: 'Paris' }),
    node('hash', 'demo-hashes', '/hash', { text: 'hello' }),
    node('day', 'demo-sun', '/daylight', { latitude: 'flow://place/output#/latitude', date: '2026-06-21' }, [
      'place',
    ]),
    node('echo', 'demo-moody', '/echo', { message: 'flow://hash/output#/hash' }, ['hash']),
    node('report', 'demo-reports', '/reports', { title: 'Day', facts: 'flow://day/output' }, ['day', 'echo']),
  ],
}

/** One call of a ten-thousandth of a dollar. */
export const hashing = (text: string) => ({ nodes: [node('hash', 'demo-hashes', '/hash', { text })] })
