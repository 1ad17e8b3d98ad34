/** A replayed node over HTTP, with the faults of its flags. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '#errors.ts'
import { isRecord } from '#primitives.ts'
import { callMethod, isControl } from './methods.ts'
import type { ReplayedNode } from './replayedNode.ts'
import { RpcError } from './rpcError.ts'

/** Longer than clients keep an idle connection, so that none is closed as they use it. */
const KEEP_ALIVE_MS = 60_000

/** A server of the node, that does not listen yet. */
export function createReplayServer(node: ReplayedNode): Server {
  const server = createServer((request, response) => {
    serve(node, request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  return server
}

/** The refusal that is sent in place of answers. */
interface Refusal {
  readonly status: number
  readonly body: Buffer
  readonly headers?: Readonly<Record<string, string>>
}

const parseError: Refusal = { status: 400, body: refusalBody(-32700, 'parse error') }
const tooMany: Refusal = {
  status: 429,
  body: refusalBody(429, 'Too Many Requests'),
  headers: { 'retry-after': '1' },
}
const unavailable: Refusal = {
  status: 503,
  body: Buffer.from('<html>upstream unavailable</html>'),
  headers: { 'content-type': 'text/html' },
}

async function serve(node: ReplayedNode, request: IncomingMessage, response: ServerResponse) {
  const calls = parse(await buffer(request))
  if (calls === undefined) return send(node, response, parseError)
  if (!(isRecord(calls) && isControl(calls['method']))) {
    node.stats.requests++
    const delayMs = node.faults.delayMs()
    if (delayMs > 0) await sleep(delayMs)
    if (node.faults.strikes('drop')) return void response.destroy()
    const refusal = refusalOf(node)
    if (refusal) return send(node, response, refusal)
  }
  send(node, response, { status: 200, body: answersTo(node, calls) })
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

function refusalOf({ faults }: ReplayedNode): Refusal | undefined {
  if (faults.isOverRate() || faults.strikes('fail-429')) return tooMany
  return faults.strikes('fail-503') ? unavailable : undefined
}

function send(node: ReplayedNode, response: ServerResponse, { status, body, headers = {} }: Refusal): void {
  node.stats.bytes += body.length
  const length = { 'content-type': 'application/json', 'content-length': body.length }
  response.writeHead(status, { ...length, ...headers })
  if (status === 200 && node.faults.strikes('truncate'))
    response.write(body.subarray(0, body.length / 2), () => response.destroy())
  else response.end(body)
}

/** A single call, or a batch. */
function answersTo(node: ReplayedNode, calls: unknown): Buffer {
  if (!Array.isArray(calls)) return answerTo(node, calls)
  const answers = calls.flatMap((call, index) => [Buffer.from(index ? ',' : '['), answerTo(node, call)])
  return Buffer.concat([...answers, Buffer.from(']')])
}

function answerTo(node: ReplayedNode, call: unknown): Buffer {
  const { id = null, method, params = [] } = isRecord(call) ? call : {}
  const name = String(method)
  node.stats.calls[name] = (node.stats.calls[name] ?? 0) + 1
  const start = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`
  try {
    const result = callMethod(node, name, Array.isArray(params) ? params : [])
    return Buffer.concat([Buffer.from(`${start}"result":`), result, Buffer.from('}')])
  } catch (error) {
    return Buffer.from(`${start}"error":${JSON.stringify(told(error))}}`)
  }
}

function told(error: unknown): object {
  if (error instanceof RpcError) return { code: error.code, message: error.message, data: error.data }
  return { code: -32603, message: messageOf(error) }
}

function refusalBody(code: number, message: string): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }))
}
