/**
 * All live queries of the program: clients that ask the same share one execution, and the number of
 * queries is bounded.
 */
import { messageOf } from '#errors.ts'
import { ApiError } from '#http/errors.ts'
import { anonymous, type Caller, isStranger, partyOf } from '#http/request/access.ts'
import { SharedReads } from '#http/SharedReads.ts'
import type { EventStream } from '#http/stream/sse.ts'
import type { RangeSet } from '#ingest/range.ts'
import type { Engine } from '#primitives.ts'
import type { QueryRequest, QueryResult, UserQueryEngine } from '#query/result.ts'
import { sqlSlotErrors } from '#query/slotLimits.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import type { Clock } from '#runtime/runtime.ts'
import { everybody, Slots } from '#runtime/Slots.ts'
import type { Logger } from '#telemetry.ts'
import type { ChainReads } from '../services.ts'
import { ClickHouseFeed } from './ClickHouseFeed.ts'
import type { RunBlock } from './feed.ts'
import { retryingFrame } from './frames.ts'
import type { LiveMode } from './LiveModes.ts'
import { LiveQuery } from './LiveQuery.ts'
import { PostgresFeed } from './PostgresFeed.ts'
import { type HeldPlace, placeToYield } from './places.ts'
import { SnapshotQuery } from './SnapshotQuery.ts'

/** A client's request to be kept told. */
export interface LiveRequest {
  readonly mode: LiveMode
  readonly chainId: number
  readonly engine: Engine
  readonly sql: string
  readonly signatures: readonly string[]
  readonly limit: number
  readonly timeoutMs: number
  readonly caller: Caller
}

export interface LiveHubOptions {
  readonly chains: ReadonlyMap<number, ChainReads>
  readonly engines: Readonly<Record<Engine, UserQueryEngine>>
  readonly clock: Clock
  readonly log: Logger
}

/** Each distinct query runs with every block; this many take both cores some 300 ms a block. */
export const QUERIES_MAX = 64
/** Clients share frames, so that one costs a socket and what it leaves unread. */
export const CLIENTS_MAX = 5_000
/** Streams of one key, person or network address: a page of charts has fewer. */
export const CLIENTS_PER_CALLER_MAX = 20
/** Half of an engine's slots: queries asked once are not starved by those that repeat. */
const slotLimits = { postgres: 2, clickhouse: 1 } as const
/** A checked request is served at once; one that is not served by then gives its place back. */
const HELD_MS_MAX = 5_000
/**
 * Executions for clients that catch up, one by one, beside those that are for all: a crowd of them
 * delays itself alone.
 */
const CATCH_UP_SLOTS = 1
/** Whole answers that run at a time: on Postgres the other slot is for rows of new blocks. */
const WHOLE_SLOTS = 1
/**
 * A live execution waits for its turn as long as others have theirs; it has no other time to be
 * asked.
 */
const TURN_MS_MAX = 60_000

interface Served {
  run(signal: AbortSignal): Promise<void>
  serve(stream: EventStream, lastEventId: string | undefined): Promise<void>
}

interface Shared {
  readonly query: Served
  readonly stop: AbortController
  readonly sinceMs: number
  /** With the party of each, the one that began first. */
  readonly clients: Map<EventStream, string>
}

/** A place among the different queries: of one that runs, or that is being checked. */
interface Place extends HeldPlace {
  readonly yield: () => void
}

export class LiveHub {
  readonly #options: LiveHubOptions
  readonly #shared = new Map<string, Shared>()
  readonly #slots: Readonly<Record<Engine, Slots>>
  readonly #catchUpSlots: Readonly<Record<Engine, Slots>>
  readonly #wholeSlots: Readonly<Record<Engine, Slots>>
  /** Clients that ask the same at the same time are checked by one execution. */
  readonly #checks = new SharedReads<void>()
  /** Requests that are not served yet; each has its place until it is served or refused. */
  readonly #checking = new Map<LiveRequest, { readonly sinceMs: number }>()
  readonly #feeds = new Map<
    number,
    { readonly postgres: PostgresFeed; readonly clickhouse: ClickHouseFeed }
  >()
  readonly #callers = new Map<string, number>()
  #clients = 0

  constructor(options: LiveHubOptions) {
    this.#options = options
    const slots = (running: number) =>
      new Slots(
        { running, waiting: QUERIES_MAX + CLIENTS_MAX, waitMs: TURN_MS_MAX },
        options.clock,
        sqlSlotErrors,
      )
    this.#slots = { postgres: slots(slotLimits.postgres), clickhouse: slots(slotLimits.clickhouse) }
    this.#catchUpSlots = { postgres: slots(CATCH_UP_SLOTS), clickhouse: slots(CATCH_UP_SLOTS) }
    this.#wholeSlots = { postgres: slots(WHOLE_SLOTS), clickhouse: slots(WHOLE_SLOTS) }
    for (const [id, chain] of options.chains)
      this.#feeds.set(id, { postgres: new PostgresFeed(chain), clickhouse: new ClickHouseFeed(chain) })
  }

