/**
 * ClickHouse as the indexer meets it, with what was measured on the real engine: an insert is
 * atomic within a partition, a token seen before is dropped and acknowledged even when its rows
 * were deleted since, an answer may be lost after the rows are there, and an insert whose client
 * gave up may still land.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { AnalyticsTables, TableCount } from '#store/clickhouse/ClickHouseTables.ts'
import { ClickHouseFailure } from '#store/clickhouse/client.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { analyticsTableNames, type TableName } from '#transform/tables.ts'
import type { Bugs } from './bugs.ts'
import type { Kernel, SimProcess } from './kernel.ts'
import type { StoreFaults } from './simLedger.ts'

/** Rows of one block that came with one insert. */
export interface StoredPart {
  readonly block: number
  readonly rows: number
  readonly digest: number
  /** It was read back, so a loss would be found by other means than the sink's. */
  readBack: boolean
}

interface RunningInsert {
  readonly token: string
  cancelled: boolean
}

/** The part that survives a crash of the indexer. */
export interface EngineState {
  readonly tables: Map<TableName, StoredPart[]>
  readonly tokens: Map<TableName, string[]>
  readonly running: Set<RunningInsert>
  /** The newest writer the engine was told of. */
  fence: bigint
}

/** non_replicated_deduplication_window of our tables. */
const TOKENS_KEPT = 1_000
/** A client that gave up is told so this long before its insert lands. */
const LATE_MS = 8_000
const END_POLL_MS = 100

export const emptyEngine = (): EngineState => ({
  tables: new Map(analyticsTableNames.map((name) => [name, []])),
  tokens: new Map(analyticsTableNames.map((name) => [name, []])),
  running: new Set(),
  fence: 0n,
})

/** The rows of a block in every table that has any. */
export function engineContent(state: EngineState, block: number): ReadonlyMap<TableName, StoredPart[]> {
  const content = new Map<TableName, StoredPart[]>()
  for (const [name, parts] of state.tables) {
    const found = parts.filter((part) => part.block === block)
    if (found.length > 0) content.set(name, found)
  }
  return content
}

export class SimClickHouse implements AnalyticsTables {
  readonly #kernel: Kernel
  readonly #process: SimProcess
  readonly #state: EngineState
  readonly #faults: StoreFaults
  readonly #bugs: Bugs
  readonly #partitionBlocks: number

  constructor(options: {
    kernel: Kernel
    process: SimProcess
    state: EngineState
    faults: StoreFaults
    bugs: Bugs
    partitionBlocks: number
  }) {
    this.#kernel = options.kernel
    this.#process = options.process
    this.#state = options.state
    this.#faults = options.faults
    this.#bugs = options.bugs
    this.#partitionBlocks = options.partitionBlocks
  }

  count({ from, to }: BlockRange): Promise<ReadonlyMap<TableName, TableCount>> {
    return this.#call(`count ${from}..${to}`, () => {
      const counts = new Map<TableName, TableCount>()
      for (const [name, parts] of this.#state.tables) {
        const inside = parts.filter(({ block }) => block >= from && block <= to)
        for (const part of inside) part.readBack = true
        const rows = inside.reduce((sum, part) => sum + part.rows, 0)
        const blockSum = inside.reduce((sum, part) => sum + BigInt(part.block) * BigInt(part.rows), 0n)
        counts.set(name, { rows: String(rows), blockSum: String(blockSum) })
      }
      return counts
    })
  }

  insert(name: TableName, batches: readonly EncodedBatch[], token: string): Promise<void> {
    const insert: RunningInsert = { token, cancelled: false }
    const land = () => {
      if (!insert.cancelled) this.#land(name, batches, token)
      this.#state.running.delete(insert)
    }
    return this.#call(`insert ${name} ${token.split('|').slice(1, 3).join('..')}`, () => {
      if (this.#faults.full) throw new ClickHouseFailure(new Error('NOT_ENOUGH_SPACE'))
      if (this.#kernel.chance(this.#faults.lostRate)) {
        if (this.#kernel.chance(0.5)) {
          // The answer is late, and the client does not wait for it.
          this.#state.running.add(insert)
          this.#kernel.after(this.#kernel.random() * LATE_MS, `late insert ${name}`, land)
        } else land()
        throw new ClickHouseFailure(new Error('timeout'))
      }
      land()
    })
  }

  async endInserts(tokens: readonly string[]): Promise<boolean> {
    for (;;) {
      const left = await this.#call('end inserts', () => {
        let running = 0
        for (const insert of this.#state.running) {
          if (insert.cancelled || !tokens.some((token) => insert.token.startsWith(token))) continue
          running++
          // A kill takes effect a little later.
          if (this.#kernel.chance(0.7)) insert.cancelled = true
        }
        return running
      })
      if (left === 0) return true
      await new Promise<void>((resolve) =>
        this.#kernel.deliver(this.#process, END_POLL_MS, 'end inserts again', () => resolve()),
      )
    }
  }

  /** As store/clickhouse/fence.ts: from here on deletes of earlier writers delete nothing. */
  claim(fence: bigint): Promise<void> {
    return this.#call(`claim ${fence}`, () => {
      if (fence > this.#state.fence) this.#state.fence = fence
    })
  }

  delete(name: TableName, { from, to }: BlockRange, fence: bigint): Promise<void> {
    return this.#call(`delete ${name} ${from}..${to}`, () => {
      if (fence < this.#state.fence) return
      const remove = () => {
        const parts = this.#state.tables.get(name) ?? []
        this.#state.tables.set(
          name,
          parts.filter(({ block }) => block < from || block > to),
        )
      }
      if (this.#bugs.planted('deletes that have not happened yet'))
        this.#kernel.after(3_000, `mutation ${name}`, remove)
      else remove()
    })
  }

  #land(name: TableName, batches: readonly EncodedBatch[], token: string): void {
    const seen = this.#state.tokens.get(name) ?? []
    if (seen.includes(token)) return
    const parts = batches.flatMap((batch) => partsOf(batch, name))
    // Without rows there is no part, and it is with the parts that the engine keeps its tokens.
    if (parts.length === 0) return
    this.#state.tokens.set(name, [...seen, token].slice(-TOKENS_KEPT))
    const partitions = new Set(parts.map(({ block }) => Math.floor(block / this.#partitionBlocks)))
    // Across partitions an insert is not atomic: a part of it may be all there is.
    const kept =
      partitions.size > 1 && this.#kernel.chance(0.3)
        ? parts.filter(({ block }) => Math.floor(block / this.#partitionBlocks) === Math.min(...partitions))
        : parts
    this.#state.tables.get(name)?.push(...kept)
  }

  #call<T>(label: string, work: () => T): Promise<T> {
    const { errorRate } = this.#faults
    const travel = this.#kernel.travel(this.#faults)
    return this.#kernel.call(this.#process, `${this.#process.name} ch ${label}`, travel, () => {
      if (this.#kernel.chance(errorRate)) throw new ClickHouseFailure(new Error('connection refused'))
      return work()
    })
  }
}

function partsOf(batch: EncodedBatch, name: TableName): StoredPart[] {
  const { blockRowCounts, blockDigests } = batch.tables[name]
  return batch.refs.flatMap(({ number }, index) => {
    const rows = blockRowCounts[index] ?? 0
    return rows > 0 ? [{ block: number, rows, digest: blockDigests[index] ?? 0, readBack: false }] : []
  })
}
