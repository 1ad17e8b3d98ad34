/**
 * The ClickHouse lane of one chain: writes what Postgres holds, is final, and ClickHouse lacks,
 * lowest block first. One rule serves the head, history, a slow engine, a crash and a rebuild after
 * a wipe.
 */

import { MillraceError, messageOf } from '#errors.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { RawRange } from '#ingest/source.ts'
import { type Next, repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import { type EncodedBatch, rowCount } from '#transform/batch.ts'
import type { BatchCache } from './BatchCache.ts'
import type { ClickHouseSink } from './ClickHouseSink.ts'
import { ENCODER_VERSION } from './encoderVersion.ts'
import type { Journal } from './journal.ts'
import { LaneRhythm } from './LaneRhythm.ts'
import type { LaneLedger, MissingRange } from './laneLedger.ts'

/**
 * Width of a ClickHouse partition; an insert that straddles two is not atomic (measured with kill
 * -9).
 */
export const PARTITION_BLOCKS = 65_536
/** An insert larger than this gains no speed and holds memory. */
const BATCH_BYTES_MAX = 96 * 1024 * 1024
/**
 * A smaller insert waits for more, because many small parts cost merges (16 tables every 500 ms: 11
 * % of a core); `LaneRhythm` says how long.
 */
const FLUSH_ROWS_MIN = 128_000
/**
 * While a chunk loads, an insert waits for this many rows: five inserts instead of nine cost the
 * engine a quarter less.
 */
const LOADING_ROWS_MIN = 256_000
/** While a chunk loads, an insert waits no longer than this for more rows. */
const LOADING_MS = 10_000
/** Blocks made again from the archive at a time; fewer where they are large. */
const ARCHIVE_BLOCKS_MAX = 64
const POLL_MS = 250
const RETRY_MS_MIN = 250
const RETRY_MS_MAX = 15_000

export type ClickHouseLaneState = 'running' | 'retrying' | 'stopped'

export interface ClickHouseLaneOptions {
  readonly ledger: LaneLedger
  readonly sink: ClickHouseSink
  readonly journal: Journal
  /** Width of a partition, PARTITION_BLOCKS; no insert crosses its edge. */
  readonly partitionBlocks: number
  readonly cache: BatchCache
  readonly decode: (raw: RawRange) => Promise<EncodedBatch>
  readonly clock: Clock
  /** True when ClickHouse was asked something since the last call (LaneRhythmOptions). */
  readonly takeAsked?: (() => boolean) | undefined
  readonly log: Logger
  /** Compares the engine with the journal, before the first write and after every failure. */
  readonly prepare: () => Promise<void>
  /**
   * Digests the next whole partition, if there is one; false when what it holds is not what was
   * sent.
   */
  readonly seal: () => Promise<boolean>
  /** Told after every write. */
  readonly onWritten: (range: BlockRange, batches: readonly EncodedBatch[]) => void
}

export class ClickHouseLane {
  readonly #options: ClickHouseLaneOptions
  readonly #rhythm: LaneRhythm
  #state: ClickHouseLaneState = 'running'
  #problem: string | null = null
  #prepared = false
  #adopted = false
  #ended = false
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: ClickHouseLaneOptions) {
    this.#options = options
    this.#rhythm = new LaneRhythm(options)
  }

  /** Told of what Postgres committed: `blocks` more of this lane. */
  committed(lane: 'head' | 'history', blocks: number): void {
    this.#rhythm.committed(lane, blocks)
  }

  /** For /status: what the lane is doing, and what stands in its way. */
  get status(): { readonly state: ClickHouseLaneState; readonly problem: string | null } {
    return { state: this.#state, problem: this.#problem }
  }

  /**
   * Steps until aborted. A failing engine is retried; a wrong one stops this lane and nothing else.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, cache } = this.#options
    if (signal.aborted) this.#end()
    signal.addEventListener('abort', () => this.#end(), { once: true })
    const failed = (error: unknown, failures: number) => this.#failed(error, failures)
    await repeat({ clock, signal, failed }, async () => {
      const advanced = await this.step()
      this.#state = 'running'
      this.#problem = null
      if (advanced) return 0
      // The blocks that fill the cache may not be final for long, and the head may wait for bytes that
      // history holds.
      cache.release()
      return POLL_MS
    })
  }

  #failed(error: unknown, failures: number): Next {
    const { log, cache } = this.#options
    this.#problem = messageOf(error)
    this.#prepared = false
    this.#rhythm.fellBehind()
    cache.release()
    if (error instanceof MillraceError && error.remedy === 'stop') {
      this.#state = 'stopped'
      log.error({ error: this.#problem }, 'the ClickHouse lane stopped; Postgres and reads go on')
      return 'ended'
    }
    this.#state = 'retrying'
    const retryMs = Math.min(RETRY_MS_MIN * 2 ** (failures - 1), RETRY_MS_MAX)
    log.warn({ error: this.#problem, retryMs }, 'ClickHouse cannot be written; trying again')
    return retryMs
  }

  /**
   * True when the engine is not keeping up because it fails or nobody writes to it, so that history
   * need not wait.
   */
  get failing(): boolean {
    return this.#ended || this.#state !== 'running'
  }

  /** Ends the lane, which makes no room in the cache any more. */
  #end(): void {
    this.#ended = true
    this.#options.cache.release()
  }

  /** One batch closer; false when there is nothing to write yet. */
  step(): Promise<boolean> {
    return this.#alone(() => this.#step())
  }

  /**
   * Runs `revert`, which drops blocks of unattached history from Postgres, once ClickHouse holds
   * none of them. Nothing is written meanwhile: a batch in hand may be of these very blocks.
   * @throws ClickHouseFailure while they are not deleted
   */
  withdraw(range: BlockRange, revert: () => Promise<void>): Promise<void> {
    const { journal, cache } = this.#options
    return this.#alone(async () => {
      this.#rhythm.fellBehind()
      if (await journal.holds(range)) await this.#giveBack(range)
      // Forgotten even when it failed: its answer may be what was lost.
      await revert().finally(() => cache.drop(range))
    })
  }

  async #giveBack(range: BlockRange): Promise<void> {
    const { sink, partitionBlocks } = this.#options
    // A batch half written is finished first, so that nothing of it is still on its way when its
    // rows are deleted.
    await this.#ready()
    this.#prepared = false
    this.#adopted = false
    await sink.withdraw(range, partitionBlocks)
    await this.#finishOpenBatches()
  }

  /** Steps and withdrawals one after the other. */
  #alone<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(act)
    this.#turn = turn.catch(() => {})
    return turn
  }

  async #ready(): Promise<void> {
    if (!this.#prepared) {
      await this.#options.prepare()
      this.#prepared = true
    }
    if (!this.#adopted) await this.#finishOpenBatches()
  }

  async #step(): Promise<boolean> {
    if (!this.#rhythm.isDue && !this.#options.cache.crowded) return false
    await this.#ready()
    this.#rhythm.looks()
    const gap = await this.#lowestGap()
    if (!gap) return false
    if (gap.from % this.#options.partitionBlocks === 0) await this.#seal()
    const batches = this.#cachedBatches(gap)
    if (batches.length === 0) return this.#writeFromArchive(gap)
    if (this.#worthWaiting(gap, batches)) {
      if (gap.loading) this.#rhythm.fellBehind()
      return false
    }
    await this.#append(batches)
    return true
  }

  /**
   * Batches begun before a crash are finished as they were cut, if this program still makes the
   * same rows.
   */
  async #finishOpenBatches(): Promise<void> {
    const { journal, sink } = this.#options
    for (const entry of await journal.open()) {
      if (entry.encoder !== ENCODER_VERSION) {
        await sink.abandon(entry)
        continue
      }
      await sink.resume(entry, await this.#decodeArchive(entry.range))
      this.#options.cache.drop(entry.range)
    }
    this.#adopted = true
  }

  /**
   * The lowest run of blocks that Postgres holds, are final, and ClickHouse lacks; within one
   * partition.
   */
  async #lowestGap(): Promise<MissingRange | undefined> {
    const [gap] = await this.#options.ledger.missing()
    return gap && { ...gap, to: Math.min(gap.to, this.#partitionEnd(gap.from)) }
  }

  /** Whole cached batches from the gap's first block on, up to the size of one insert. */
  #cachedBatches(gap: BlockRange): EncodedBatch[] {
    const batches: EncodedBatch[] = []
    let bytes = 0
    for (let from = gap.from; from <= gap.to; ) {
      const batch = this.#options.cache.at(from)
      if (!batch || batch.range.to > gap.to || (bytes > 0 && bytes + batch.byteLength > BATCH_BYTES_MAX))
        break
      batches.push(batch)
      bytes += batch.byteLength
      from = batch.range.to + 1
    }
    return batches
  }

  #worthWaiting(gap: MissingRange, batches: readonly EncodedBatch[]): boolean {
    const isLast = gap.ended === true && batches.at(-1)?.range.to === gap.to
    const rows = batches.reduce((sum, batch) => sum + rowCount(batch), 0)
    const partitionDone = batches.at(-1)?.range.to === this.#partitionEnd(gap.from)
    // Batches of a later chunk may fill the cache, and nothing would be added to these then.
    if (this.#options.cache.crowded) return false
    const rhythm = this.#rhythm
    const [rowsMin, waitMs] = gap.loading ? [LOADING_ROWS_MIN, LOADING_MS] : [FLUSH_ROWS_MIN, rhythm.flushMs]
    return rows < rowsMin && !isLast && !partitionDone && rhythm.waitedMs < waitMs
  }

  /**
   * A partition below was just completed. One that disagrees stays readable, and is told loudly.
   */
  async #seal(): Promise<void> {
    if (await this.#options.seal()) return
    this.#options.log.error(
      {},
      'a sealed ClickHouse partition does not hold what was sent; run `millrace verify`',
    )
  }

  /** Blocks that are not cached are made again, several pieces to an insert. */
  async #writeFromArchive(gap: BlockRange): Promise<boolean> {
    const range = { from: gap.from, to: this.#nextCached(gap) - 1 }
    const isEnough = (rows: number, bytes: number) => rows >= FLUSH_ROWS_MIN || bytes >= BATCH_BYTES_MAX
    await this.#append(await this.#decodeArchive(range, isEnough))
    return true
  }

  /** First cached block above the gap's first, so that what is cached is not derived again. */
  #nextCached(gap: BlockRange): number {
    for (let from = gap.from + 1; from <= gap.to; from++) if (this.#options.cache.at(from)) return from
    return gap.to + 1
  }

  /** Piece by piece to the end of the range, or until it is enough. */
  async #decodeArchive(
    range: BlockRange,
    isEnough: (rows: number, bytes: number) => boolean = () => false,
  ): Promise<EncodedBatch[]> {
    const { ledger, decode } = this.#options
    const batches: EncodedBatch[] = []
    let [rows, bytes] = [0, 0]
    for (let from = range.from; from <= range.to && !isEnough(rows, bytes); ) {
      const piece = { from, to: Math.min(range.to, from + ARCHIVE_BLOCKS_MAX - 1) }
      const batch = await decode(await ledger.archive(piece))
      batches.push(batch)
      rows += rowCount(batch)
      bytes += batch.byteLength
      from = batch.range.to + 1
    }
    return batches
  }

  /** Last block of the partition that holds a block. */
  #partitionEnd(block: number): number {
    const { partitionBlocks } = this.#options
    return (Math.floor(block / partitionBlocks) + 1) * partitionBlocks - 1
  }

  async #append(batches: readonly EncodedBatch[]): Promise<void> {
    const { sink, cache, onWritten } = this.#options
    const [first, last] = [batches[0], batches.at(-1)]
    if (!first || !last) return
    const range = { from: first.range.from, to: last.range.to }
    // A try that failed half-way is in the journal, and only the journal may say how it goes on.
    this.#adopted = false
    await sink.append(batches)
    this.#adopted = true
    this.#rhythm.flushed()
    cache.drop(range)
    onWritten(range, batches)
  }
}