  /** Distinct queries, and clients of all of them; for /metrics and tests. */
  get size(): { readonly queries: number; readonly clients: number } {
    return { queries: this.#shared.size, clients: this.#clients }
  }

  /**
   * Checks a request before the first byte is sent. From now on it counts, so that many at once
   * find the bounds too; a refused one leaves nothing behind.
   * @throws UserQueryError, or ApiError `overloaded` or `rate_limit_exceeded`
   */
  async check(request: LiveRequest, signal: AbortSignal): Promise<void> {
    this.#assertRoom(request)
    if (this.#shared.has(keyOf(request))) return
    this.#checking.set(request, { sinceMs: this.#options.clock.monotonic() })
    try {
      await this.#checks.join(keyOf(request), signal, (together) => this.#assertRuns(request, together))
    } catch (error) {
      this.#checking.delete(request)
      throw error
    }
    void this.#giveBack(request, signal)
  }

  /**
   * The place of a request that is not served after all: its client went, or asked for the head of
   * the answer alone.
   */
  async #giveBack(request: LiveRequest, signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(HELD_MS_MAX, signal).catch(() => {})
    this.#checking.delete(request)
  }

  async #assertRuns(request: LiveRequest, signal: AbortSignal): Promise<void> {
    const { relations } = await this.#run(request, this.#newest(request), signal)
    if (relations.length > 0) return
    throw new UserQueryError('sql_refused', 'the query reads no table, so no block changes its result', {
      hint: 'name a table in FROM, or ask without live',
    })
  }

