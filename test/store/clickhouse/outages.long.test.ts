// Goal: a thousand outages of two thousand blocks each, with writers that die on the way, end as a
// run without them does: the same rows in both stores, and no partition, chunk or lane more (W1).
// Method: a chain of tiny blocks with true roots through the real sinks; what the encoder made of
// each block is compared with what the engines compute of theirs. OUTAGES=20 tries a part.
import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { BlockRange } from '#ingest/range.ts'
import type { Chunk } from '#ingest/sink.ts'
import { type BlockDigest, clickhouseDigests, postgresDigests } from '#store/compare/digests.ts'
import { readCoverage } from '#store/ledger/lane.ts'
import { historyTarget } from '#store/ledger/ledger.ts'
import { headPartitionEnd, listPartitions } from '#store/ledger/partitions.ts'
import type { EncodedBatch } from '#transform/batch.ts'
import { analyticsTableNames, ledgerTableNames, type TableName, tableNames } from '#transform/tables.ts'
import { seededRandom } from '../../ingest/support/random.ts'
import { makeBodies, type PlacedBlock, placeBlock } from '../../simulation/bodies.ts'
import { answerBytes } from '../../support/answerBytes.ts'
import { seedOf } from '../../support/seed.ts'
import { type ChainStore, decode, openChainStore, writeAll } from '../support/chainStore.ts'

const OUTAGES = Number(process.env['OUTAGES'] ?? 1_000)
const OUTAGE_BLOCKS = 2_000
/** Blocks that the head lane takes between two outages. */
const HEAD_BLOCKS = 3
/** One block in so many has transactions. */
const FULL_EVERY = 8
const BATCH_BLOCKS = 500
/** History is filled after as many outages, and all of their gaps at once. */
const FILL_EVERY = 3
/** Outages after which ClickHouse has caught up. */
const WRITE_EVERY = 30
const DEATH_CHANCE = 0.2
const deaths = [
  'postgres.append.rows',
  'postgres.append.commit',
  'postgres.append.done',
  'postgres.chunk.rows',
  'postgres.chunk.commit',
  'postgres.chunk.move',
  'postgres.chunk.moved',
]
/** Some blocks, so that every gap moves in several pieces. */
const PIECE_BYTES = 512 * 1024

class Died extends Error {}

test(
  'many outages end as none do (W1)',
  async () => {
    const random = seededRandom(seedOf(1))
    const chain = await openTinyChain()
    const honest = new HonestRun()
    const writers = new Writers(random)
    await writers.open()
    let next = 0
    for (let outage = 0; outage <= OUTAGES; outage++) {
      if (outage > 0) {
        next += OUTAGE_BLOCKS
        await writers.insist(({ head }) => head.seal(next))
      }
      const range = { from: next, to: next + HEAD_BLOCKS - 1 }
      await writers.insist(async ({ head }) => {
        // The writer that died may have got as far.
        if ((await head.tip())?.number !== range.to) await head.append(honest.heed(chain.batch(range)))
        await head.finalize(range.to)
      })
      next = range.to + 1
      if (outage % FILL_EVERY > 0 && outage < OUTAGES) continue
      await writers.insist((store) => fill(store, (range) => honest.heed(chain.batch(range))))
      chain.forget(next)
      honest.close(next - 1)
      if (outage % WRITE_EVERY > 0) continue
      await writeAll(writers.store)
      process.stdout.write(`${outage} outages, ${writers.deaths} deaths, block ${next}\n`)
    }
    const { store } = writers
    await writeAll(store)
    expect(writers.deaths).toBeGreaterThanOrEqual(Math.floor(OUTAGES / 50))
    await expectNothingLeft(store, next - 1)
    await honest.expectHeld(store)
  },
  6 * 3_600_000,
)

/** Blocks that were not asked for yet, or may be again. */
async function openTinyChain() {
  const bodies = await makeBodies(5)
  const blocks: PlacedBlock[] = []
  let from = 0
  let parentHash: PlacedBlock['hash'] = `0x${'00'.repeat(32)}`
  const extend = (end: number) => {
    for (let number = from + blocks.length; number < end; number++) {
      const body = bodies[number % FULL_EVERY === 0 ? (number / FULL_EVERY) % bodies.length : 0]
      if (!body) throw new Error('no body was made')
      const block = placeBlock(body, { number, parentHash, timestamp: 1_700_000_000 + number, salt: number })
      blocks.push(block)
      parentHash = block.hash
    }
  }
  return {
    extend,
    forget(before: number) {
      blocks.splice(0, before - from)
      from = before
    },
    batch(range: BlockRange): EncodedBatch {
      extend(range.to + 1)
      const told = blocks.slice(range.from - from, range.to + 1 - from)
      const answers = told.map(({ block, receipts }, index) => ({
        number: range.from + index,
        block,
        receipts,
      }))
      return decode({ range, bytes: answerBytes(answers), endpoint: 'tiny' })
    },
  }
}

/** Everything that is missing, as the history lane loads it. */
async function fill(store: ChainStore, batchOf: (range: BlockRange) => EncodedBatch): Promise<void> {
  const target = await historyTarget(store.postgres, store.chainId, 0)
  for (const chunk of await store.history.openChunks(target)) {
    let { tip, tipHash } = chunk
    while (tip < chunk.range.to) {
      const batch = batchOf({ from: tip + 1, to: Math.min(tip + BATCH_BLOCKS, chunk.range.to) })
      const begun: Chunk = { range: chunk.range, tip, tipHash }
      await store.history.appendToChunk(begun, batch)
      ;[tip, tipHash] = [batch.range.to, batch.refs.at(-1)?.hash ?? null]
    }
    await store.history.attachChunk({ range: chunk.range, tip, tipHash })
  }
}

