/**
 * One simulated process: the real lease, source, verification, decoding, lanes and sink, put
 * together as program/chain/Chain.ts does, over simulated stores and nodes. Killing it drops
 * everything in memory; what it had sent may still arrive.
 */
import { alignedSource } from '#ingest/alignedSource.ts'
import { ByteBudget } from '#ingest/ByteBudget.ts'
import type { AheadOptions } from '#ingest/lanes/fetchAhead.ts'
import { follow } from '#ingest/lanes/follow.ts'
import { fillHistory } from '#ingest/lanes/history.ts'
import { proveFinality } from '#ingest/lanes/proveFinality.ts'
import type { BlockRange } from '#ingest/range.ts'
import { openRelay } from '#ingest/relay/openRelay.ts'
import type { OpenTransport } from '#ingest/rpc/client/client.ts'
import { createSource, type PooledSource } from '#ingest/rpc/rpcSource.ts'
import type { RawRange, Source } from '#ingest/source.ts'
import { everySender } from '#ingest/verify/senders/senderSample.ts'
import { backoffMs, laneBackoff, remedyOf } from '#runtime/backoff.ts'
import { FencedOutError, type Lease, waitForLease } from '#runtime/lease.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { BatchCache } from '#store/clickhouse/BatchCache.ts'
import { ClickHouseSink } from '#store/clickhouse/ClickHouseSink.ts'
import { ClickHouseLane } from '#store/clickhouse/lane.ts'
import { silentLogger } from '#telemetry.ts'
import { sameRows } from '#transform/batch.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import { BatchEncoder } from '#transform/encode/BatchEncoder.ts'
import { EncodeError } from '#transform/encode/values.ts'
import { namedHolder } from '../support/namedHolder.ts'
import type { Bugs } from './bugs.ts'
import { askAsClient } from './client.ts'
import { type Kernel, ProcessClock, type SimProcess } from './kernel.ts'
import type { SimBatch } from './ledgerState.ts'
import { type SimNode, simNetwork } from './nodes.ts'
import { plantInHead, plantInJournal, plantInRows, plantInSource, plantInTables } from './plant.ts'
import type { SimClickHouse } from './simClickHouse.ts'
import { headSink } from './simHead.ts'
import { historySink } from './simHistory.ts'
import { journalOf, laneLedger } from './simJournal.ts'
import { leasesOf, missingHistory, openLedger } from './simLease.ts'
import type { SimLedger } from './simLedger.ts'

export interface IndexerOptions {
  readonly kernel: Kernel
  readonly process: SimProcess
  readonly nodes: readonly SimNode[]
  readonly ledger: SimLedger
  readonly clickhouse: SimClickHouse
  readonly bugs: Bugs
  /** A client's news of the chain's end. */
  readonly told: (head: number, finalized: number | null) => void
  readonly limits: {
    readonly batchBlocksMax: number
    readonly sealGapBlocks: number
    readonly finalityDepth: number
    readonly windowMax: number
    readonly inFlightBytesMax: number
    readonly cacheBytesMax: number
    readonly partitionBlocks: number
    readonly decodeMs: number
    readonly clients: boolean
  }
}

/** Bytes a piece is charged before it is known. */
export const PIECE_BYTES_ESTIMATE = 50_000
/** One worker's, which keeps its memory from range to range. */
const encoder = new BatchEncoder()
const LEASE_MS = 10_000
const HISTORY_IDLE_MS = 1_000
const profile = { chainId: 31_337, kind: 'evm', headerRule: 'ethereum' } as const

export class SimIndexer {
  /** Why it came to rest before it was asked to. */
  stoppedBy: unknown = null
  readonly clock: ProcessClock
  readonly budget: ByteBudget
  readonly cache: BatchCache
  readonly #options: IndexerOptions
  readonly #runtime: Runtime
  readonly #stop = new AbortController()
  readonly #source: PooledSource
  /** The first endpoint alone; asked by a planted bug only. */
  readonly #liar: PooledSource
  readonly #openTransport: OpenTransport