  #assertRoom({ caller, ...request }: LiveRequest): void {
    const checking = [...this.#checking.keys()]
    const ofCaller = checking.filter((other) => other.caller.id === caller.id).length
    const isTold = caller.kind !== 'operator' && caller !== anonymous
    if (isTold && this.#clientsOf(caller) + ofCaller >= CLIENTS_PER_CALLER_MAX) throw tooManyOfOne()
    if (this.#clients + checking.length >= CLIENTS_MAX) throw overloaded('too many clients of live queries')
    const key = keyOf({ ...request, caller })
    if (this.#shared.has(key) || checking.some((other) => keyOf(other) === key)) return
    const held = this.#held()
    if (held.length < QUERIES_MAX) return
    const place = placeToYield(held, partyOf(caller), this.#options.clock.monotonic())
    if (!place) throw overloaded('too many different live queries')
    place.yield()
  }

  #held(): readonly Place[] {
    const running = [...this.#shared].map(([key, shared]) => placeOf(shared, () => this.#yield(key, shared)))
    const checking = Map.groupBy(this.#checking, ([request]) => keyOf(request))
    for (const key of this.#shared.keys()) checking.delete(key)
    const checked = [...checking.values()].flatMap((same) => {
      const [first] = same
      const giveUp = () => {
        for (const [request] of same) this.#checking.delete(request)
      }
      return first ? { party: partyOf(first[0].caller), clients: 0, ...first[1], yield: giveUp } : []
    })
    return [...running, ...checked]
  }

  /** Ends a query whose place is another's now; its clients come back, and wait their turn. */
  #yield(key: string, shared: Shared): void {
    for (const stream of shared.clients.keys()) {
      stream.send(retryingFrame(new UserQueryError('sql_busy', 'the place of this query is another’s now')))
      stream.close()
    }
    this.#end(key, shared)
  }

  /**
   * Serves a checked request until the client goes. One for which there is no room by now is told
   * so, and ends.
   */
  async serve(request: LiveRequest, stream: EventStream, lastEventId: string | undefined): Promise<void> {
    this.#checking.delete(request)
    try {
      this.#assertRoom(request)
    } catch (error) {
      stream.send(retryingFrame(new UserQueryError('sql_busy', messageOf(error), { cause: error })))
      return
    }
    const key = keyOf(request)
    const shared = this.#shared.get(key) ?? this.#start(key, request)
    shared.clients.set(stream, partyOf(request.caller))
    this.#clients += 1
    this.#callers.set(request.caller.id, this.#clientsOf(request.caller) + 1)
    try {
      await shared.query.serve(stream, lastEventId)
    } finally {
      shared.clients.delete(stream)
      this.#clients -= 1
      this.#leave(request.caller)
      if (shared.clients.size === 0) this.#end(key, shared)
    }
  }

  #clientsOf({ id }: Caller): number {
    return this.#callers.get(id) ?? 0
  }

  #leave(caller: Caller): void {
    const left = this.#clientsOf(caller) - 1
    if (left > 0) this.#callers.set(caller.id, left)
    else this.#callers.delete(caller.id)
  }

  #start(key: string, request: LiveRequest): Shared {
    const stop = new AbortController()
    const query =
      request.mode === 'blocks' ? this.#perBlock(request, stop.signal) : this.#snapshot(request, stop.signal)
    const shared: Shared = { query, stop, sinceMs: this.#options.clock.monotonic(), clients: new Map() }
    this.#shared.set(key, shared)
    query.run(stop.signal).catch((error: unknown) => {
      this.#options.log.error({ error: messageOf(error) }, 'a live query ended through a defect of ours')
      this.#end(key, shared)
    })
    return shared
  }

  #perBlock(request: LiveRequest, signal: AbortSignal): Served {
    const { clock, log } = this.#options
    const { state } = this.#chainOf(request.chainId)
    const run: RunBlock = (block) => this.#run(request, [{ from: block, to: block }], signal)
    const catchUp: RunBlock = (block) =>
      this.#run(request, [{ from: block, to: block }], signal, this.#catchUpSlots)
    const common = { run, catchUp, bell: state.bell, finalized: () => state.finalized, clock, log }
    const { postgres, clickhouse } = this.#feedsOf(request.chainId)
    return request.engine === 'postgres'
      ? new LiveQuery({ ...common, feed: postgres })
      : new LiveQuery({ ...common, feed: clickhouse })
  }

  #snapshot(request: LiveRequest, signal: AbortSignal): Served {
    const { clock, log } = this.#options
    const { state } = this.#chainOf(request.chainId)
    const run = () => this.#run(request, state.coverage(request.engine), signal)
    return new SnapshotQuery({
      run: () => this.#wholeSlots[request.engine].run(run, signal, partyOf(request.caller)),
      // A revert and its replacement may leave the same heights, so on Postgres the number of the
      // commit counts too.
      version: () =>
        JSON.stringify([request.engine === 'postgres' && state.seq, state.coverage(request.engine)]),
      bell: state.bell,
      clock,
      log,
    })
  }

  #end(key: string, shared: Shared): void {
    shared.stop.abort()
    if (this.#shared.get(key) === shared) this.#shared.delete(key)
  }

  #run(
    request: LiveRequest,
    blocks: RangeSet,
    signal: AbortSignal,
    slots = this.#slots,
  ): Promise<QueryResult> {
    const { engine, chainId, sql, signatures, limit, timeoutMs } = request
    // A query that many watch is the one's that began it.
    const behind = isStranger(request.caller)
    const asked: QueryRequest = { chainId, sql, signatures, limit, timeoutMs, blocks, signal, behind }
    const party = partyOf(request.caller)
    return slots[engine].run(() => this.#options.engines[engine].run(asked), signal, party)
  }

  /** The newest block alone: enough to learn whether a query runs, and cheap. */
  #newest({ engine, chainId }: LiveRequest): RangeSet {
    const newest = this.#chainOf(chainId).state.coverage(engine).at(-1)?.to
    return newest === undefined ? [] : [{ from: newest, to: newest }]
  }

  #feedsOf(chainId: number) {
    const feeds = this.#feeds.get(chainId)
    if (!feeds) throw new Error(`chain ${chainId} is served but has no live feeds`)
    return feeds
  }

  #chainOf(chainId: number): ChainReads {
    const chain = this.#options.chains.get(chainId)
    if (!chain) throw new Error(`chain ${chainId} is served but has no services`)
    return chain
  }
}

function placeOf({ clients, sinceMs }: Shared, giveUp: () => void): Place {
  const [party = everybody] = clients.values()
  return { party, clients: clients.size, sinceMs, yield: giveUp }
}

/** The same question gets the same frames. */
const keyOf = ({ mode, engine, chainId, limit, timeoutMs, sql, signatures }: LiveRequest): string =>
  JSON.stringify([mode, engine, chainId, limit, timeoutMs, sql.trim(), signatures])

const tooManyOfOne = (): ApiError =>
  new ApiError(
    'rate_limit_exceeded',
    `A key may have ${CLIENTS_PER_CALLER_MAX} live queries open; end one first.`,
    {
      headers: { 'retry-after': '5' },
    },
  )

const overloaded = (message: string): ApiError =>
  new ApiError('overloaded', `${message}; retry shortly.`, { headers: { 'retry-after': '5' } })
