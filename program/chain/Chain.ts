/**
 * One chain at work: source, worker threads, stores and lanes put together. The way of a block is
 * `ingest/lanes/converge.ts` (fetch, check, append) -> `transform/decode/decodeRange.ts` (verify,
 * decode, encode, in a worker) -> `store/ledger/PostgresHeadSink.ts` (commit) -> `store/clickhouse/lane.ts`
 * (follow) -> `api/routes` (read). `program/chain/ChainWriter.ts` is the half that writes, while
 * the lease is ours.
 */

import { messageOf } from '#errors.ts'
import { alignedSource } from '#ingest/alignedSource.ts'
import { ByteBudget } from '#ingest/ByteBudget.ts'
import { Givers } from '#ingest/Givers.ts'
import type { HistoryProgress } from '#ingest/lanes/progress.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { LoosePart } from '#ingest/read/looseParts.ts'
import type { Relay } from '#ingest/relay/Relay.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { Source } from '#ingest/source.ts'
import { isKnownChain } from '#ingest/verify/knownChains.ts'
import { drawSenderSample } from '#ingest/verify/senders/senderSample.ts'
import { postgresLeases } from '#rows/leases.ts'
import { backoffMs, laneBackoff, problemOf, remedyOf } from '#runtime/backoff.ts'
import { visitListed } from '#runtime/failpoints.ts'
import { acquireLease, FencedOutError, type Lease, type LeaseOptions, waitForLease } from '#runtime/lease.ts'
import { type Next, repeat } from '#runtime/repeat.ts'
import { BatchCache } from '#store/clickhouse/BatchCache.ts'
import { PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { type AuditStatus, nothingAudited } from '#store/compare/Audit.ts'
import type { FollowerStatus } from '#store/follow/FollowerDriver.ts'
import { ChainState } from '#store/ledger/ChainState.ts'
import { chainLease } from '#store/ledger/chainLease.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { type ChainIdentity, keepLooseParts, keepRules, readChainIdentity } from '#store/ledger/ledger.ts'
import { schemaOf } from '#store/sql.ts'
import { metrics } from '#telemetry.ts'
import { createDecodePool } from '#transform/decode/decodePool.ts'
import type { ChainProfile } from '#transform/profile.ts'
import { ChainFinality, type FinalityStatus } from '../finality/ChainFinality.ts'
import { type ChainActivity, hasCaughtUp, idleActivity, type LaneStatus } from './activity.ts'
import { ChainWriter } from './ChainWriter.ts'
import { describeAlone, describeProof } from './chainRules.ts'
import { ForkWatch } from './ForkWatch.ts'
import { type ChainOptions, usualLimits } from './options.ts'
import { ProvisionalRules } from './ProvisionalRules.ts'
import { RuleWatch } from './RuleWatch.ts'
import { describeUnproved } from './UnprovedBlocks.ts'
import type { Writing } from './writing.ts'

export type { ChainLimits, ChainOptions } from './options.ts'

type Rules = Pick<ChainIdentity, 'headerRule' | 'loose' | 'alone' | 'dropped'>

/** A process that stands by asks for the head this often. */
const STANDBY_HEAD_MS = 2_000

/** A chain being indexed by this process. */
export class Chain {
  readonly state: ChainState
  readonly source: Source
  /** Forks that the endpoints announce and this version does not know. */
  readonly forks: ForkWatch
  /** Certificates of the chain's finality. */
  readonly certificates: ChainFinality
  /** The head and finality when the program started: caught up means past these. */
  startTarget: { readonly head: number; readonly finalized: number } | null = null
  readonly #options: ChainOptions
  readonly #activity: ChainActivity
  readonly #writing: Writing
  #profile: ChainProfile
  #alone: readonly LoosePart[]
  readonly #stop = new AbortController()
  /** The one that writes now, or wrote last. */
  #writer: ChainWriter | null = null
  #running: Promise<unknown> = Promise.resolve()

  constructor(options: ChainOptions) {
    const { identity, workerThreads, log } = options
    const { chainId, headerRule, loose = [], dropped = [], alone = [] } = identity
    this.#options = options
    this.#activity = idleActivity(options.runtime.clock)
    const endpoints = () => options.source.endpoints().map(({ name }) => name)
    const givers = new Givers({ ...options.runtime, endpoints })
    const aligned = alignedSource(options.source, PARTITION_BLOCKS)
    this.source = givers.remembering(aligned)
    this.#profile = { chainId, kind: options.kind, headerRule, loose, dropped, checks: options.checks }
    this.#alone = alone
    this.forks = this.#watchForks()
    this.state = new ChainState({
      chainId,
      schema: schemaOf(chainId),
      startBlock: identity.startBlock,
      postgres: options.postgres,
      bell: new CommitBell(),
    })
    options.notices?.add(this.state)
    const lease = () => this.#writer?.lease ?? null
    this.certificates = new ChainFinality({ ...options, reached: options.finality, state: this.state, lease })
    const limits = { ...usualLimits, ...options.limits }
    const senders = drawSenderSample(options.runtime.random, limits.sendersOneIn)
    const pool = createDecodePool({ threads: workerThreads, profile: this.#profile, log })
    this.#writing = {
      options,
      limits,
      source: this.source,
      otherSource: givers.elsewhere(aligned),
      pool,
      decode: this.#watchRules().watching((raw, signal) => pool.decode(raw, signal, senders)),
      cache: new BatchCache(limits.cacheBytesMax),
      budget: new ByteBudget(limits.inFlightBytesMax),
      state: this.state,
      activity: this.#activity,
    }
  }

  /** The rules its blocks are decoded by now. */
  get profile(): ChainProfile {
    return this.#profile
  }

  /** Rules that one endpoint of several told alone. */
  get provisional(): readonly LoosePart[] {
    return this.profile.checks === 'roots' ? this.#alone : []
  }

  /** Blocks, or parts of them, that one endpoint's word alone stands for, in words; null for none. */
  get unproved(): string | null {
    const { head, history } = this.#activity.unproved
    const told = head.told ?? history.told
    if (!told) return describeAlone(this.provisional.filter((part) => part !== 'header'))
    return describeUnproved(told)
  }

  /** `standby` while another process holds the lease, or none does. */
  get role(): 'writer' | 'standby' {
    return this.#writer && !this.#writer.lease.lost.aborted ? 'writer' : 'standby'
  }

  get finality(): FinalityStatus {
    return this.certificates.status
  }

  get headStatus(): LaneStatus {
    return this.#activity.head
  }

  get historyStatus(): LaneStatus {
    return this.#activity.history
  }

  get historyProgress(): HistoryProgress | null {
    return this.#activity.historyProgress
  }

  /** Receipts left out since the start: told beside a block, and none of its own. */
  get foreignReceipts(): number {
    return this.#activity.foreignReceipts
  }

  get clickhouseStatus(): { readonly state: string; readonly problem: string | null } {
    return this.#writer?.clickhouseLane.status ?? { state: 'running', problem: null }
  }

  /** Null where the operator wants none; one that waits while another process writes. */
  get audit(): AuditStatus | null {
    if (this.#options.auditPercentPerDay === undefined) return null
    return this.#writer?.audit?.status ?? nothingAudited
  }

  /** Folds and balances; none while another process writes. */
  get followers(): readonly FollowerStatus[] {
    return this.#writer?.followers.status ?? []
  }

  /** The chain's nodes, for the few reads the stores cannot answer. */
  get nodes(): RpcSource {
    return this.#options.source
  }

  /** The calls of clients. */
  get relay(): Relay {
    return this.#options.relay
  }

  /** Notes on the chain's endpoints for the operator. */
  get notes(): readonly string[] {
    const own = [...describeProof(this.profile, this.provisional), this.certificates.note]
    return [...this.#options.source.notes, ...own.filter((note) => note !== null)]
  }

  /** Why Postgres cannot be read now, or null. */
  get storeProblem(): string | null {
    return this.state.problem
  }

  /**
   * Starts every lane as soon as the lease is ours; until then another process writes and this one
   * reads.
   */
  async start(): Promise<void> {
    this.#tellRole()
    await this.state.refresh()
    const reading = this.state.follow(this.#options.runtime.clock, this.#stop.signal)
    const watching = this.#hasForks ? this.forks.run(this.#stop.signal) : null
    this.#running = Promise.all([reading, watching, this.certificates.run(this.#stop.signal), this.#write()])
  }

  /**
   * Brings both stores to cover what `rangeOf` makes of the newest final block (-1: none), and returns.
   * @throws LeaseHeldError when another process writes this chain, ChainStoppedError
   */
  async fill(rangeOf: (finalized: number) => BlockRange | null, stop: AbortSignal): Promise<void> {
    if (this.#hasForks) await this.forks.look(stop).catch(() => {})
    const writer = await this.#openWriter(await acquireLease(this.#leaseOptions()))
    await this.certificates.look(stop)
    const range = rangeOf((await this.source.head(stop)).finalized)
    if (range) await writer.fill(range, AbortSignal.any([this.#stop.signal, stop]))
  }

  /** Ends every lane at its next safe point and gives the lease back. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
    await this.#writer?.lease.release().catch(() => {})
    await this.#writing.pool.close()
    await this.certificates.close()
    await this.relay.close()
    await this.source.close()
  }

  /**
   * Caught up: both stores cover what the chain had when the program started (ClickHouse: what was
   * final).
   */
  caughtUp(scope: 'all' | 'head'): boolean {
    return this.startTarget !== null && hasCaughtUp(this.state, this.startTarget, scope)
  }

  /**
   * Writes whenever the lease is ours. A store that is away for long costs the lease; then it is
   * asked for again.
   */
  async #write(): Promise<void> {
    const { clock } = this.#options.runtime
    const { signal } = this.#stop
    let failures = 0
    const failed = (error: unknown) => this.#failed(error, ++failures)
    await repeat({ clock, signal, failed }, async () => {
      this.startTarget ??= await this.#readStartTarget()
      const lease = await this.#waitForLease(signal)
      const writer = await this.#openWriter(lease)
      failures = 0
      await this.#confirming(writer, () => writer.run(signal))
      return lease.lost.aborted ? 0 : 'ended'
    })
  }

  /** The process that wrote before may have learned more of the chain than was known at our start. */
  async #openWriter(lease: Lease): Promise<ChainWriter> {
    const { postgres, identity } = this.#options
    this.#writer = await ChainWriter.open(this.#writing, lease)
    this.#tellRole()
    lease.lost.addEventListener('abort', () => this.#tellRole(), { once: true })
    const held = await readChainIdentity(postgres, identity.chainId)
    if (held) this.#adopt(held)
    await this.certificates.load()
    return this.#writer
  }

  #tellRole(): void {
    metrics.writer.set({ chain: String(this.state.chainId) }, this.role === 'writer' ? 1 : 0)
  }

  /** Elsewhere no fork is known. */
  get #hasForks(): boolean {
    return this.profile.kind === 'tempo' || isKnownChain(this.profile.chainId)
  }

  #watchForks(): ForkWatch {
    const { source, identity, runtime, log } = this.#options
    const adopt = (unknownForkFrom: number | null) => {
      const { unknownForkFrom: _, ...profile } = this.#profile
      this.#profile = unknownForkFrom === null ? profile : { ...profile, unknownForkFrom }
      this.#writing.pool.adopt(this.#profile)
    }
    return new ForkWatch({ source, chainId: identity.chainId, adopt, clock: runtime.clock, log })
  }

  #watchRules(): RuleWatch {
    const { source, postgres, identity, runtime, log } = this.#options
    const keep = async (loose: readonly LoosePart[]): Promise<boolean> => {
      const lease = this.#writer?.lease
      if (!lease || lease.lost.aborted) return false
      await keepLooseParts(postgres, identity.chainId, loose, lease.fence)
      this.#adopt({ ...this.#profile, loose, alone: this.#alone })
      return true
    }
    const profile = () => this.#profile
    return new RuleWatch({ source, profile, keep, clock: runtime.clock, log, stop: this.#stop.signal })
  }

  /** Asks a second endpoint what one told alone, beside the lanes. */
  async #confirming({ lease, audit }: ChainWriter, lanes: () => Promise<void>): Promise<void> {
    const { source, postgres, identity, runtime, log } = this.#options
    const { chainId } = identity
    const ended = new AbortController()
    const rules = new ProvisionalRules({
      ...{ source, chainId, clock: runtime.clock, log },
      rules: () => ({
        headerRule: this.profile.headerRule,
        loose: this.profile.loose ?? [],
        alone: this.provisional,
      }),
      keep: async (changed, dropped) => {
        await keepRules(postgres, chainId, { ...changed, dropped }, lease.fence)
        this.#adopt({ ...changed, dropped: [...(this.profile.dropped ?? []), ...dropped] })
        if (dropped.length > 0) audit?.readAgain()
      },
    })
    const confirmed = rules.run(AbortSignal.any([this.#stop.signal, lease.lost, ended.signal]))
    try {
      await lanes()
    } finally {
      ended.abort()
      await confirmed
    }
  }

  /** For every range from now on: the rules travel with it to the workers. */
  #adopt({ headerRule, loose = [], dropped = [], alone = [] }: Rules): void {
    this.#profile = { ...this.#profile, headerRule, loose, dropped }
    this.#alone = alone
    this.#writing.pool.adopt(this.#profile)
  }

  /** While another process writes, nobody else here asks where the head is. */
  async #waitForLease(stop: AbortSignal): Promise<Lease> {
    const waiting = new AbortController()
    const heads = this.#watchHead(AbortSignal.any([stop, waiting.signal]))
    try {
      return await waitForLease(this.#leaseOptions(), stop)
    } finally {
      waiting.abort()
      await heads
    }
  }

  async #watchHead(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.runtime
    // Where no node answers now, the endpoints say so in /status.
    const failed = () => STANDBY_HEAD_MS
    await repeat({ clock, signal, firstMs: STANDBY_HEAD_MS, failed }, async () => {
      if (this.state.demand.take()) this.#options.notices?.tellRead(this.state.schema)
      this.state.sawHead((await this.source.head(signal)).head.number)
      return STANDBY_HEAD_MS
    })
  }

  /** Says what went wrong, and when to try again; never when a person has to act first. */
  async #failed(error: unknown, failures: number): Promise<Next> {
    const { runtime, log } = this.#options
    const { chainId } = this.state
    const mayPass = error instanceof FencedOutError || remedyOf(error) !== 'stop'
    this.#activity.head = { state: mayPass ? 'waiting' : 'stopped', problem: messageOf(error) }
    if (!mayPass) {
      log.error({ chainId, ...problemOf(error) }, 'the chain stopped')
      return 'ended'
    }
    const waitMs = backoffMs(failures, laneBackoff, runtime.random)
    log.warn({ chainId, failures, waitMs, ...problemOf(error) }, 'the chain will try again')
    await this.#writer?.lease.release().catch(() => {})
    return waitMs
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
      name: chainLease(identity.chainId),
      holder,
      ttlMs: this.#writing.limits.leaseMs,
      runtime,
      log,
      failpoint: visitListed(runtime.failpoint),
      tookOver: () =>
        log.info({ chainId: this.state.chainId }, 'took over: this process writes the chain now'),
      conflict: (problem) => {
        this.#activity.head = { state: 'waiting', problem }
      },
    }
  }
}
