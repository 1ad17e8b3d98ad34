/** The JSON-RPC door over nodes of a test, and what its clients send and get. */

import { onTestFinished } from 'vitest'
import { postChainRpcEndpoint, postRpcEndpoint } from '#api/routes/rpc.ts'
import type { StoredChain } from '#api/rpc/context.ts'
import { RpcDoor } from '#api/rpc/RpcDoor.ts'
import type { ServerOptions } from '#api/server.ts'
import { type Access, anonymous } from '#http/request/access.ts'
import { openRelay } from '#ingest/relay/openRelay.ts'
import type { Relay } from '#ingest/relay/Relay.ts'
import { createSource, type RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { AppDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { type Logger, silentLogger } from '#telemetry.ts'
import {
  type FakeNode,
  type NodeAnswer,
  type NodeBehaviour,
  type NodeCall,
  startNode,
} from '../../ingest/support/proxyNode.ts'
import { startServer } from './toolkitServer.ts'

export interface RpcApi {
  readonly url: string
  readonly source: RpcSource
  readonly relay: Relay
  /** Sends a body as it is. */
  send(
    body: string,
    headers?: Record<string, string>,
  ): Promise<{ status: number; text: string; headers: Headers }>
  /** One call; its answer as parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any answer, and says in its expectations what it holds
  call(method: string, ...params: readonly unknown[]): Promise<any>
  close(): Promise<void>
}

export interface RpcApiOptions {
  readonly urls: readonly string[]
  readonly chainId?: number
  readonly kind?: 'tempo' | 'evm'
  readonly enabled?: readonly string[]
  readonly relayUrls?: readonly string[]
  readonly stored?: StoredChain | null
  readonly filters?: AppDatabase | null
  readonly log?: Logger
  /** Id of everybody's key. */
  readonly caller?: string
  readonly server?: Partial<ServerOptions<never>>
}

/** Everybody has a key that may do everything. */
const keyHolders = (id: string): Access => ({
  identify: () => ({ ...anonymous, id, kind: 'key' }),
  admit: () => ({ kind: 'admitted', headers: {} }),
})

export async function openRpcApi(options: RpcApiOptions): Promise<RpcApi> {
  const { chainId: id = 4217, kind = 'tempo', enabled = [], stored = null, filters = null } = options
  const runtime = systemRuntime()
  const source = createSource({
    chainId: id,
    urls: options.urls,
    finalityDepth: 4,
    runtime,
    log: silentLogger,
  })
  const relay = openRelay(source, {
    ...(options.relayUrls && { relayUrls: options.relayUrls }),
    clock: runtime.clock,
  })
  const door = new RpcDoor({
    chainId: id,
    kind,
    relay,
    enabled,
    stored,
    filters,
    clock: runtime.clock,
    log: options.log ?? silentLogger,
  })
  const services = { rpc: new Map([[id, door]]) }
  const server = await startServer([postChainRpcEndpoint, postRpcEndpoint], services, {
    chains: [id],
    access: keyHolders(options.caller ?? 'key_test'),
    ...options.server,
  })
  const url = `${server.origin}/rpc/${id}`
  const send: RpcApi['send'] = async (body, headers = {}) => {
    const answer = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  return {
    url,
    source,
    relay,
    send,
    call: async (method, ...params) =>
      JSON.parse((await send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).text),
    close: async () => {
      await server.app.close()
      await relay.close()
      await source.close()
    },
  }
}

/** The same until the test ends. */
export async function door(options: RpcApiOptions): Promise<RpcApi> {
  const api = await openRpcApi(options)
  onTestFinished(() => api.close())
  return api
}

/** A node until the test ends. */
export async function node(behaviour: NodeBehaviour): Promise<FakeNode> {
  const started = await startNode(behaviour)
  onTestFinished(() => started.close())
  return started
}

/** A node's answer to one method, beside those of a plain one. */
export const answersWith = (method: string, answer: NodeAnswer) => (call: NodeCall) =>
  call.method === method ? answer : undefined

export const hashAt = (number: number, branch = 'a'): string =>
  `0x${branch.repeat(4)}${number.toString(16).padStart(60, '0')}`

/** A node with blocks without content up to `head`; `extra` answers everything else. */
export function plainNode(
  head: () => number,
  extra: (call: NodeCall) => NodeAnswer | undefined = () => undefined,
  id = 4217,
): (call: NodeCall) => NodeAnswer {
  const block = (number: number) =>
    number > head()
      ? null
      : {
          number: `0x${number.toString(16)}`,
          hash: hashAt(number),
          parentHash: hashAt(Math.max(0, number - 1)),
        }
  const heightOf = (tag: unknown) => {
    if (tag === 'latest' || tag === 'pending') return head()
    if (tag === 'finalized' || tag === 'safe') return Math.max(0, head() - 2)
    return Number(tag)
  }
  return (call) => {
    const own = extra(call)
    if (own) return own
    const [first] = call.params
    switch (call.method) {
      case 'eth_chainId':
        return { result: `0x${id.toString(16)}` }
      case 'eth_blockNumber':
        return { result: `0x${head().toString(16)}` }
      case 'eth_getBlockByNumber':
        return { result: block(heightOf(first)) }
      case 'eth_getBlockReceipts':
        return { result: [] }
      default:
        return { error: { code: -32601, message: `the method ${call.method} does not exist` } }
    }
  }
}
