/**
 * One seed: a world, nodes, stores and one or two indexers that are killed, stopped and lied to for
 * a while; then the faults end, and the stores must come to hold exactly the chain. What must
 * always hold is checked after every event that changed a store.
 */
import { GONE_MS } from '#ingest/rpc/endpoints/Endpoint.ts'
import type { Body } from './bodies.ts'
import { type BugName, Bugs } from './bugs.ts'
import { Court } from './court.ts'
import { SimIndexer } from './indexer.ts'
import { Kernel, type SimProcess } from './kernel.ts'
import { emptyLedger, type LedgerState } from './ledgerState.ts'
import { type NodeFaults, SimNode } from './nodes.ts'
import { emptyEngine, SimClickHouse } from './simClickHouse.ts'
import { SimLedger, type StoreFaults } from './simLedger.ts'
import { drawSwarm, type Swarm } from './swarm.ts'
import { World } from './world.ts'

export interface Outcome {
  readonly seed: number
  /** Empty when everything held. */
  readonly violations: readonly string[]
  readonly traceHash: string
  readonly events: number
  readonly blocks: number
  readonly kills: number
  readonly reorgs: number
  /** How often ClickHouse gave history back. */
  readonly withdrawals: number
  readonly virtualMs: number
}

export interface SimulationOptions {
  readonly bodies: readonly Body[]
  readonly bugs?: readonly BugName[]
  /** Faults that are not left to the seed, for what its mixtures rarely bring together. */
  readonly swarm?: Partial<Swarm> | undefined
  /** Told of every event, to read what happened. */
  readonly trace?: (line: string) => void
}

/** After the faults have ended, the stores must hold the chain within this time. */
const LIVENESS_MS = 120_000
/** And for each block of an outage: one at a time, from the slowest of nodes. */
const AWAY_BLOCK_MS = 250
/** An operator starts a process again that came to rest. */
const RESTART_MS = 1_000
/**
 * A wall clock is set wrong by an hour at most, and then drifts by up to a tenth, as much and the
 * same way as it was set.
 */
const STEP_MS_MAX = 3_600_000
const DRIFT_SHARE_MAX = 0.1
/** First block of a lane that a false head has sent away. */
const MISLED = 2 ** 40

export async function simulate(seed: number, options: SimulationOptions): Promise<Outcome> {
  const simulation = new Simulation(seed, options)
  return simulation.run()
}

class Simulation {
  readonly #seed: number
  readonly #kernel: Kernel
  readonly #swarm: Swarm
  readonly #world: World
  readonly #nodes: readonly SimNode[]
  readonly #ledger = emptyLedger()
  readonly #engine = emptyEngine()
  readonly #postgresFaults: StoreFaults
  readonly #clickhouseFaults: StoreFaults
  readonly #bugs: Bugs
  readonly #court: Court
  readonly #writers: { indexer: SimIndexer; process: SimProcess }[] = []
  #faulty = true
  #kills = 0
  #reorgs = 0
  #incarnations = 0

