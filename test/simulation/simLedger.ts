/**
 * The simulated Postgres itself: its state on disk, and transactions that happen or do not, whose
 * answer may be lost either way. The ports over it are in simLease.ts, simHead.ts, simHistory.ts
 * and simJournal.ts; conformance.ts compares them with a real server.
 */

import { type BlockRange, difference, union } from '#ingest/range.ts'
import { FencedOutError } from '#runtime/lease.ts'
import type { JournalEntry } from '#store/clickhouse/journal.ts'
import { LaneMissingError } from '#store/ledger/PostgresHeadSink.ts'
import { PostgresError } from '#store/postgres.ts'
import type { Bugs } from './bugs.ts'
import type { Kernel, Line, SimProcess } from './kernel.ts'
import type { LedgerState, StoredBlock } from './ledgerState.ts'

export interface StoreFaults extends Line {
  /** Calls that fail before anything happened. */
  errorRate: number
  /** Calls that happen, and whose answer is lost. */
  lostRate: number
  /** Writes fail: the disk is full. */
  full: boolean
}

export const SCHEMA = 'simulated'

export interface SimLedgerOptions {
  readonly kernel: Kernel
  readonly process: SimProcess
  readonly state: LedgerState
  readonly faults: StoreFaults
  readonly bugs: Bugs
  readonly chunkBlocks: number
  /** Blocks of a gap that one transaction moves into its partition; 0 attaches them all at once. */
  readonly movedBlocks?: number
  readonly violated: (what: string) => void
}

export class SimLedger {
  readonly kernel: Kernel
  readonly state: LedgerState
  readonly bugs: Bugs
  readonly chunkBlocks: number
  readonly movedBlocks: number
  readonly #process: SimProcess
  readonly #faults: StoreFaults
  readonly #violated: (what: string) => void

  constructor(options: SimLedgerOptions) {
    const { kernel, process, state, faults, bugs, chunkBlocks, movedBlocks = 0, violated } = options
    this.kernel = kernel
    this.state = state
    this.bugs = bugs
    this.chunkBlocks = chunkBlocks
    this.movedBlocks = movedBlocks
    this.#process = process
    this.#faults = faults
    this.#violated = violated
  }

  read<T>(label: string, work: () => T): Promise<T> {
    return this.#call(`pg ${label}`, false, work)
  }

  transaction<T>(label: string, work: () => T): Promise<T> {
    return this.#call(`pg ${label}`, true, work)
  }

  lane() {
    if (!this.state.lane) throw new LaneMissingError(SCHEMA)
    return this.state.lane
  }

  assertFence(fence: bigint): void {
    const state = this.state
    if (this.lane().fence !== fence && !this.bugs.planted('writes do not look at the fence'))
      throw new FencedOutError(SCHEMA, fence)
    // The checker's own record, which no planted bug touches.
    if (fence < state.highestFence) this.#violated(`I7: fence ${fence} wrote after ${state.highestFence}`)
    state.highestFence = fence > state.highestFence ? fence : state.highestFence
    state.commits++
  }

  keep(block: StoredBlock): void {
    const { blocks, firstAnswers } = this.state
    blocks.set(block.ref.number, block)
    if (!firstAnswers.has(block.ref.number)) firstAnswers.set(block.ref.number, block)
  }

  stored(number: number): StoredBlock | undefined {
    const { blocks, firstAnswers } = this.state
    const old = this.bugs.planted('the archive keeps what was taken back')
    const attached = (old ? firstAnswers : blocks).get(number)
    if (attached) return attached
    for (const { blocks } of this.state.chunks.values()) {
      const found = blocks.find(({ ref }) => ref.number === number)
      if (found) return found
    }
    return undefined
  }

  openEntry(entry: JournalEntry): boolean {
    const found = this.state.journal.get(entry.range.from)
    return found?.state === 'open' && found.entry.range.to === entry.range.to
  }

  cover(entry: JournalEntry): void {
    this.state.clickhouseCoverage = union(this.state.clickhouseCoverage, [entry.range])
  }

  uncover({ range }: JournalEntry): void {
    this.state.clickhouseCoverage = difference(this.state.clickhouseCoverage, [range])
  }

  extend(range: BlockRange): void {
    this.state.postgresCoverage = union(this.state.postgresCoverage, [range])
  }

  #call<T>(label: string, writes: boolean, work: () => T): Promise<T> {
    const travel = this.kernel.travel(this.#faults)
    return this.kernel.call(this.#process, `${this.#process.name} ${label}`, travel, () => {
      if (this.kernel.chance(this.#faults.errorRate)) throw failure('57P01', 'terminating connection')
      if (writes && this.#faults.full) throw failure('53100', 'no space left on device')
      const answer = work()
      if (writes && this.kernel.chance(this.#faults.lostRate)) throw lost()
      return answer
    })
  }
}

export const lost = () => failure('ECONNRESET', 'the connection was lost')

export function failure(code: string, message: string): PostgresError {
  return new PostgresError(Object.assign(new Error(message), { code }))
}