/** Writers of one chain, each of which goes on where the one before died. */
class Writers {
  deaths = 0
  readonly #random: () => number
  #first: ChainStore | null = null
  #store: ChainStore | null = null
  #fence = 0n
  #diesAt: string | null = null
  #visits = 0

  constructor(random: () => number) {
    this.#random = random
  }

  get store(): ChainStore {
    if (!this.#store) throw new Error('no writer is open')
    return this.#store
  }

  async open(): Promise<void> {
    const before = this.#store
    this.#store = await openChainStore({
      headFrom: 0,
      checks: 'roots',
      fence: ++this.#fence,
      pieceBytes: PIECE_BYTES,
      failpoint: (name) => this.#pass(name),
      ...(this.#first && { beside: this.#first }),
    })
    if (before && before !== this.#first) await before.close()
    if (this.#first) return
    const first = this.#store
    this.#first = first
    onTestFinished(async () => {
      if (this.#store !== first) await this.#store?.close()
      await first.close()
    })
  }

  /** Does the work, by another writer where one dies. */
  async insist(work: (store: ChainStore) => Promise<void>): Promise<void> {
    if (this.#random() < DEATH_CHANCE) {
      this.#diesAt = deaths[Math.floor(this.#random() * deaths.length)] ?? null
      this.#visits = 1 + Math.floor(this.#random() * 2)
    }
    try {
      await work(this.store)
    } catch (error) {
      if (!isDeath(error)) throw error
      this.deaths++
      await this.open()
      return this.insist(work)
    } finally {
      this.#diesAt = null
    }
  }

  #pass(name: string): void {
    if (name !== this.#diesAt || --this.#visits > 0) return
    this.#diesAt = null
    throw new Died(name)
  }
}

const isDeath = (error: unknown): boolean =>
  error instanceof Died || (error instanceof Error && error.cause instanceof Died)

/** The chain's blocks in every table, and nothing but that. */
class HonestRun {
  #open = new Map<TableName, Map<number, BlockDigest>>()
  readonly #closed: { readonly range: BlockRange; readonly tables: ReadonlyMap<TableName, string> }[] = []

  heed(batch: EncodedBatch): EncodedBatch {
    for (const name of tableNames) {
      const table = this.#open.get(name) ?? new Map<number, BlockDigest>()
      this.#open.set(name, table)
      const { blockRowCounts, blockDigests } = batch.tables[name]
      for (const [index, { number }] of batch.refs.entries()) {
        const [rows, digest] = [blockRowCounts[index] ?? 0, blockDigests[index] ?? 0]
        if (rows > 0) table.set(number, { block: number, rows, digest })
      }
    }
    return batch
  }

  /** All blocks up to this one were seen. */
  close(to: number): void {
    const from = (this.#closed.at(-1)?.range.to ?? -1) + 1
    const tables = new Map([...this.#open].map(([name, table]) => [name, hashOf([...table.values()])]))
    this.#closed.push({ range: { from, to }, tables })
    this.#open = new Map()
  }

  async expectHeld({ postgres, schema, clickhouse, database }: ChainStore): Promise<void> {
    for (const { range, tables } of this.#closed) {
      const place = `in blocks ${range.from} to ${range.to}`
      for (const name of tableNames) {
        const found = hashOf(await postgresDigests(postgres.pool, schema, name, range))
        expect(found, `${name} of Postgres ${place}`).toBe(tables.get(name))
      }
      for (const name of analyticsTableNames) {
        const found = hashOf(await clickhouseDigests(clickhouse, database, name, range))
        expect(found, `${name} of ClickHouse ${place}`).toBe(tables.get(name))
      }
    }
  }
}

function hashOf(digests: readonly BlockDigest[]): string {
  const hash = createHash('sha256')
  for (const { block, rows, digest } of digests.toSorted((a, b) => a.block - b.block))
    hash.update(`${block} ${rows} ${digest}\n`)
  return hash.digest('hex')
}

async function expectNothingLeft({ postgres, schema }: ChainStore, to: number): Promise<void> {
  const { pool } = postgres
  for (const store of ['postgres', 'clickhouse'] as const)
    expect(await readCoverage(pool, schema, store), store).toEqual([{ from: 0, to }])
  // One besides those of a chain that was never away, where an outage passes the end of another.
  let partitionsMax = 0
  for (let from = 0; from <= to; from = headPartitionEnd(from) + 1) partitionsMax += 2
  const partitions = await listPartitions(pool, schema)
  for (const name of ledgerTableNames)
    expect(partitions.filter(({ parent }) => parent === name).length, name).toBeLessThan(partitionsMax)
  const { rows } = await pool.query<{ lanes: number; chunks: number; detached: number }>(
    `SELECT (SELECT count(*)::int FROM ${schema}.lanes) AS lanes, (SELECT count(*)::int FROM ${schema}.chunks) AS chunks,
       (SELECT count(*)::int FROM pg_class
        WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND relname LIKE '%\\_from\\_%' AND NOT relispartition) AS detached`,
    [schema],
  )
  expect(rows).toEqual([{ lanes: 1, chunks: 0, detached: 0 }])
}
