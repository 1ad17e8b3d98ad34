/**
 * The simulated stores beside the real ones: the same calls go to both, and both must answer alike.
 * Without this the simulation would prove what its author believes of Postgres and ClickHouse.
 */
import type { BlockRef } from '#primitives.ts'
import type { Random } from '#runtime/runtime.ts'
import { expectedOf } from '#store/clickhouse/ClickHouseSink.ts'
import { ENCODER_VERSION } from '#store/clickhouse/encoderVersion.ts'
import type { JournalEntry } from '#store/clickhouse/journal.ts'
import { PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { decodeRange } from '#transform/decode/decodeRange.ts'
import { openChainStore } from '../store/support/chainStore.ts'
import { answerBytes } from '../support/answerBytes.ts'
import { makeBodies } from './bodies.ts'
import { HEAD_FROM, type Ports, realSide, type Side, simulatedSide } from './conformanceSides.ts'
import { Kernel } from './kernel.ts'
import type { SimBatch } from './ledgerState.ts'
import { World, type WorldBlock } from './world.ts'

const WORLD_BLOCKS = 40
/** Enough branches that wrong parents come up. */
const BRANCHES = 3
const profile = { chainId: 31_337, kind: 'evm', headerRule: 'ethereum', checks: 'roots' } as const

/** One random call and what came of it, as text that both sides must agree on. */
type Step = (ports: Ports) => Promise<unknown>

export class Conformance {
  readonly #random: Random
  readonly #kernel: Kernel
  readonly #branches: readonly (readonly WorldBlock[])[]
  readonly #sides: readonly Side[]
  /** Writers by age, each over both sides. */
  readonly #writers: Ports[][] = []
  #tokens = 0

  private constructor(kernel: Kernel, branches: readonly (readonly WorldBlock[])[], sides: readonly Side[]) {
    this.#kernel = kernel
    this.#random = kernel.random
    this.#branches = branches
    this.#sides = sides
  }

  static async open(seed: number): Promise<Conformance> {
    const kernel = new Kernel(seed)
    const bodies = await makeBodies(15)
    const world = new World(kernel, bodies, {
      finalityDepth: WORLD_BLOCKS,
      length: WORLD_BLOCKS,
      forked: false,
    })
    const branches = [world.chain]
    while (branches.length < BRANCHES) {
      world.reorg(kernel.between(5, WORLD_BLOCKS - 2))
      world.extend(Math.max(0, WORLD_BLOCKS - world.chain.length))
      branches.push(world.chain)
    }
    const store = await openChainStore({ headFrom: HEAD_FROM })
    const conformance = new Conformance(kernel, branches, [simulatedSide(kernel), realSide(store)])
    await conformance.#claim()
    return conformance
  }

  async close(): Promise<void> {
    for (const side of this.#sides) await side.close()
  }

  /** Several random calls; the first on which the sides differ, or null. */
  async sequence(length: number): Promise<string | null> {
    for (let n = 0; n < length; n++) {
      if (this.#random() < 0.02) await this.#claim()
      const { label, step } = await this.#draw()
      const newest = this.#writers.at(-1) ?? []
      const writer = this.#random() < 0.05 ? (this.#writers[0] ?? newest) : newest
      const answers: string[] = []
      for (const ports of writer) answers.push(await answerOf(step, ports))
      if (answers[0] !== answers[1]) return `${label}: simulated ${answers[0]}, real ${answers[1]}`
      const states: string[] = []
      for (const ports of newest) states.push(JSON.stringify(await stateOf(ports)))
      if (states[0] !== states[1]) return `after ${label}: simulated ${states[0]}, real ${states[1]}`
    }
    return null
  }

  async #claim(): Promise<void> {
    const fence = BigInt(this.#writers.length + 1)
    const ports: Ports[] = []
    for (const side of this.#sides) ports.push(await side.claim(fence))
    this.#writers.push(ports)
  }

  async #draw(): Promise<{ label: string; step: Step }> {
    const [simulated] = this.#writers.at(-1) ?? []
    if (!simulated) throw new Error('there is a writer')
    const tip = await simulated.head.tip()
    const from = tip ? tip.number + 1 : ((await simulated.head.emptyFrom?.()) ?? HEAD_FROM)
    const kind = this.#kernel.pick(kinds)
    switch (kind) {
      case 'append': {
        const batch = this.#batch(this.#random() < 0.85 ? from : from + 1)
        return {
          label: `append ${batch.range.from}..${batch.range.to}`,
          step: (ports) => ports.head.append(batch),
        }
      }
      case 'revert': {
        const to = tip && (await simulated.head.refAt(tip.number - this.#kernel.between(1, 6)))
        return { label: `revert to ${to?.number}`, step: (ports) => ports.head.revert(to) }
      }
      case 'finalize': {
        const number = Math.max(-1, from - this.#kernel.between(1, 12))
        return { label: `finalize ${number}`, step: (ports) => ports.head.finalize(number) }
      }
      case 'open chunks':
        return { label: kind, step: (ports) => ports.history.openChunks({ from: 0, to: HEAD_FROM - 1 }) }
      case 'load': {
        const [chunk] = await simulated.history.openChunks({ from: 0, to: HEAD_FROM - 1 }).catch(() => [])
        await this.#writers
          .at(-1)?.[1]
          ?.history.openChunks({ from: 0, to: HEAD_FROM - 1 })
          .catch(() => [])
        if (!chunk || chunk.tip >= chunk.range.to)
          return { label: 'nothing to load', step: async () => 'nothing' }
        const from = Math.min(chunk.tip + (this.#random() < 0.9 ? 1 : 2), chunk.range.to)
        const batch = this.#batch(from, chunk.range.to)
        const label = `load ${batch.range.from}..${batch.range.to}`
        return { label, step: (ports) => ports.history.appendToChunk(chunk, batch) }
      }
      case 'revert chunk': {
        const [chunk] = await simulated.history.openChunks({ from: 0, to: HEAD_FROM - 1 }).catch(() => [])
        if (!chunk || chunk.tip < 0) return { label: 'nothing to revert', step: async () => 'nothing' }
        const to = await simulated.history.refInChunk(chunk, chunk.tip - this.#kernel.between(0, 5))
        const held = this.#random() < 0.9 ? chunk : { ...chunk, tip: chunk.tip - 1 }
        return {
          label: `revert chunk to ${to?.number}`,
          step: async (ports) => [
            await ports.history.refInChunk(chunk, chunk.tip),
            await ports.history.revertChunk(held, to),
          ],
        }
      }
      case 'attach': {
        const chunk = { range: { from: 0, to: HEAD_FROM - 1 }, tip: HEAD_FROM - 1, tipHash: null }
        return { label: kind, step: (ports) => ports.history.attachChunk(chunk) }
      }
      case 'begin': {
        const [gap] = await simulated.ledger.missing()
        const at = gap?.from ?? this.#kernel.between(0, 10)
        const entry = this.#entry(at, Math.min(at + this.#kernel.between(0, 3), gap?.to ?? at))
        return { label: `begin ${at}`, step: (ports) => ports.journal.begin(entry) }
      }
      case 'retry':
      case 'written': {
        const [open] = await simulated.journal.open()
        const entry = open ?? this.#entry(0, 0)
        return {
          label: `${kind} ${entry.range.from}`,
          step: async (ports) => shown((await ports.journal[kind](entry)) ?? undefined),
        }
      }
      case 'withdraw': {
        const first = this.#kernel.between(0, 20)
        const range = { from: first, to: first + this.#kernel.between(0, 3) }
        return {
          label: `withdraw ${range.from}..${range.to}`,
          step: async (ports) => [
            await ports.journal.holds(range),
            await ports.journal.withdraw(range, PARTITION_BLOCKS),
          ],
        }
      }
      case 'abandon': {
        const [open] = await simulated.journal.open()
        const entry = open ?? this.#entry(0, 0)
        return { label: `abandon ${entry.range.from}`, step: (ports) => ports.journal.abandon(entry) }
      }
      case 'insert': {
        const batch = this.#batch(this.#kernel.between(0, 20))
        const name = this.#kernel.pick(['blocks', 'txs', 'logs'] as const)
        // A token may come again with other rows: the engine drops them.
        const token = `token${this.#random() < 0.4 ? this.#kernel.between(0, this.#tokens) : ++this.#tokens}`
        return {
          label: `insert ${name} ${token}`,
          step: (ports) => ports.tables.insert(name, [batch], token),
        }
      }
      case 'delete': {
        const first = this.#kernel.between(0, 20)
        const range = { from: first, to: first + this.#kernel.between(0, 5) }
        const name = this.#kernel.pick(['blocks', 'txs', 'logs'] as const)
        return { label: `delete ${name} ${first}`, step: (ports) => ports.tables.delete(name, range, 1n) }
      }
    }
  }

  #entry(from: number, to: number): JournalEntry {
    return {
      range: { from, to },
      encoder: ENCODER_VERSION,
      attempt: 0,
      tables: expectedOf([this.#batch(from, to)]),
    }
  }

  /** One to four blocks of some branch. */
  #batch(from: number, to = WORLD_BLOCKS - 1): SimBatch {
    const branch = this.#random() < 0.8 ? this.#branches[0] : this.#kernel.pick(this.#branches)
    const start = Math.min(from, WORLD_BLOCKS - 1)
    const blocks = (branch ?? []).slice(start, Math.min(start + this.#kernel.between(1, 4), to + 1))
    const range = { from: start, to: start + Math.max(1, blocks.length) - 1 }
    const answers = blocks.map(({ ref, block, receipts }) => ({ number: ref.number, block, receipts }))
    const bytes = answerBytes(answers)
    return { ...structuredClone(decodeRange(profile, bytes, range).batch), bytes }
  }
}

const kinds = [
  'append',
  'append',
  'append',
  'revert',
  'finalize',
  'open chunks',
  'load',
  'load',
  'attach',
  'revert chunk',
  'begin',
  'withdraw',
  'abandon',
  'retry',
  'written',
  'insert',
  'insert',
  'delete',
] as const

async function answerOf(step: Step, ports: Ports): Promise<string> {
  try {
    return JSON.stringify((await step(ports)) ?? 'done')
  } catch (error) {
    const { code, sqlState } = Object(error)
    if (typeof code !== 'string') throw error
    return `${code} ${sqlState ?? ''}`
  }
}

/** The result of `retry`, without the tables; `written` gives nothing. */
function shown(entry: JournalEntry | undefined): unknown {
  return entry ? [entry.range, entry.attempt] : 'done'
}

/** All that readers of either store could see. */
async function stateOf({ head, journal, ledger, tables }: Ports): Promise<unknown> {
  const refs: (BlockRef | null)[] = []
  for (let number = 0; number < WORLD_BLOCKS; number += 3) refs.push(await head.refAt(number))
  const counts = await tables.count({ from: 0, to: WORLD_BLOCKS })
  return {
    tip: await head.tip(),
    finalized: await head.finalized(),
    emptyFrom: await head.emptyFrom?.(),
    refs: refs.map((ref) => ref?.hash ?? null),
    open: (await journal.open()).map(({ range, attempt, encoder }) => [
      range.from,
      range.to,
      attempt,
      encoder,
    ]),
    missing: await ledger.missing(),
    counts: (['blocks', 'txs', 'logs'] as const).map((name) => [
      counts.get(name)?.rows,
      counts.get(name)?.blockSum,
    ]),
  }
}
