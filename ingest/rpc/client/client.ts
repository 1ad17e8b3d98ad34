import { type Dispatcher, errors, Pool } from 'undici'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import type { Clock } from '#runtime/runtime.ts'
import { BodyCollector, BodyTooLargeError, type HttpAnswer } from './BodyCollector.ts'
import { type EndpointUrl, redact, withoutSecrets } from './endpointUrl.ts'
import { RpcError, type RpcErrorOptions, type RpcFailure } from './errors.ts'
import { classifyNodeError, readNodeError } from './nodeErrors.ts'

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** One item of a parsed batch answer. */
export type CallAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: RpcError }

/** Bounds of one request. */
export interface ExchangeLimits {
  readonly bytesMax: number
  readonly deadlineMs: number
  /** Calls in the body. Default: one. */
  readonly calls?: number
}

/** The joint limit of several answers. */
export interface BytesAllowance {
  readonly bytesMax: number
  /** @throws RpcError when it is spent */
  spend(bytes: number): void
}

/** Bounds of a call that every endpoint is asked. */
export interface CallEachBounds {
  /** Bound of each answer. */
  readonly bytesMax: number
  readonly signal?: AbortSignal
}

/** The carrier of requests to one server. */
export type Transport = Pick<Dispatcher, 'dispatch' | 'destroy'>

/** Opens a transport to an origin with at most so many connections. */
export type OpenTransport = (origin: string, connectionsMax: number) => Transport

/** An endpoint's cost so far. */
export interface RpcCost {
  /** HTTP requests. */
  requests: number
  /** Calls in them: what most providers charge for. */
  calls: number
  sentBytes: number
  receivedBytes: number
}

/**
 * Past this an answer is refused: 64 MiB hold some 60 full blocks of Tempo, and 32 of them fit into
 * memory.
 */
export const BODY_BYTES_MAX = 64 * 1024 * 1024
/**
 * Answers of calls that are parsed here: heads, headers, chain ids, and the receipts of one block
 * on a probe.
 */
const SMALL_BODY_BYTES_MAX = 16 * 1024 * 1024
/** Requests at a time for several calls, where an endpoint takes no batches. */
export const SINGLES_AT_ONCE = 4
/** Longer than any healthy node needs for a batch; a slow drip ends here. */
export const DEADLINE_MS = 15_000
/**
 * A gateway that wants more has lost us for longer than its answer is worth; another endpoint is
 * asked meanwhile.
 */
const RETRY_AFTER_MS_MAX = 60_000

/**
 * JSON-RPC over HTTP/1.1 with keep-alive to one endpoint. It neither retries nor limits; it turns
 * everything that can go wrong into an RpcError. Answers for block ranges leave as bytes, small
 * ones are parsed strictly.
 */
export class RpcClient {
  readonly name: string
  readonly cost: RpcCost = { requests: 0, calls: 0, sentBytes: 0, receivedBytes: 0 }
  readonly #url: EndpointUrl
  readonly #clock: Clock
  readonly #transport: Transport
  #nextId = 1

  constructor(url: EndpointUrl, clock: Clock, connectionsMax: number, open: OpenTransport = openPool) {
    this.name = url.name
    this.#url = url
    this.#clock = clock
    this.#transport = open(url.origin, connectionsMax)
  }

  /**
   * Sends a JSON-RPC body of `calls` calls and returns the bytes of a 200 answer. @throws RpcError
   */
  async post(
    body: string,
    bytesMax: number,
    signal?: AbortSignal,
    calls = 1,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const answer = await this.exchange(body, { bytesMax, deadlineMs: DEADLINE_MS, calls }, signal)
    if (answer.status !== 200) throw this.statusError(answer)
    return answer.bytes
  }

  /** Sends a JSON-RPC body and returns what came, under any status. @throws RpcError */
  async exchange(body: string, limits: ExchangeLimits, signal?: AbortSignal): Promise<HttpAnswer> {
    this.cost.calls += limits.calls ?? 1
    const answer = await this.#send(body, limits, signal)
    this.cost.receivedBytes += answer.bytes.length
    if (answer.headers['content-encoding'])
      throw this.error('malformed', 'a compressed answer, which was not asked for')
    return answer
  }