  constructor(seed: number, { bodies, bugs, swarm: given, trace }: SimulationOptions) {
    this.#seed = seed
    this.#kernel = new Kernel(seed, trace)
    const swarm = { ...drawSwarm(this.#kernel), ...given }
    this.#swarm = swarm
    this.#kernel.note(JSON.stringify(swarm))
    this.#bugs = new Bugs(bugs)
    this.#world = new World(this.#kernel, bodies, {
      finalityDepth: swarm.finalityDepth,
      length: swarm.startLength,
      forked: swarm.forked,
    })
    const nodeFaults: NodeFaults = {
      errorRate: swarm.rpcErrorRate,
      lieRate: swarm.lieRate,
      lies: swarm.lies,
      loneLieRate: swarm.loneLieRate,
      loneLies: [],
      latencyMs: swarm.latencyMs,
      tailMs: swarm.tailMs,
      lagMs: swarm.lagMs,
    }
    this.#nodes = Array.from(
      { length: swarm.nodes },
      (_, n) =>
        new SimNode(`http://node${n}.test:8545`, this.#kernel, this.#world, {
          ...nodeFaults,
          ...(n === 0 && { loneLies: believable(swarm) }),
        }),
    )
    const store = { latencyMs: [0.3, 4] as const, tailMs: swarm.tailMs, full: false }
    this.#postgresFaults = { ...store, errorRate: swarm.postgresErrorRate, lostRate: swarm.postgresLostRate }
    this.#clickhouseFaults = {
      ...store,
      errorRate: swarm.clickhouseErrorRate,
      lostRate: swarm.clickhouseLostRate,
    }
    if (swarm.misled) mislead(this.#ledger)
    this.#court = new Court({ world: this.#world, ledger: this.#ledger, engine: this.#engine, limits: swarm })
  }

  async run(): Promise<Outcome> {
    for (let n = 0; n < this.#swarm.writers; n++) this.#start(n)
    this.#live()
    const { outageBlocks, faultsMs } = this.#swarm
    if (outageBlocks > 0) this.#kernel.after(faultsMs / 2, 'an outage', () => this.#beAway(outageBlocks))
    const broken = () => this.#court.violations.length > 0
    await this.#kernel.run(this.#swarm.faultsMs, broken, () => this.#afterEvent())
    this.#endFaults()
    if ((await this.#becomesComplete()) && this.#replaceHead()) await this.#becomesComplete()
    // Messages that were still on their way may arrive, and must change nothing.
    if (!broken()) await this.#kernel.run(this.#kernel.nowMs + 15_000, broken, () => this.#afterEvent())
    this.#court.checkAll()
    for (const { process } of this.#writers) process.alive = false
    return {
      seed: this.#seed,
      violations: this.#court.violations,
      traceHash: this.#kernel.traceHash(),
      events: this.#kernel.events,
      blocks: this.#world.chain.length,
      kills: this.#kills,
      reorgs: this.#reorgs,
      withdrawals: this.#ledger.lane?.withdrawals ?? 0,
      virtualMs: this.#kernel.nowMs,
    }
  }

  /** Whether the stores come to hold the chain. */
  async #becomesComplete(): Promise<boolean> {
    const broken = () => this.#court.violations.length > 0
    const done = () => broken() || this.#court.complete()
    const { liarStays, loneLies, outageBlocks } = this.#swarm
    // A program that just started makes nothing final on one word until the other endpoint is gone.
    const goneMs = liarStays && loneLies.includes('L15 another chain id') ? GONE_MS : 0
    const untilMs = this.#kernel.nowMs + LIVENESS_MS + goneMs + outageBlocks * AWAY_BLOCK_MS
    const ended = await this.#kernel.run(untilMs, done, () => this.#afterEvent())
    if (!ended && !broken()) this.#court.incomplete(this.#writers.map(({ indexer }) => indexer.stoppedBy))
    return ended && !broken()
  }

  /**
   * No block follows that would tell by its parent: who looks at heights alone never learns of it.
   */
  #replaceHead(): boolean {
    if (!this.#world.replaceHead()) return false
    this.#kernel.note(`another head, ${this.#world.head.hash}`)
    for (const node of this.#nodes) node.hear()
    return true
  }

  #start(n: number): void {
    const process: SimProcess = { name: `writer${n}#${++this.#incarnations}`, alive: true, stoppedUntilMs: 0 }
    const shared = { kernel: this.#kernel, process, bugs: this.#bugs }
    const { partitionBlocks, chunkBlocks, movedBlocks } = this.#swarm
    const violated = (what: string) => this.#court.violated(what)
    const indexer = new SimIndexer({
      ...shared,
      nodes: this.#nodes,
      ledger: new SimLedger({
        ...shared,
        state: this.#ledger,
        faults: this.#postgresFaults,
        chunkBlocks,
        movedBlocks,
        violated,
      }),
      clickhouse: new SimClickHouse({
        ...shared,
        state: this.#engine,
        faults: this.#clickhouseFaults,
        partitionBlocks,
      }),
      limits: this.#swarm,
      told: (head, finalized) => this.#court.told(head, finalized),
    })
    this.#kernel.note(`${process.name} starts`)
    this.#writers[n] = { indexer, process }
    indexer.start()
  }

  #kill(n: number): void {
    const writer = this.#writers[n]
    if (!writer?.process.alive) return
    writer.process.alive = false
    writer.process.diedAtMs = this.#kernel.nowMs
    this.#kills++
    this.#kernel.note(`${writer.process.name} is killed`)
    this.#kernel.after(this.#kernel.between(1, 3_000), 'restart', () => this.#start(n))
  }

  /** All writers end; the chain has grown by so many blocks when the first is back. */
  #beAway(blocks: number): void {
    for (const n of this.#writers.keys()) this.#kill(n)
    this.#world.extend(blocks)
    for (const node of this.#nodes) node.hear()
  }

  /** The world goes on whatever the indexer does. */
  #live(): void {
    const { blockMs, reorgRate } = this.#swarm
    if (!this.#faulty) return
    this.#kernel.after(blockMs * (0.5 + this.#kernel.random()), 'a block', () => {
      if (!this.#faulty) return
      if (
        this.#kernel.chance(reorgRate) &&
        this.#world.reorg(this.#kernel.between(1, this.#swarm.finalityDepth)) > 0
      ) {
        this.#reorgs++
        this.#kernel.note(`reorg to ${this.#world.head.hash}`)
      } else this.#world.extend(1)
      for (const node of this.#nodes) node.hear()
      this.#live()
    })
  }

  #afterEvent(): void {
    this.#court.check(this.#writers.map(({ indexer }) => indexer))
    this.#writers.forEach(({ indexer, process }, n) => {
      if (indexer.stoppedBy !== null && process.alive) this.#restart(n)
    })
    if (this.#faulty) this.#misbehave()
  }

  /** A lane that stopped for good is looked at by a person, who starts the process again. */
  #restart(n: number): void {
    const writer = this.#writers[n]
    if (!writer) return
    this.#kernel.note(`${writer.process.name} stopped: ${String(writer.indexer.stoppedBy)}`)
    this.#court.stopped(writer.indexer.stoppedBy)
    writer.process.alive = false
    writer.process.diedAtMs = this.#kernel.nowMs
    this.#kernel.after(RESTART_MS, 'started again', () => this.#start(n))
  }

  #misbehave(): void {
    const kernel = this.#kernel
    const { crashRate, stopRate, clockSteps, engineLossRate, diskFull, writers } = this.#swarm
    const n = kernel.between(0, writers - 1)
    if (kernel.chance(crashRate)) this.#kill(n)
    const writer = this.#writers[n]
    if (writer && kernel.chance(stopRate)) {
      writer.process.stoppedUntilMs = kernel.nowMs + kernel.between(1_000, 30_000)
      kernel.note(`${writer.process.name} is stopped until ${writer.process.stoppedUntilMs}`)
    }
    if (writer && clockSteps && kernel.chance(0.001)) {
      const stepMs = kernel.between(-STEP_MS_MAX, STEP_MS_MAX)
      writer.indexer.clock.stepWall(stepMs, (stepMs / STEP_MS_MAX) * DRIFT_SHARE_MAX)
    }
    if (kernel.chance(engineLossRate)) this.#loseInsert()
    if (diskFull && kernel.chance(0.001))
      this.#fillDisk(kernel.pick([this.#postgresFaults, this.#clickhouseFaults]))
  }

  /**
   * An engine without fsync loses what it had acknowledged a moment ago; a batch in the journal
   * says so.
   */
  #loseInsert(): void {
    for (const { entry, state } of this.#ledger.journal.values()) {
      if (state !== 'open') continue
      const [name, parts] = this.#kernel.pick([...this.#engine.tables])
      const lost = this.#kernel.chance(0.5)
        ? { from: entry.range.from, to: entry.range.to }
        : { from: entry.range.from, to: entry.range.from }
      const kept = parts.filter(({ block, readBack }) => readBack || block < lost.from || block > lost.to)
      if (kept.length < parts.length) this.#kernel.note(`the engine lost ${name} ${lost.from}..${lost.to}`)
      this.#engine.tables.set(name, kept)
      return
    }
  }

  #fillDisk(store: StoreFaults): void {
    store.full = true
    this.#kernel.note('a disk is full')
    this.#kernel.after(this.#kernel.between(500, 10_000), 'space again', () => {
      store.full = false
    })
  }

  #endFaults(): void {
    this.#faulty = false
    this.#kernel.note('faults end')
    // Chains grow: where finality is counted from the head, one that has become shorter would wait
    // for ever.
    this.#world.outgrow()
    for (const node of this.#nodes) {
      Object.assign(node.faults, { errorRate: 0, lieRate: 0, tailMs: 0, lagMs: 0 })
      if (!this.#swarm.liarStays || this.#nodes.length === 1) node.faults.loneLies = []
      node.hear()
    }
    for (const store of [this.#postgresFaults, this.#clickhouseFaults])
      Object.assign(store, { errorRate: 0, lostRate: 0, tailMs: 0, full: false })
    for (const { process } of this.#writers)
      process.stoppedUntilMs = Math.min(process.stoppedUntilMs, this.#kernel.nowMs + 1_000)
  }
}

/** An only endpoint is believed in what it calls final, and in what nothing proves. */
const believable = ({ nodes, loneLies }: Swarm) =>
  nodes > 1 ? loneLies : loneLies.filter((lie) => /^L2[14]/.test(lie))

/** The state of a program that believed the head of another chain at its first start. */
function mislead(ledger: LedgerState): void {
  ledger.lane = {
    fromBlock: MISLED,
    tip: MISLED - 1,
    tipHash: null,
    finalized: MISLED - 1,
    fence: 0n,
    withdrawals: 0,
  }
}
