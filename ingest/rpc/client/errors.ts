import { failure } from '#errors.ts'
import { shorten } from '#primitives.ts'

/**
 * How one request to one endpoint failed:
 * - `unreachable`: no connection, or it broke off; `timed_out`: no complete answer within the
 *   deadline;
 * - `rate_limited`: asked to slow down; `overloaded`: HTTP 5xx or the node says it is busy;
 * - `too_large`: the answer, or the range, is more than the node or we accept in one piece;
 * - `batch_refused`: the endpoint takes no JSON-RPC batches, or none this long;
 * - `method_missing`: the node does not know the method; `pruned`: it no longer has data this old;
 * - `block_missing`: it has no such block, yet; `unauthorized`: it wants other credentials;
 * - `malformed`: what came is no JSON-RPC answer to what was asked; `node_error`: any other error
 *   it reports.
 */
export const rpcFailures = [
  'unreachable',
  'timed_out',
  'rate_limited',
  'overloaded',
  'too_large',
  'batch_refused',
  'method_missing',
  'pruned',
  'block_missing',
  'unauthorized',
  'malformed',
  'node_error',
] as const

export type RpcFailure = (typeof rpcFailures)[number]

/**
 * One endpoint failed one request. The source decides whether to wait, to split, or to ask another
 * one.
 */
export class RpcError extends failure('RpcError', 'rpc_failed', 'retry') {
  readonly failure: RpcFailure
  /** Redacted name of the endpoint. */
  readonly endpoint: string
  /** How long the endpoint asked us to wait, when it said. */
  readonly retryAfterMs: number | undefined
  /** The failed part of a range, if the rest of it came. */
  readonly failed: FailedItems | undefined

  constructor(failure: RpcFailure, endpoint: string, detail: string, options?: RpcErrorOptions) {
    super(`${endpoint}: ${failure}: ${shorten(detail, 200)}`, options)
    this.failure = failure
    this.endpoint = endpoint
    this.retryAfterMs = options?.retryAfterMs
    this.failed = options?.failed
  }
}

export interface RpcErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined
  readonly failed?: FailedItems
}

/** Items of a range's answer that are errors, or null. */
export interface FailedItems {
  /** The first block of which something failed. */
  readonly first: number
  /** Blocks that came while the list of their receipts failed; none where a block failed itself. */
  readonly receiptsOf: readonly number[]
  /** Those are all that were asked for. */
  readonly isEach: boolean
}

/** No endpoint gave a usable answer within the retry budget. `cause` is the last failure. */
export class SourceError extends failure('SourceError', 'source_unavailable', 'retry') {
  /** The question, such as `blocks 100..131`. */
  readonly asked: string
  readonly attempts: number
  /** The last failure's kind, when it was one of a request. */
  readonly failure: RpcFailure | undefined

  constructor(asked: string, attempts: number, cause: unknown) {
    const last = cause instanceof Error ? cause.message : String(cause)
    super(`${asked}: no endpoint answered in ${attempts} attempts; last: ${last}`, { cause })
    this.asked = asked
    this.attempts = attempts
    this.failure = cause instanceof RpcError ? cause.failure : undefined
  }
}

/**
 * Endpoints name different blocks where the chain is final. One of them is wrong, and we cannot
 * know which.
 */
export class EndpointsDisagreeError extends failure('EndpointsDisagreeError', 'endpoints_disagree', 'retry') {
  readonly blockNumber: number
  readonly endpoints: readonly string[]

  constructor(blockNumber: number, endpoints: readonly string[]) {
    super(`${endpoints.join(' and ')} hold different blocks at the final height ${blockNumber}`)
    this.blockNumber = blockNumber
    this.endpoints = endpoints
  }
}

/**
 * One endpoint alone tells another block at a height that we hold as final. It takes a second one to
 * believe that, where there is one.
 */
export class ContradictedAloneError extends failure('ContradictedAloneError', 'contradicted_alone', 'retry') {
  readonly blockNumber: number
  readonly endpoint: string

  constructor(blockNumber: number, endpoint: string) {
    super(`${endpoint} alone holds another block than we do at the final height ${blockNumber}`)
    this.blockNumber = blockNumber
    this.endpoint = endpoint
  }
}

/** An endpoint serves another chain than the one this data belongs to. */
export class WrongChainError extends failure('WrongChainError', 'wrong_chain', 'stop') {
  readonly endpoint: string

  constructor(endpoint: string, what: 'chain id' | 'genesis block', expected: string, received: string) {
    super(`RPC_URL: ${endpoint} has ${what} ${received}, but this data belongs to ${expected}`)
    this.endpoint = endpoint
  }
}

/** No endpoint holds blocks this old. */
export class HistoryPrunedError extends failure('HistoryPrunedError', 'history_pruned', 'stop') {
  readonly blockNumber: number
  /** Oldest block an endpoint still answers with its receipts, or null when none could be found. */
  readonly earliest: number | null

  constructor(blockNumber: number, earliest: number | null) {
    super(
      `the node no longer has block ${blockNumber} with its receipts; ${
        earliest === null
          ? 'use an archive node as RPC_URL'
          : `set START_BLOCK to ${earliest} or later, or use an archive node as RPC_URL`
      }`,
    )
    this.blockNumber = blockNumber
    this.earliest = earliest
  }
}
