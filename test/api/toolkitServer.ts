/** A server of example endpoints over an in-memory list, for the tests of the HTTP toolkit. */
import { randomBytes } from 'node:crypto'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '#api/http/endpoint.ts'
import { createServer, type ServerOptions } from '#api/server.ts'
import { chainId } from '#primitives.ts'
import { systemRuntime } from '#runtime.ts'
import { silentLogger } from '#telemetry.ts'

export interface RunningServer {
  readonly app: FastifyInstance
  readonly origin: string
  readonly port: number
  readonly shutdown: AbortController
}

/** Listens on an ephemeral port of the loopback interface. */
export async function startServer<Services>(
  endpoints: readonly Endpoint<Services>[],
  services: Services,
  options: Partial<ServerOptions<Services>> = {},
): Promise<RunningServer> {
  const shutdown = new AbortController()
  const app = await createServer({
    endpoints,
    services,
    chains: [chainId(4217), chainId(42431)],
    cursorKeys: [randomBytes(32)],
    clock: systemRuntime().clock,
    log: silentLogger,
    shutdown: shutdown.signal,
    ...options,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { app, origin: `http://127.0.0.1:${port}`, port, shutdown }
}

/** Sends bytes as they are and returns all that comes back until the server closes. */
export function exchange(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
}