  /** One call. @throws RpcError */
  async call(
    method: string,
    params: readonly unknown[],
    signal?: AbortSignal,
    allowance?: BytesAllowance,
  ): Promise<unknown> {
    const id = this.#nextId++
    const bytes = await this.#postSmall(callText(id, { method, params }), 1, signal, allowance)
    const answer = this.#readItem(this.#parse(bytes), id)
    if (!answer.ok) throw answer.error
    return answer.result
  }

  /**
   * Several calls in one batch, answered in order; an item may fail alone. @throws RpcError when
   * the batch failed.
   */
  async batch(
    calls: readonly RpcCall[],
    signal?: AbortSignal,
    allowance?: BytesAllowance,
  ): Promise<readonly CallAnswer[]> {
    const firstId = this.#nextId
    this.#nextId += calls.length
    const body = `[${calls.map((call, index) => callText(firstId + index, call)).join(',')}]`
    const parsed = this.#parse(await this.#postSmall(body, calls.length, signal, allowance))
    if (!Array.isArray(parsed)) throw this.batchError(parsed)
    const byId = new Map(parsed.map((item: unknown) => [idOf(item), item]))
    if (parsed.length !== calls.length || byId.size !== calls.length)
      throw this.error('malformed', `${parsed.length} answers to a batch of ${calls.length}`)
    return calls.map((_call, index) => this.#readItem(byId.get(firstId + index), firstId + index))
  }

  /**
   * Several calls, in one batch where the endpoint takes them; one by one they may take as many
   * bytes together as a batch. @throws RpcError when all of them failed together, or are too large
   */
  async callAll(
    calls: readonly RpcCall[],
    batches: boolean,
    signal?: AbortSignal,
  ): Promise<readonly CallAnswer[]> {
    if (batches) return await this.batch(calls, signal)
    const allowance = this.#smallAllowance()
    const ask = async (call: RpcCall, ended: AbortSignal): Promise<CallAnswer> => {
      const id = this.#nextId++
      try {
        return this.#readItem(this.#parse(await this.#postSmall(callText(id, call), 1, ended, allowance)), id)
      } catch (error) {
        if (error instanceof RpcError && error.failure !== 'too_large') return { ok: false, error }
        throw error
      }
    }
    return await mapAtMost(SINGLES_AT_ONCE, calls, ask, signal)
  }

  #smallAllowance(): BytesAllowance {
    let left = SMALL_BODY_BYTES_MAX
    return {
      get bytesMax() {
        return Math.max(1, left)
      },
      spend: (bytes) => {
        left -= bytes
        if (left < 0) throw this.error('too_large', 'the answers to several calls are too long together')
      },
    }
  }

  /** A batch was answered by something that is not a list: an error about all of it. */
  batchError(parsed: unknown): RpcError {
    const error = this.nodeError(Object(parsed).error)
    // Servers without batches call one an invalid request, for want of a better code.
    const refused = error.failure === 'malformed' || error.failure === 'method_missing'
    return refused ? this.error('batch_refused', error.message) : error
  }

  /** An `error` member as an RpcError. */
  nodeError(value: unknown, options?: RpcErrorOptions): RpcError {
    const error = readNodeError(value)
    return this.error(classifyNodeError(error), `${error.code} ${error.message}`, options)
  }

