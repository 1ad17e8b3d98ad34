/**
 * A server of example endpoints, raw connections and a clock that a test moves, for the tests of
 * the HTTP toolkit.
 */

import { randomBytes } from 'node:crypto'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { createServer, type ServerOptions } from '#api/server.ts'
import type { Endpoint } from '#http/endpoint.ts'
import { CursorKeys } from '#http/request/cursor.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'

export interface RunningServer {
  readonly app: FastifyInstance
  readonly options: Omit<ServerOptions<never>, 'endpoints' | 'services'>
  readonly origin: string
  readonly port: number
  readonly shutdown: AbortController
}

/** Listens on an ephemeral port of the loopback interface. */
export async function startServer<Services>(
  endpoints: readonly Endpoint<Services>[],
  services: Services,
  options: Partial<Omit<ServerOptions<never>, 'endpoints' | 'services'>> = {},
): Promise<RunningServer> {
  const shutdown = new AbortController()
  const all = {
    chains: [4217, 42431],
    cursorKeys: new CursorKeys([randomBytes(32)]),
    clock: systemRuntime().clock,
    log: silentLogger,
    shutdown: shutdown.signal,
    ...options,
  }
  const app = await createServer({ endpoints, services, ...all })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { app, options: all, origin: `http://127.0.0.1:${port}`, port, shutdown }
}

/** A response as it came over the wire. */
export interface RawResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Sends bytes as they are and reads until the server closes the connection. */
export async function exchange(port: number, bytes: string | Uint8Array): Promise<RawResponse> {
  const text = await new Promise<string>((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line): [string, string] => split(line, ': ')))
  return { status: Number(statusLine.split(' ')[1]), headers, body }
}

function split(line: string, separator: string): [string, string] {
  const at = line.indexOf(separator)
  return [line.slice(0, at), line.slice(at + separator.length)]
}

/** Time stands still until `advance`. */
export class ManualClock implements Clock {
  #nowMs = Date.UTC(2026, 0, 1)
  readonly #sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>()

  now(): number {
    return this.#nowMs
  }

  monotonic(): number {
    return this.#nowMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const sleeper = { atMs: this.#nowMs + ms, wake: resolve }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper)
        reject(signal.reason)
      })
    })
  }

  /** Moves on, step by step so that a loop of short sleeps runs as often as it would. */
  async advance(ms: number, stepMs = 250): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.#nowMs += Math.min(stepMs, ms - passed)
      for (const sleeper of this.#sleepers) {
        if (sleeper.atMs > this.#nowMs) continue
        this.#sleepers.delete(sleeper)
        sleeper.wake()
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
