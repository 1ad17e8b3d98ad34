import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One JSON-RPC call as a node receives it. */
export interface NodeCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

export type NodeAnswer = { readonly result: unknown } | { readonly error: { code: number; message: string } }

/** A node of a few lines: what it answers to a call, and optionally to a whole HTTP request. */
export interface NodeBehaviour {
  call(call: NodeCall): NodeAnswer | Promise<NodeAnswer>
  /** True when it has answered the request itself. */
  request?(calls: NodeCall | readonly NodeCall[], response: ServerResponse): boolean | Promise<boolean>
}

export interface FakeNode {
  readonly url: string
  readonly calls: Map<string, number>
  requests: number
  close(): Promise<void>
}

/** Serves a behaviour over HTTP on an ephemeral port of loopback. */
export async function startNode(behaviour: NodeBehaviour): Promise<FakeNode> {
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy())
  })
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    node.requests++
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const calls: NodeCall | NodeCall[] = JSON.parse(Buffer.concat(chunks).toString())
    if (await behaviour.request?.(calls, response)) return
    const answer = async (call: NodeCall) => {
      node.calls.set(call.method, (node.calls.get(call.method) ?? 0) + 1)
      return { jsonrpc: '2.0', id: call.id, ...(await behaviour.call(call)) }
    }
    const body = Array.isArray(calls) ? await Promise.all(calls.map(answer)) : await answer(calls)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const node: FakeNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: new Map(),
    requests: 0,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return node
}

/** Passes every call on to another node. */
export async function forward(url: string, { method, params }: NodeCall): Promise<NodeAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body })
  const { result, error } = JSON.parse(await answer.text())
  return error ? { error } : { result }
}
