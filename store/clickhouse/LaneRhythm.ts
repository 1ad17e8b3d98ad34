/**
 * When the ClickHouse lane writes what is little. Every insert makes a part in each of sixteen
 * tables, and parts cost merges and files however few rows they hold: they are made often only
 * while somebody reads them.
 */
import type { Clock } from '#runtime/runtime.ts'

/** A small insert waits this long for more while ClickHouse is read. */
const FLUSH_MS = 2_000
/** And this long while nobody reads it. */
const UNREAD_FLUSH_MS = 20_000
/** ClickHouse counts as read this long after a question. */
const READ_MS = 120_000
/**
 * Blocks that wait at most, read or not: the audit reads a block again within a hundred of its
 * finality, and needs it in both stores.
 */
const UNREAD_BLOCKS_MAX = 40

export interface LaneRhythmOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  /** True when somebody asked ClickHouse since the last call; without it, somebody always does. */
  readonly takeAsked?: (() => boolean) | undefined
}

export class LaneRhythm {
  readonly #options: LaneRhythmOptions
  #askedAt: number
  #flushedAt = Number.NEGATIVE_INFINITY
  #newBlocks = 0
  #isBehind = true

  /** A start counts as a question: readers wait for a program that starts. */
  constructor(options: LaneRhythmOptions) {
    this.#options = options
    this.#askedAt = options.clock.monotonic()
  }

  /** True when a look at the ledger may find what is to be written now. */
  get isDue(): boolean {
    return this.#isBehind || this.waitedMs >= this.flushMs
  }

  /** Milliseconds since the last insert. */
  get waitedMs(): number {
    return this.#options.clock.monotonic() - this.#flushedAt
  }

  /** How long a small insert waits for more now, in milliseconds since the last one. */
  get flushMs(): number {
    const { clock, takeAsked } = this.#options
    const now = clock.monotonic()
    if (!takeAsked || takeAsked()) this.#askedAt = now
    const isRead = now - this.#askedAt < READ_MS
    return isRead || this.#newBlocks >= UNREAD_BLOCKS_MAX ? FLUSH_MS : UNREAD_FLUSH_MS
  }

  /** Postgres holds `blocks` more; those of history are written as they come. */
  committed(lane: 'head' | 'history', blocks: number): void {
    if (lane === 'history') this.#isBehind = true
    else this.#newBlocks += blocks
  }

  /** There may be more to write, however little is new at the head. */
  fellBehind(): void {
    this.#isBehind = true
  }

  /**
   * The ledger is looked at now: the next look is due when history commits, or when what is new has
   * waited.
   */
  looks(): void {
    this.#isBehind = false
  }

  flushed(): void {
    this.#flushedAt = this.#options.clock.monotonic()
    this.#newBlocks = 0
    this.#isBehind = true
  }
}
