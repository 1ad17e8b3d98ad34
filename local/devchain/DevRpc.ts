/**
 * JSON-RPC to the local dev chain: loopback, trusted, and with anvil's own methods. What is indexed
 * never comes through here; the ingestor has its own client with limits and failover.
 */
import { failure } from '#errors.ts'
import { shorten } from '#primitives.ts'

/** One call: method, then its parameters. */
export type DevRpcCall = readonly [method: string, ...params: readonly unknown[]]

/** The outcome of one call of a batch. */
export type DevRpcAnswer =
  | { readonly result: unknown }
  /** The node's message, and the whole error where it sent one. */
  | { readonly error: string; readonly cause?: unknown }

/**
 * A dead anvil refuses at once; a living one answers within milliseconds, a reorg or a large dump
 * within seconds.
 */
const CALL_TIMEOUT_MS = 30_000

/** Talks to one anvil. */
export class DevRpc {
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  /**
   * One call. @throws DevRpcError when the node answers with an error; fetch's own error when it
   * does not answer.
   */
  async call(...[method, ...params]: DevRpcCall): Promise<unknown> {
    const answer = parseAnswer(await this.#post(message(0, [method, ...params])))
    if ('error' in answer) throw new DevRpcError(method, answer.error)
    return answer.result
  }

  /**
   * Several calls in one request; answers in the order of the calls. Anvil may run them at the same
   * time.
   */
  async batch(calls: readonly DevRpcCall[]): Promise<DevRpcAnswer[]> {
    if (calls.length === 0) return []
    const body = await this.#post(calls.map((call, id) => message(id, call)))
    const byId = new Map<unknown, DevRpcAnswer>()
    for (const entry of Array.isArray(body) ? body : []) byId.set(field(entry, 'id'), parseAnswer(entry))
    return calls.map((_, id) => byId.get(id) ?? { error: 'no answer in the batch' })
  }

  /** A call whose answer is a quantity below 2^53. */
  async quantity(...call: DevRpcCall): Promise<number> {
    return Number(await this.call(...call))
  }

  async #post(body: unknown): Promise<unknown> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    })
    return response.json()
  }
}

/** A number as JSON-RPC writes quantities. */
export function hexQuantity(value: number | bigint): `0x${string}` {
  return `0x${value.toString(16)}`
}

/** A member of an answer, or undefined when the value is no object or lacks it. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** A text member of an answer. @throws TypeError when it is missing or not text. */
export function textField(value: unknown, name: string): string {
  const found = field(value, name)
  if (typeof found !== 'string') throw new TypeError(`the dev chain answered without a text ${name}`)
  return found
}

function message(id: number, [method, ...params]: DevRpcCall): object {
  return { jsonrpc: '2.0', id, method, params }
}

function parseAnswer(value: unknown): DevRpcAnswer {
  const error = field(value, 'error')
  if (error === undefined || error === null) return { result: field(value, 'result') }
  return { error: String(field(error, 'message')), cause: error }
}

/** The dev chain refused a call. */
export class DevRpcError extends failure('DevRpcError', 'dev_rpc_refused', 'retry') {
  readonly method: string

  constructor(method: string, reason: string) {
    super(`${method}: ${shorten(reason, 300)}`)
    this.method = method
  }
}
