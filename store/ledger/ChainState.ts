/**
 * The readers' view of one chain, in memory: refreshed from the ledger after every commit of this process,
 * and by polling where another process writes. Reading it costs a request nothing.
 */

import { messageOf } from '#errors.ts'
import { type BlockRange, covers, newestSegment, type RangeSet } from '#ingest/range.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Clock } from '#runtime/runtime.ts'
import type { Postgres } from '../postgres.ts'
import { ReadDemand } from '../ReadDemand.ts'
import { CommitBell } from './commits.ts'
import { type FinalBlocks, readPicture, type StoreName } from './lane.ts'
import { OpenParts } from './OpenParts.ts'
import { readFinalBlock } from './proofs.ts'

/**
 * The readers' view of a chain: the newest contiguous segment, and where history begins when it is
 * complete.
 */
export interface Visible {
  readonly segment: BlockRange
  readonly startBlock: number
  readonly finalized: number
}

/** How old the picture may get when nothing rings. */
const REFRESH_MS = 1_000
/** Heads in a row below the highest one, after which that one is not believed. */
const LOWER_HEADS_MAX = 32

export class ChainState {
  readonly chainId: number
  readonly schema: string
  /** Rings when the chain has a commit. */
  readonly bell: CommitBell
  /** Rings then too, and when a follower has one. */
  readonly followed = new CommitBell()
  /** Questions to ClickHouse about this chain. */
  readonly demand = new ReadDemand()
  readonly openParts = new OpenParts()
  /** Followers that stand still in this process until a person looks at them. */
  readonly stopped = new Set<string>()
  /** Followers that readers waited for in vain; one that is found current is none of them. */
  readonly late = new Set<string>()
  readonly #postgres: Postgres
  #postgresCoverage: RangeSet = []
  #clickhouseCoverage: RangeSet = []
  #finalized = -1
  #isProved = false
  #finalizedHash: string | null = null
  #tip = -1
  #tipTimeMs: number | null = null
  #head = -1
  #lowerHeads = 0
  #seq = 0
  #problem: string | null = null
  #startBlock: number

  constructor(options: {
    chainId: number
    schema: string
    startBlock: number
    postgres: Postgres
    bell: CommitBell
  }) {
    this.chainId = options.chainId
    this.schema = options.schema
    this.#startBlock = options.startBlock
    this.bell = options.bell
    this.bell.add(this.followed)
    this.#postgres = options.postgres
  }

  /** First block of the history that is wanted. */
  get startBlock(): number {
    return this.#startBlock
  }
  /** Newest block the node reported; -1 before the first answer. */
  get head(): number {
    return this.#head
  }
  get finalized(): number {
    return this.#finalized
  }
  /** Whether a certificate proves the newest final block as it is held, or endpoints agreed on it. */
  get finality(): 'proved' | 'agreed' {
    return this.#isProved ? 'proved' : 'agreed'
  }
  /** Hash of the newest final block, once the chain has certificates at or above it; null before. */
  get finalizedHash(): string | null {
    return this.#finalizedHash
  }
  /**
   * The blocks that are final now. A chunk of history whose neighbours are not held yet may be of a
   * branch that is not the chain, and so may all below a gap.
   */
  get final(): FinalBlocks {
    const [coverage, to] = [this.#postgresCoverage, this.#finalized]
    return { has: (from) => from <= to && covers(coverage, { from, to }) }
  }
  /** Newest block visible in Postgres; -1 while there is none. */
  get tip(): number {
    return this.#tip
  }
  /** Unix milliseconds of the newest block visible in Postgres; null while there is none. */
  get tipTimeMs(): number | null {
    return this.#tipTimeMs
  }
  /** Number of the last commit seen. */
  get seq(): number {
    return this.#seq
  }
  /** Why the ledger could not be read at the last try, or null. */
  get problem(): string | null {
    return this.#problem
  }
  coverage(store: StoreName): RangeSet {
    return store === 'postgres' ? this.#postgresCoverage : this.#clickhouseCoverage
  }

  /** Another process may have had history begin earlier. */
  beginAt(startBlock: number): void {
    this.#startBlock = startBlock
  }

  /**
   * A lower head is that of a node which is behind; one that stays lower is the truth, and the
   * higher one was none.
   */
  sawHead(head: number): void {
    this.#lowerHeads = head < this.#head ? this.#lowerHeads + 1 : 0
    if (this.#lowerHeads > 0 && this.#lowerHeads < LOWER_HEADS_MAX) return
    this.#head = head
    this.#lowerHeads = 0
  }

  /** The blocks that lists read: the newest contiguous segment. Undefined while nothing is held. */
  visible(): Visible | undefined {
    const segment = newestSegment(this.#postgresCoverage)
    return segment && { segment, startBlock: this.startBlock, finalized: this.#finalized }
  }

  /**
   * Reads the ledger. Keeps the old picture when Postgres does not answer: ClickHouse goes on
   * serving what it had.
   */
  async refresh(): Promise<void> {
    const { pool } = this.#postgres
    const picture = await readPicture(pool, this.schema)
    const proof = picture?.isCertified ? await readFinalBlock(pool, this.schema, picture.lane) : null
    this.#postgresCoverage = picture?.coverage.postgres ?? []
    this.#clickhouseCoverage = picture?.coverage.clickhouse ?? []
    this.#finalized = picture?.lane.finalized ?? -1
    this.#isProved = proof?.isProved ?? false
    this.#finalizedHash = proof?.hash ?? null
    this.#seq = picture?.lane.seq ?? 0
    this.#tip = newestSegment(this.#postgresCoverage)?.to ?? -1
    this.#tipTimeMs = picture?.tipTimeMs ?? null
  }

  /** Keeps the picture fresh until aborted. */
  async follow(clock: Clock, signal: AbortSignal): Promise<void> {
    await repeat({ clock, signal }, async () => {
      await this.refresh().then(
        () => {
          this.#problem = null
        },
        (error: unknown) => {
          this.#problem = messageOf(error)
        },
      )
      await this.bell.wait(clock, REFRESH_MS, signal)
      return 0
    })
  }

  /** Resolves once `block` is visible in Postgres. */
  async waitForBlock(block: number, clock: Clock, signal: AbortSignal): Promise<void> {
    while (this.#tip < block) {
      signal.throwIfAborted()
      await this.bell.wait(clock, REFRESH_MS, signal)
    }
  }
}
