/**
 * JSON-RPC of one chain: each call by its method's way, a batch at one head. What concerns a call
 * is its own error; only a request that no node answers at all is one of HTTP.
 */
import { MillraceError } from '#errors.ts'
import type { Caller } from '#http/request/access.ts'
import { SharedReads } from '#http/SharedReads.ts'
import type { Relay } from '#ingest/relay/Relay.ts'
import { isTooLarge } from '#ingest/relay/relayFailure.ts'
import { rpcQuantity } from '#ingest/rpc/client/parse.ts'
import type { AppDatabase } from '#rows/database.ts'
import { mapAtMost } from '#runtime/mapAtMost.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type Logger, metrics } from '#telemetry.ts'
import type { ChainKind } from '#transform/profile.ts'
import { AnswerWriter, answered, failed, type RpcAnswer, type RpcOutcome } from './answer.ts'
import { askAtBlock, askTransaction } from './atBlock.ts'
import { anywhere, type Heights, newest } from './blocks.ts'
import { ask, type RpcContext, type StoredChain } from './context.ts'
import { internalError, limitExceeded, methodMissing, notEnabled, RpcFailureError } from './failure.ts'
import { askFilter } from './filters.ts'
import { KeptAnswers } from './KeptAnswers.ts'
import { askLogs } from './logs.ts'
import { isCall, type JsonRpcRequest, type RpcMessage } from './message.ts'
import { chainName, insteadOf, methodsOf, REFUSED_UNITS, type RpcMethod } from './methods.ts'
import { send } from './sends.ts'

export interface RpcDoorOptions {
  readonly chainId: number
  readonly kind: ChainKind
  readonly relay: Relay
  /** Methods the operator adds. */
  readonly enabled: readonly string[]
  /** Null where nothing is stored. */
  readonly stored: StoredChain | null
  /** The database that keeps filters; null if none are kept. */
  readonly filters: AppDatabase | null
  readonly clock: Clock
  /** Is told of methods, never of parameters. */
  readonly log: Logger
}

/** Calls of one batch under way at once. */
const AT_ONCE = 8

export class RpcDoor {
  readonly #options: RpcDoorOptions
  readonly #methods: ReadonlyMap<string, RpcMethod>
  readonly #kept = new KeptAnswers()
  readonly #underWay = new SharedReads<RpcOutcome>()
  readonly #storeReads = new SharedReads<RpcOutcome | null>()

  constructor(options: RpcDoorOptions) {
    this.#options = options
    this.#methods = methodsOf(options.kind, options.enabled)
    if (options.stored) options.relay.heed(options.stored.state)
  }

  /** Null where nothing is to be answered. @throws MillraceError where no node answered a lone call */
  async answer(
    { entries, isBatch }: RpcMessage,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<RpcAnswer | null> {
    const { relay, clock, stored, filters } = this.#options
    const heights = heightsOf(relay, isBatch)
    const context: RpcContext = {
      relay,
      stored,
      filters,
      kept: this.#kept,
      underWay: this.#underWay,
      storeReads: this.#storeReads,
      heights,
      caller,
      clock,
      signal,
    }
    const answer = async (entry: (typeof entries)[number]): Promise<RpcOutcome> =>
      isCall(entry) ? this.#answerCall(entry, context, isBatch) : failed(entry.failure)
    // Sends of one account count on the order they were written in.
    const isOrdered = entries.some((entry) => isCall(entry) && this.#find(entry)?.class === 'send')
    const outcomes = isBatch
      ? await mapAtMost(isOrdered ? 1 : AT_ONCE, entries, answer, signal)
      : await Promise.all(entries.map(answer))
    const writer = new AnswerWriter()
    for (const [index, entry] of entries.entries()) {
      const outcome = outcomes[index]
      if (entry.id !== null && outcome) writer.add(entry.id, outcome)
    }
    return writer.end(isBatch)
  }

  async #answerCall(call: JsonRpcRequest, context: RpcContext, isBatch: boolean): Promise<RpcOutcome> {
    const { chainId, clock, log } = this.#options
    const method = this.#find(call)
    const name = method?.name ?? 'unknown'
    const startedMs = clock.monotonic()
    const count = (source: string) => {
      metrics.rpcAnswers.inc({ chain: chainId, method: name, source })
      const seconds = (clock.monotonic() - startedMs) / 1000
      log.debug({ chainId, method: name, source, seconds }, 'a call of JSON-RPC')
    }
    if (!method) {
      count('refused')
      return failed(methodMissing(`the method ${shown(call.method)} does not exist or is not available`))
    }
    try {
      const outcome = await this.#outcomeOf({ ...call, method: method.name }, method, context)
      count(outcome.source)
      return outcome
    } catch (error) {
      count('refused')
      if (error instanceof RpcFailureError) return failed(error.failure)
      if (isTooLarge(error)) return failed(limitExceeded('the call or its answer is too large'), 'node')
      context.signal.throwIfAborted()
      if (!isBatch || !(error instanceof MillraceError) || error.remedy !== 'retry') throw error
      log.warn({ chainId, method: name, cause: error }, 'a call of a batch failed')
      return failed(internalError(), 'node')
    }
  }

  /** The units that a request counts as in quotas. */
  unitsOf({ entries }: RpcMessage): number {
    return entries.reduce(
      (sum, entry) => sum + ((isCall(entry) && this.#find(entry)?.units) || REFUSED_UNITS),
      0,
    )
  }

  #find({ method }: JsonRpcRequest): RpcMethod | undefined {
    return this.#methods.get(chainName(method, this.#options.kind))
  }

  async #outcomeOf(call: JsonRpcRequest, method: RpcMethod, context: RpcContext): Promise<RpcOutcome> {
    switch (method.class) {
      case 'own':
        return answered(JSON.stringify(this.#own(method.name)), 'store')
      case 'head':
        return answered(`"${rpcQuantity(await context.heights.head())}"`, 'node')
      case 'socket':
        return failed(methodMissing(`${method.name} needs a WebSocket, which is not served here`))
      case 'gone':
        return failed(methodMissing(`${method.name} is gone: ${insteadOf[method.name]}`))
      case 'operator':
        return failed(notEnabled(method.name))
      case 'filter':
        return await askFilter(call, this.#options.chainId, context)
      case 'logs':
        return await askLogs(call, context)
      case 'transaction':
        return await askTransaction(call, context)
      case 'block':
      case 'state':
        return await askAtBlock(call, method, context)
      case 'send':
        return await send(call, context)
      case 'node':
        // A transaction is filled with the nonce of the newest block.
        return await ask(call, call.method === 'eth_fillTransaction' ? newest : anywhere, context)
    }
  }

  #own(name: string): string {
    if (name === 'eth_chainId') return rpcQuantity(this.#options.chainId)
    return name === 'net_version' ? String(this.#options.chainId) : 'Millrace'
  }
}

function heightsOf(relay: Relay, isPinned: boolean): Heights {
  let head: Promise<number> | undefined
  return {
    isPinned,
    head: () => {
      head ??= relay.head()
      return head
    },
    tagged: (tag) => relay.tagged(tag),
  }
}

/** A name that nobody knows may be of any length. */
const shown = (name: string): string => (/^[\w.]{1,64}$/.test(name) ? name : 'called')