  /** The endpoint's text, for others to read. */
  blanked(text: string): string {
    return withoutSecrets(text, this.#url)
  }

  error(failure: RpcFailure, detail: string, options?: RpcErrorOptions) {
    return new RpcError(failure, this.name, redact(detail, this.#url), options)
  }

  close(): Promise<void> {
    return this.#transport.destroy()
  }

  async #postSmall(body: string, calls: number, signal?: AbortSignal, allowance?: BytesAllowance) {
    const bytesMax = Math.min(SMALL_BODY_BYTES_MAX, allowance?.bytesMax ?? SMALL_BODY_BYTES_MAX)
    const bytes = await this.post(body, bytesMax, signal, calls)
    allowance?.spend(bytes.length)
    return bytes
  }

  async #send(
    body: string,
    { bytesMax, deadlineMs }: ExchangeLimits,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> {
    const ended = new AbortController()
    const collector = new BodyCollector(bytesMax, signal)
    this.#clock.sleep(deadlineMs, ended.signal).then(
      () => collector.abort(this.error('timed_out', `no complete answer in ${deadlineMs} ms`)),
      () => {},
    )
    this.cost.requests++
    this.cost.sentBytes += body.length
    const headers = {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      ...(this.#url.authorization && { authorization: this.#url.authorization }),
    }
    try {
      this.#transport.dispatch({ method: 'POST', path: this.#url.path, headers, body }, collector)
      return await collector.answer
    } catch (error) {
      signal?.throwIfAborted()
      throw this.#transportError(error)
    } finally {
      ended.abort(settled)
    }
  }

  #transportError(error: unknown): RpcError {
    if (error instanceof RpcError) return error
    if (error instanceof BodyTooLargeError) return this.error('too_large', error.message)
    const detail = error instanceof Error ? error.message || error.name : String(error)
    const timedOut = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError
    return this.error(timedOut ? 'timed_out' : 'unreachable', detail, { cause: error })
  }

  /**
   * Gateways put JSON-RPC errors under any status; the status decides when the body says nothing.
   */
  statusError({ status, headers, bytes }: HttpAnswer): RpcError {
    const retryAfterMs = parseRetryAfter(headers['retry-after'], this.#clock.now())
    const inBody = bytes.length < 65_536 ? this.#errorInBody(bytes) : undefined
    if (inBody && inBody.failure !== 'node_error')
      return this.error(inBody.failure, `HTTP ${status}: ${inBody.message}`, { retryAfterMs })
    return this.error(failureOfStatus(status), `HTTP ${status}`, { retryAfterMs })
  }

  #errorInBody(bytes: Uint8Array): RpcError | undefined {
    try {
      const parsed: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
      const error: unknown = Object(parsed).error
      return error === undefined ? undefined : this.nodeError(error)
    } catch {
      return undefined
    }
  }

  #parse(bytes: Uint8Array<ArrayBuffer>): unknown {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    } catch (error) {
      throw this.error('malformed', 'the answer is not JSON', { cause: error })
    }
  }

  #readItem(item: unknown, id: number): CallAnswer {
    const fields: Record<string, unknown> = typeof item === 'object' && item !== null ? { ...item } : {}
    if (fields['error'] !== undefined && fields['error'] !== null)
      return { ok: false, error: this.nodeError(fields['error']) }
    if (fields['id'] !== id || !('result' in fields))
      return { ok: false, error: this.error('malformed', 'an answer without result, or to another call') }
    return { ok: true, result: fields['result'] }
  }
}

/** Ends a timer; a reason made for each request would cost more than the rest of its end. */
const settled = new Error('the request has its answer')

/** Connections whose answers are waited for as long as one request may take. */
export const poolOf =
  (deadlineMs: number): OpenTransport =>
  (origin, connections) =>
    new Pool(origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: 5_000 },
      headersTimeout: deadlineMs,
      bodyTimeout: deadlineMs,
    })

const openPool = poolOf(DEADLINE_MS)

export function callText(id: number, { method, params }: RpcCall): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`
}

const idOf = (item: unknown): unknown => Object(item).id

function failureOfStatus(status: number): RpcFailure {
  if (status === 429) return 'rate_limited'
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 413) return 'too_large'
  if (status === 408) return 'timed_out'
  return status >= 500 ? 'overloaded' : 'malformed'
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3), as a bounded wait. */
function parseRetryAfter(header: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined
  const seconds = Number(header)
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs
  return Number.isFinite(waitMs) ? Math.min(Math.max(waitMs, 0), RETRY_AFTER_MS_MAX) : undefined
}
