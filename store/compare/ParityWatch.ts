/**
 * Compares both stores of a chain all the time: blocks that are new to ClickHouse first, then all
 * of them again from the first, for what was damaged later. It rests many times as long as it
 * works, so that it costs a few percent of a core.
 */
import { type BlockRange, blockCount, difference, intersection, type RangeSet, union } from '#ingest/range.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type Logger, metrics } from '#telemetry.ts'
import { type CoverageOf, findTwice, heldByBoth, keepComparing, type Looked } from './comparing.ts'
import { compareRange, type ParityStores, type TableParity } from './parity.ts'

/** Blocks of one comparison of what is new: one statement a table and store. */
const PIECE_BLOCKS = 200
/** Blocks of one comparison of the round over all, at most: as many as hold some SCRUB_ROWS. */
const SCRUB_BLOCKS_MAX = 5_000
const SCRUB_ROWS = 30_000
/** Rest after a comparison, as a multiple of the time it took. */
const REST_FACTOR = 30

export interface ParityStatus {
  readonly state: 'waiting' | 'equal' | 'differs'
  /** Blocks compared since the start, each counted once. */
  readonly comparedBlocks: number
  /** Times all blocks have been compared. */
  readonly rounds: number
  /** The difference in words, or why nothing could be compared; null while all is well. */
  readonly problem: string | null
}

export interface ParityWatchOptions extends ParityStores {
  readonly chainId: number
  /** The blocks that each store holds whole, now. */
  readonly coverage: CoverageOf
  readonly clock: Clock
  readonly log: Logger
}

export class ParityWatch {
  readonly #options: ParityWatchOptions
  #compared: RangeSet = []
  #rounds = 0
  #scrubFrom = 0
  #scrubBlocks = PIECE_BLOCKS
  #differences: readonly Found[] = []
  #failure: string | null = null

  constructor(options: ParityWatchOptions) {
    this.#options = options
  }

  get status(): ParityStatus {
    const [found] = this.#differences
    const comparedBlocks = this.#compared.reduce((sum, { from, to }) => sum + to - from + 1, 0)
    if (found) return { state: 'differs', comparedBlocks, rounds: this.#rounds, problem: wordsOf(found) }
    const state = comparedBlocks > 0 ? 'equal' : 'waiting'
    return { state, comparedBlocks, rounds: this.#rounds, problem: this.#failure }
  }

  /** Compares until aborted. A store that does not answer is tried again later. */
  run(signal: AbortSignal): Promise<void> {
    const failed = (problem: string | null) => {
      this.#failure = problem
    }
    const step = (within: AbortSignal) => this.step(within)
    return keepComparing({ step, failed, restFactor: REST_FACTOR, clock: this.#options.clock }, signal)
  }

  /** Compares one piece. @throws what a store throws */
  async step(signal: AbortSignal): Promise<Looked> {
    const shared = heldByBoth(this.#options.coverage)
    this.#compared = intersection(this.#compared, shared)
    const fresh = this.#fresh(shared)
    const [piece] = intersection([fresh ?? this.#nextOfRound(shared)], shared)
    if (!piece) return 'nothing'
    let rows = 0
    const compare = async () => {
      const tables = await compareRange(this.#options, piece)
      rows = tables.reduce((sum, { postgres }) => sum + postgres.rows, 0)
      return unequalOf(tables)
    }
    const unequal = await findTwice(this.#options, piece, signal, compare)
    if (unequal === null) return 'nothing'
    this.#note(piece, unequal)
    this.#scrubBlocks = scrubBlocks(blockCount(piece), rows, this.#scrubBlocks)
    return this.#fresh(shared) ? 'some' : 'all'
  }

  /** New blocks, newest first. */
  #fresh(shared: RangeSet): BlockRange | null {
    const fresh = difference(shared, this.#compared).at(-1)
    return fresh ? { from: Math.max(fresh.from, fresh.to - PIECE_BLOCKS + 1), to: fresh.to } : null
  }

  /** The next piece of the round over all. */
  #nextOfRound(shared: RangeSet): BlockRange {
    const last = shared.at(-1)?.to ?? -1
    if (this.#scrubFrom > last) {
      this.#scrubFrom = 0
      this.#rounds += 1
    }
    // Gaps between segments are stepped over in one go.
    const start = shared.find(({ to }) => to >= this.#scrubFrom)
    const from = Math.max(this.#scrubFrom, start?.from ?? 0)
    this.#scrubFrom = from + this.#scrubBlocks
    return { from, to: this.#scrubFrom - 1 }
  }

  #note(piece: BlockRange, unequal: readonly TableParity[]): void {
    const { chainId, log } = this.#options
    const before = this.#differences
    this.#compared = union(this.#compared, [piece])
    const elsewhere = before.filter(({ block }) => block < piece.from || block > piece.to)
    this.#differences = [...unequal.map(foundOf), ...elsewhere].slice(0, DIFFERENCES_MAX)
    metrics.parityDifferences.labels(`${chainId}`).set(this.#differences.length)
    const told = new Set(before.map(wordsOf))
    for (const found of this.#differences)
      if (!told.has(wordsOf(found)))
        log.error({ chainId, ...found }, 'the stores differ: run `millrace verify` to learn which is wrong')
    if (before.length > 0 && this.#differences.length === 0)
      log.info({ chainId }, 'the stores are equal again')
  }
}

/**
 * Blocks of the next piece of the round, by the rows of the last one: a chain of empty blocks gets
 * long pieces, and one that turns dense is not asked for too much, because a piece at most doubles.
 */
const scrubBlocks = (blocks: number, rows: number, before: number): number => {
  const wanted = Math.floor((SCRUB_ROWS * blocks) / Math.max(rows, 1))
  return Math.max(PIECE_BLOCKS, Math.min(wanted, 2 * before, SCRUB_BLOCKS_MAX))
}

/** Differences kept; the first says enough to act on. */
const DIFFERENCES_MAX = 20

interface Found {
  readonly table: string
  readonly block: number
  readonly postgresRows: number
  readonly clickhouseRows: number
}

const unequalOf = (tables: readonly TableParity[]): readonly TableParity[] =>
  tables.filter(({ firstDifference }) => firstDifference !== null)

const foundOf = ({ table, firstDifference, postgres, clickhouse }: TableParity): Found => ({
  table,
  block: firstDifference ?? 0,
  postgresRows: postgres.rows,
  clickhouseRows: clickhouse.rows,
})

const wordsOf = ({ table, block }: Found): string => `${table} differs between the stores from block ${block}`