  constructor(options: IndexerOptions) {
    const { kernel, process, nodes, limits } = options
    this.#options = options
    this.clock = new ProcessClock(kernel, process)
    const { bugs } = options
    this.budget = new ByteBudget(bugs.planted('fetches are not bounded') ? 1e12 : limits.inFlightBytesMax)
    this.cache = new BatchCache(bugs.planted('the cache is not bounded') ? 1e12 : limits.cacheBytesMax)
    this.#runtime = { clock: this.clock, random: kernel.random, failpoint: () => {} }
    this.#openTransport = simNetwork(kernel, process, nodes)
    const open = (from: readonly SimNode[]) =>
      createSource({
        chainId: 1,
        urls: from.map(({ origin }) => origin),
        finalityDepth: limits.finalityDepth,
        runtime: this.#runtime,
        log: silentLogger,
        batchBlocksMax: limits.batchBlocksMax,
        openTransport: this.#openTransport,
        announcements: false,
      })
    this.#source = open(nodes)
    this.#liar = open(nodes.slice(0, 1))
  }

  start(): void {
    const stopped = (error: unknown) => {
      this.stoppedBy ??= error
    }
    this.#run().catch(stopped)
    const { ledger, limits, bugs, told } = this.#options
    if (!limits.clients) return
    const over = (source: PooledSource) =>
      openRelay(source, { clock: this.clock, openTransport: this.#openTransport })
    const relays = { relay: over(this.#source), liar: over(this.#liar) }
    askAsClient({ ...relays, ledger, bugs, told, clock: this.clock }, this.#stop.signal).catch(stopped)
  }

  /** As on SIGTERM: every lane ends at its next safe point. */
  terminate(): void {
    this.#stop.abort()
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#stop.signal.aborted; ) {
      let lease: Lease | undefined
      try {
        lease = await waitForLease(this.#leaseOptions(), this.#stop.signal)
        const target = await this.#source.head()
        const { head, finalized } = target
        if (!this.#options.ledger.state.lane) await proveFinality(this.#fetcher(this.#source), target)
        const final = this.#options.bugs.planted('history reaches above finality') ? head.number : finalized
        await openLedger(this.#options.ledger, Math.max(0, final + 1), lease.fence)
        this.cache.drop({ from: 0, to: Number.MAX_SAFE_INTEGER })
        failures = 0
        await this.#runLanes(lease)
        if (!lease.lost.aborted) return
      } catch (error) {
        if (this.#stop.signal.aborted) return
        if (!(error instanceof FencedOutError) && remedyOf(error) === 'stop') throw error
        await lease?.release().catch(() => {})
        await this.clock
          .sleep(backoffMs(++failures, laneBackoff, this.#runtime.random), this.#stop.signal)
          .catch(() => {})
      }
    }
  }

  #leaseOptions() {
    const { ledger, process } = this.#options
    return {
      store: leasesOf(ledger),
      name: 'index:1',
      holder: namedHolder(process.name.split('#')[0] ?? process.name),
      ttlMs: LEASE_MS,
      runtime: this.#runtime,
      log: silentLogger,
      failpoint: () => {},
    }
  }

  async #runLanes(lease: Lease): Promise<void> {
    const { ledger, bugs, limits } = this.#options
    const signal = AbortSignal.any([this.#stop.signal, lease.lost])
    const lane = this.#clickhouseLane(lease)
    const listener = {
      appended: async (batch: SimBatch, of: 'head' | 'history') => {
        this.cache.add(batch)
        if (of === 'history' && !lane.failing) await this.cache.room()
      },
      reverted: (range: BlockRange) => this.cache.drop(range),
      withdraw: (range: BlockRange, revert: () => Promise<void>) =>
        bugs.planted('history is taken back from Postgres alone') ? revert() : lane.withdraw(range, revert),
    }
    const source = plantInSource(alignedSource(this.#source, limits.partitionBlocks), this.#liar, bugs)
    const fetcher = this.#fetcher(source)
    const head = {
      ...fetcher,
      lane: 'head' as const,
      sink: plantInHead(headSink(ledger, lease.fence, listener), source, bugs),
      startBlock: 0,
      batchBlocksMax: limits.batchBlocksMax,
      sealGapBlocks: limits.sealGapBlocks,
    }
    const history = {
      ...fetcher,
      lane: 'history' as const,
      sink: historySink(ledger, lease.fence, listener),
    }
    const options = { runtime: this.#runtime, log: silentLogger, ahead: this.#ahead() }
    await Promise.all([
      follow(head, options, signal).then((end) => {
        if (end.reason === 'stopped') this.stoppedBy ??= end.error
      }),
      this.#keepHistory(history, options, signal),
      lane.run(signal).then(() => {
        // It also stops when its lease is lost, and another one runs then.
        const { problem } = lane.status
        if (problem?.includes('cannot be written')) this.stoppedBy ??= new Error(problem)
      }),
    ])
  }

  #fetcher(source: Source) {
    const decode = (raw: RawRange) => this.#decode(raw).catch((error: unknown) => this.#refuse(error))
    const fetcher = { source, decode, failpoint: () => {}, lane: 'head' as const }
    if (this.#options.bugs.planted('what cannot be proved is taken as told')) return fetcher
    const isProved = ({ proofs }: SimBatch) => proofs.unprovableBlocks === 0
    return {
      ...fetcher,
      witnessing: { isProved, isSame: sameRows, takenAlone: () => {}, takenSurely: () => {} },
    }
  }

  /** An answer that cannot be read is its endpoint's fault, and no reason to stop. */
  #refuse(error: unknown): never {
    const { bugs } = this.#options
    if (error instanceof EncodeError && bugs.planted('what no column holds stops the program'))
      this.stoppedBy ??= error
    throw error
  }

  async #keepHistory(
    lane: Parameters<typeof fillHistory<SimBatch>>[0],
    options: { runtime: Runtime; log: typeof silentLogger; ahead: AheadOptions },
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      const target = await missingHistory(this.#options.ledger, 0).catch(() => null)
      if (!target) {
        await this.clock.sleep(HISTORY_IDLE_MS, signal).catch(() => {})
        continue
      }
      try {
        await fillHistory(lane, target, { ...options, chunksMax: 2 }, signal)
      } catch (error) {
        if (signal.aborted) return
        this.stoppedBy ??= error
        return
      }
    }
  }

  #ahead(): AheadOptions {
    const { windowMax, batchBlocksMax } = this.#options.limits
    return { windowMax, batchBlocksMax, batchBytesEstimate: PIECE_BYTES_ESTIMATE, budget: this.budget }
  }

  #clickhouseLane(lease: Lease): ClickHouseLane {
    const { ledger, clickhouse, bugs, limits } = this.#options
    const journal = plantInJournal(journalOf(ledger, lease.fence), bugs)
    let withdrawals = 0
    const sink = new ClickHouseSink({
      tables: plantInTables(clickhouse, bugs, this.#runtime.random),
      ledgerId: () => `ledger/${withdrawals}`,
      journal,
      fence: lease.fence,
      assertMayWrite: () => lease.assertHeld(),
      failpoint: () => {},
    })
    return new ClickHouseLane({
      ledger: laneLedger(ledger),
      sink,
      journal,
      partitionBlocks: limits.partitionBlocks,
      cache: this.cache,
      decode: (raw) => this.#decode(raw),
      clock: this.clock,
      log: silentLogger,
      prepare: async () => {
        await clickhouse.claim(lease.fence)
        withdrawals = ledger.lane().withdrawals
      },
      seal: async () => true,
      onWritten: () => {},
    })
  }

  /** A worker thread: answers later, and in another order than it was asked. */
  #decode(raw: RawRange): Promise<SimBatch> {
    const { kernel, process, bugs, limits } = this.#options
    const checks = bugs.planted('links are the only check') ? 'links' : 'roots'
    const senders = bugs.planted('senders are taken as told') ? {} : { senders: everySender }
    const travel = { thereMs: 0.1, backMs: kernel.random() * limits.decodeMs }
    return kernel.call(process, `${process.name} decodes ${raw.range.from}..${raw.range.to}`, travel, () => ({
      ...plantInRows(bugs, raw, (bytes, proved) =>
        decodeRange({ ...profile, checks: proved ? checks : 'links', ...senders }, bytes, raw.range, encoder),
      ).batch,
      bytes: raw.bytes,
    }))
  }
}
