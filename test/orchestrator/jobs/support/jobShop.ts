/** The doors of jobs over a catalog with what ships, selling on a dev chain. */
import { randomBytes } from 'node:crypto'
import { http } from 'viem'
import { createServer } from '#api/server.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import { JOBS_SCOPE, JobOrders, type JobOrdersOptions } from '#orchestrator/job/JobOrders.ts'
import { mcpEndpoint } from '#orchestrator/mcp/mcpEndpoint.ts'
import { orchestratorEndpoints } from '#orchestrator/rest/index.ts'
import { PayerProofs } from '#payments/PayerProofs.ts'
import { Payments } from '#payments/Payments.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { createLogger, silentLogger } from '#telemetry.ts'
import { chargesOf, PATH_USD, REALM } from '../../../payments/support/shop.ts'
import { openDemo } from '../../support/demo.ts'

const { clock } = systemRuntime()

export interface JobShopOptions {
  readonly rpcUrl: string
  readonly chainId: number
  readonly recipient: `0x${string}`
}

/** `serve`: another process beside it, on the same rows. */
export async function openJobShop(atEnd: (end: () => Promise<void>) => void, options: JobShopOptions) {
  const { catalog, services } = await openDemo(atEnd)
  const keys = [randomBytes(32)]
  const serve = async ({ costMax = null, quotes = services.quotes }: Partial<JobOrdersOptions> = {}) => {
    const payments = new Payments({
      ...{ app: catalog.app, realm: REALM, methods: [chargesOf(options, keys[0] ?? randomBytes(32))] },
      ...{ prices: {}, priced: new Set([JOBS_SCOPE]), clock, log: silentLogger },
    })
    const proofs = new PayerProofs({
      ...{ app: catalog.app, realm: REALM, keys, currency: PATH_USD },
      ...{ chainId: options.chainId, recipient: options.recipient, transport: http(options.rpcUrl) },
    })
    const orders = new JobOrders({
      ...{ app: catalog.app, payments, proofs, quotes, clock, costMax, made: () => {} },
    })
    const app = await createServer({
      endpoints: [...orchestratorEndpoints, mcpEndpoint],
      services: {
        ...services,
        jobs: { orders, proofs },
        publicOrigin: null,
        version: '1.2.3',
        chainTools: [],
        askOwn: () => Promise.reject(new Error('no tool of this server asks it')),
      },
      chains: [],
      cursorKeys: new CursorKeys([Buffer.alloc(32, 1)]),
      clock,
      log: createLogger('silent'),
      shutdown: new AbortController().signal,
    })
    atEnd(() => app.close())
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    return { origin, app, payments }
  }
  return { catalog, serve, ...(await serve()) }
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
