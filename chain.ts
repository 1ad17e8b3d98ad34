/**
 * One chain at work: source, worker threads, sinks and lanes put together. The way of a block is
 * `ingest/converge.ts` (fetch, check, append) -> `transform/decodeRange.ts` (verify, decode, encode, in a worker)
 * -> `store/sinks/postgres.ts` (commit) -> `store/clickhouse/lane.ts` (follow) -> `api/routes` (read).
 */
import type { ClickHouseClient } from '@clickhouse/client'
import { alignedSource } from '#ingest/alignedSource.ts'
import { backoffMs, laneBackoff, problemOf, remedyOf } from '#ingest/backoff.ts'
import { ByteBudget } from '#ingest/byteBudget.ts'
import { visitListed } from '#ingest/failpoints.ts'
import { type FollowEvent, type FollowState, follow } from '#ingest/follow.ts'
import { fillHistory, type HistoryEvent } from '#ingest/history.ts'
import { acquireLease, FencedOutError, type Lease, type LeaseOptions, waitForLease } from '#ingest/lease.ts'
import type { HistoryProgress } from '#ingest/progress.ts'
import { type BlockRange, blockCount, covers } from '#ingest/range.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { Source } from '#ingest/source.ts'
import { ChainState } from '#store/chainState.ts'
import { BatchCache } from '#store/clickhouse/batchCache.ts'
import { type ClickHouseLane, PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { openClickHouseLane } from '#store/clickhouse/openLane.ts'
import { CommitBell } from '#store/commits.ts'
import type { CallContracts } from '#store/folds/contractCalls.ts'
import type { FollowerDriver, FollowerStatus } from '#store/folds/driver.ts'
import { openFollowers } from '#store/folds/index.ts'
import { postgresLeases } from '#store/leases.ts'
import { type ChainIdentity, historyTarget, openChain } from '#store/ledger.ts'
import { type Postgres, schemaOf } from '#store/postgres.ts'
import { PostgresHistorySink } from '#store/sinks/history.ts'
import { type CommitListener, PostgresHeadSink } from '#store/sinks/postgres.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { createDecodePool, type DecodePool } from '#transform/decodePool.ts'
import type { ChainProfile, Checks } from '#transform/profile.ts'
import { MillraceError, messageOf } from './errors.ts'
import type { Runtime } from './runtime.ts'
import { type Logger, metrics } from './telemetry.ts'

export interface ChainOptions {
  readonly identity: ChainIdentity
  readonly kind: ChainProfile['kind']
  readonly checks: Checks
  readonly source: RpcSource
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  /** For what no event carries, such as tokens of genesis. */
  readonly callContracts: CallContracts
  readonly workerThreads: number
  /** Who holds the writing lease: this installation, so that a restart takes it over at once. */
  readonly holder: string
  /** Other bounds than usual, such as a test's that has a hundred blocks and wants many batches of them. */
  readonly limits?: Partial<ChainLimits>
  readonly runtime: Runtime
  readonly log: Logger
}

/** Bounds of one chain's work. */
export interface ChainLimits {
  /** Fetched and decoded bytes in flight, head and history together: memory is flat whatever the length. */
  readonly inFlightBytesMax: number
  /** Encoded batches waiting for ClickHouse; beyond it they are derived anew from the archive. */
  readonly cacheBytesMax: number
  readonly batchBlocksMax: number
  /** Ten minutes of a chain with two blocks a second: catching up takes longer than starting anew at the head. */
  readonly sealGapBlocks: number
  readonly leaseMs: number
}

const usualLimits: ChainLimits = {
  inFlightBytesMax: 192 * 1024 * 1024,
  cacheBytesMax: 192 * 1024 * 1024,
  batchBlocksMax: 200,
  sealGapBlocks: 1_200,
  leaseMs: 10_000,
}
const BATCH_BYTES_ESTIMATE = 16 * 1024 * 1024
const FETCH_WINDOW = 6
/** Two chunks keep both cores busy: one decodes while the other commits. */
const CHUNKS_IN_FLIGHT = 2
const HISTORY_IDLE_MS = 1_000

export interface LaneStatus {
  readonly state: FollowState | 'idle' | 'filling'
  readonly problem: string | null
}

/** Where this process writes. */
interface Sinks {
  readonly head: PostgresHeadSink
  readonly history: PostgresHistorySink
  readonly clickhouseLane: ClickHouseLane
}

/** A chain being indexed by this process. */
export class Chain {
  readonly state: ChainState
  readonly source: Source
  readonly profile: ChainProfile
  /** Where head and finality stood when the program started: caught up means past these. */
  startTarget: { readonly head: number; readonly finalized: number } | null = null
  historyProgress: HistoryProgress | null = null
  headStatus: LaneStatus = { state: 'running', problem: null }
  historyStatus: LaneStatus = { state: 'idle', problem: null }
  readonly #options: ChainOptions
  readonly #limits: ChainLimits
  readonly #pool: DecodePool
  readonly #cache: BatchCache
  readonly #budget: ByteBudget
  readonly #stop = new AbortController()
  #lease: Lease | null = null
  #clickhouseLane: ClickHouseLane | null = null
  #followers: FollowerDriver | null = null
  #running: Promise<unknown> = Promise.resolve()

  constructor(options: ChainOptions) {
    const { identity, postgres, workerThreads, log } = options
    this.#options = options
    this.#limits = { ...usualLimits, ...options.limits }
    this.#cache = new BatchCache(this.#limits.cacheBytesMax)
    this.#budget = new ByteBudget(this.#limits.inFlightBytesMax)
    this.source = alignedSource(options.source, PARTITION_BLOCKS)
    this.profile = {
      chainId: identity.chainId,
      kind: options.kind,
      headerRule: identity.headerRule,
      checks: options.checks,
    }
    this.state = new ChainState({
      chainId: identity.chainId,
      schema: schemaOf(identity.chainId),
      startBlock: identity.startBlock,
      postgres,
      bell: new CommitBell(),
    })
    this.#pool = createDecodePool({ threads: workerThreads, profile: this.profile, log })
  }

  get clickhouseStatus(): { readonly state: string; readonly problem: string | null } {
    return this.#clickhouseLane?.status ?? { state: 'running', problem: null }
  }

  /** Folds and balances; none while another process writes. */
  get followers(): readonly FollowerStatus[] {
    return this.#followers?.status ?? []
  }

  /** The chain's nodes, for the few reads the stores cannot answer. */
  get nodes(): RpcSource {
    return this.#options.source
  }

  /** What an operator should know of the chain's endpoints. */
  get notes(): readonly string[] {
    return this.#options.source.notes
  }

  /** Why Postgres cannot be read now, or null. */
  get storeProblem(): string | null {
    return this.state.problem
  }

  /** Starts every lane as soon as the lease is ours; until then another process writes and this one reads. */
  async start(): Promise<void> {
    await this.state.refresh()
    const reading = this.state.follow(this.#options.runtime.clock, this.#stop.signal)
    this.#running = Promise.all([reading, this.#write()])
  }

  /**
   * Brings both stores to cover `range` and returns; nothing is followed. @throws LeaseHeldError when another process
   * writes this chain
   */
  async fill(range: BlockRange, stop: AbortSignal): Promise<void> {
    const { runtime } = this.#options
    const lease = await acquireLease(this.#leaseOptions())
    const sinks = await this.#openSinks(lease)
    const done = new AbortController()
    const signal = AbortSignal.any([this.#stop.signal, stop, lease.lost, done.signal])
    const lanes = Promise.all([
      sinks.clickhouseLane.run(signal),
      this.state.follow(runtime.clock, signal),
      this.#followHead(sinks.head, signal),
    ])
    try {
      const target = await historyTarget(this.#options.postgres, this.state.chainId, range.from)
      const history = { from: range.from, to: Math.min(range.to, target.to) }
      if (blockCount(history) > 0)
        await fillHistory(this.#historyLane(sinks.history), history, this.#historyOptions(), signal)
      while (!this.#holds(range)) {
        await this.state.bell.wait(runtime.clock, HISTORY_IDLE_MS, signal)
        signal.throwIfAborted()
      }
    } finally {
      done.abort()
      await lanes
    }
  }

  /** True when both stores hold the range; throws what stopped a lane, so that nobody waits for it. */
  #holds(range: BlockRange): boolean {
    for (const lane of [this.headStatus, this.clickhouseStatus])
      if (lane.state === 'stopped' || lane.state === 'finality_violated')
        throw new ChainStoppedError(lane.problem ?? '')
    return covers(this.state.coverage('postgres'), range) && covers(this.state.coverage('clickhouse'), range)
  }

  /** Writes whenever the lease is ours. A store that is away for long costs the lease; then it is asked for again. */
  async #write(): Promise<void> {
    const { runtime, log } = this.#options
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      try {
        this.startTarget ??= await this.#readStartTarget()
        const lease = await waitForLease(this.#leaseOptions(), this.#stop.signal)
        const sinks = await this.#openSinks(lease)
        failures = 0
        await this.#runLanes(lease, sinks)
        if (!lease.lost.aborted) return
      } catch (error) {
        if (this.#stop.signal.aborted) return
        const { chainId } = this.state
        const mayPass = error instanceof FencedOutError || remedyOf(error) !== 'stop'
        this.headStatus = { state: mayPass ? 'waiting' : 'stopped', problem: messageOf(error) }
        if (!mayPass) return log.error({ chainId, ...problemOf(error) }, 'the chain stopped')
        const waitMs = backoffMs(++failures, laneBackoff, runtime.random)
        log.warn({ chainId, failures, waitMs, ...problemOf(error) }, 'the chain will try again')
        await this.#lease?.release().catch(() => {})
        await runtime.clock.sleep(waitMs, this.#stop.signal).catch(() => {})
      }
    }
  }

  async #readStartTarget() {
    const { head, finalized } = await this.source.head(this.#stop.signal)
    this.state.sawHead(head.number)
    return { head: head.number, finalized }
  }

  #leaseOptions(): LeaseOptions {
    const { identity, postgres, runtime, log, holder } = this.#options
    return {
      store: postgresLeases(postgres),
      name: `index:${identity.chainId}`,
      holder,
      ttlMs: this.#limits.leaseMs,
      runtime,
      log,
      failpoint: visitListed(runtime.failpoint),
    }
  }

  /** Opens the ledger under the lease: from here on this process is the writer. */
  async #openSinks(lease: Lease): Promise<Sinks> {
    const { identity, postgres, runtime } = this.#options
    this.#lease = lease
    const { finalized } = await this.source.head()
    await openChain(postgres, identity, Math.max(identity.startBlock, finalized + 1), lease.fence)
    await this.state.refresh()
    // What another writer did meanwhile is not in it.
    this.#cache.drop({ from: 0, to: Number.MAX_SAFE_INTEGER })
    const clickhouseLane = this.#openClickHouseLane(lease)
    this.#clickhouseLane = clickhouseLane
    const options = {
      postgres,
      schema: this.state.schema,
      fence: lease.fence,
      listener: this.#commitListener(clickhouseLane),
      failpoint: runtime.failpoint,
    }
    return { head: new PostgresHeadSink(options), history: new PostgresHistorySink(options), clickhouseLane }
  }

  /** Ends every lane at its next safe point and gives the lease back. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
    await this.#lease?.release().catch(() => {})
    await this.#pool.close()
    await this.source.close()
  }

  /** Caught up: both stores cover what the chain had when the program started (ClickHouse: what was final). */
  caughtUp(scope: 'all' | 'head'): boolean {
    const target = this.startTarget
    if (!target) return false
    const { startBlock } = this.state
    const postgres = this.state.coverage('postgres')
    if (scope === 'head') return this.state.tip >= target.head
    const needed = { from: startBlock, to: target.head }
    const final = { from: startBlock, to: target.finalized }
    return (
      (needed.to < needed.from || covers(postgres, needed)) &&
      (final.to < final.from || covers(this.state.coverage('clickhouse'), final))
    )
  }

  #runLanes(lease: Lease, sinks: Sinks): Promise<unknown> {
    const signal = AbortSignal.any([this.#stop.signal, lease.lost])
    const { state } = this
    this.#followers = openFollowers({ ...this.#options, state, fence: lease.fence })
    return Promise.all([
      this.#followHead(sinks.head, signal),
      this.#keepHistory(sinks.history, signal),
      sinks.clickhouseLane.run(signal),
      this.#followers.run(signal),
    ])
  }

  #openClickHouseLane(lease: Lease): ClickHouseLane {
    const { identity, postgres, clickhouse, runtime, log } = this.#options
    const chain = String(identity.chainId)
    return openClickHouseLane({
      postgres,
      clickhouse,
      chainId: identity.chainId,
      lease,
      runtime,
      log,
      cache: this.#cache,
      decode: (raw) => this.#pool.decode(raw),
      onWritten: (range, rows) => {
        metrics.tipBlock.set({ chain, store: 'clickhouse' }, range.to)
        metrics.blocksCommitted.inc({ chain, store: 'clickhouse', lane: 'all' }, blockCount(range))
        metrics.rowsCommitted.inc({ chain, store: 'clickhouse' }, rows)
        this.#wake()
      },
    })
  }

  #commitListener(clickhouseLane: ClickHouseLane): CommitListener {
    const chain = String(this.#options.identity.chainId)
    return {
      appended: async (batch, lane) => {
        this.#cache.add(batch)
        metrics.blocksCommitted.inc({ chain, store: 'postgres', lane }, blockCount(batch.range))
        metrics.rowsCommitted.inc({ chain, store: 'postgres' }, rowCount(batch))
        if (lane === 'head') metrics.tipBlock.set({ chain, store: 'postgres' }, batch.range.to)
        this.#wake()
        if (lane === 'history' && !clickhouseLane.failing) await this.#cache.room()
      },
      reverted: (range) => {
        this.#cache.drop(range)
        this.#wake()
      },
    }
  }

  /** Readers look again; a read that fails keeps the old picture and the next poll mends it. */
  #wake(): void {
    this.state.refresh().then(
      () => this.state.bell.ring(),
      () => this.state.bell.ring(),
    )
  }

  async #followHead(sink: PostgresHeadSink, signal: AbortSignal): Promise<void> {
    const { identity, runtime, log } = this.#options
    const lane = {
      source: this.source,
      decode: this.#pool.decode,
      failpoint: visitListed(runtime.failpoint),
      lane: 'head' as const,
      sink,
      startBlock: identity.startBlock,
      batchBlocksMax: this.#limits.batchBlocksMax,
      sealGapBlocks: this.#limits.sealGapBlocks,
    }
    const observe = (event: FollowEvent) => this.#observeHead(event)
    const end = await follow(lane, { runtime, log, ahead: this.#ahead(), observe }, signal)
    if (end.reason === 'stopped') this.headStatus = { state: end.state, problem: messageOf(end.error) }
  }

  #observeHead(event: FollowEvent): void {
    if (event.type === 'target') this.state.sawHead(event.head.number)
    if (event.type === 'finalized') this.#wake()
    if (event.type === 'state')
      this.headStatus = { state: event.state, problem: event.problem?.message ?? null }
  }

  /** History is whatever the head lane's segment leaves below it; a sealed segment leaves more. */
  async #keepHistory(sink: PostgresHistorySink, signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#options
    this.historyStatus = { state: 'idle', problem: null }
    while (!signal.aborted) {
      const target = await this.#missingHistory().catch(() => null)
      if (!target) {
        await runtime.clock.sleep(HISTORY_IDLE_MS, signal).catch(() => {})
        continue
      }
      try {
        this.historyStatus = { state: 'filling', problem: null }
        await fillHistory(this.#historyLane(sink), target, this.#historyOptions(), signal)
        this.historyStatus = { state: 'idle', problem: null }
        this.#wake()
        await this.state.refresh().catch(() => {})
      } catch (error) {
        if (signal.aborted) return
        this.historyStatus = { state: 'stopped', problem: messageOf(error) }
        log.error({ chainId: this.#options.identity.chainId, error: messageOf(error) }, 'history stopped')
        return
      }
    }
  }

  #historyLane(sink: PostgresHistorySink) {
    const { runtime } = this.#options
    const failpoint = visitListed(runtime.failpoint)
    return { source: this.source, decode: this.#pool.decode, failpoint, lane: 'history' as const, sink }
  }

  #historyOptions() {
    const { runtime, log } = this.#options
    const observe = (event: HistoryEvent) => {
      if (event.type === 'progress') this.historyProgress = event.progress
      if (event.type === 'waiting') this.historyStatus = { state: 'filling', problem: event.problem.message }
      if (event.type === 'attached') this.#wake()
    }
    return { runtime, log, ahead: this.#ahead(), chunksMax: CHUNKS_IN_FLIGHT, observe }
  }

  /** Null while there is nothing to fill. */
  async #missingHistory(): Promise<BlockRange | null> {
    const { postgres, identity } = this.#options
    const target = await historyTarget(postgres, identity.chainId, identity.startBlock)
    return blockCount(target) > 0 && !covers(this.state.coverage('postgres'), target) ? target : null
  }

  #ahead() {
    return {
      windowMax: FETCH_WINDOW,
      batchBlocksMax: this.#limits.batchBlocksMax,
      batchBytesEstimate: BATCH_BYTES_ESTIMATE,
      budget: this.#budget,
    }
  }
}

const rowCount = (batch: EncodedBatch): number =>
  Object.values(batch.tables).reduce((sum, table) => sum + table.rowCount, 0)

/** A lane of the chain came to rest before its work was done; the message says why. */
export class ChainStoppedError extends MillraceError {
  override readonly name = 'ChainStoppedError'
  readonly code = 'chain_stopped'
  readonly remedy = 'stop'
}
