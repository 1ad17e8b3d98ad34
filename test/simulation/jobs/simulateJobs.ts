/**
 * Histories of jobs: the real engine in two processes that are killed and stopped at any moment,
 * over rows, sellers and a chain in memory. Everything is decided by the seed.
 */
import { multiplied } from '#money/amounts.ts'
import { Jobs } from '#orchestrator/job/Jobs.ts'
import type { PlanNode } from '#orchestrator/plan/plan.ts'
import type { HeldJobs, LoadedJob } from '#rows/jobs/heldJobs.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import { silentLogger } from '#telemetry.ts'
import type { Buyer, Purchased } from '#wallet/buyer.ts'
import { Kernel, ProcessClock, type SimProcess } from '../kernel.ts'
import { type Mood, moods, SimMarket } from './simMarket.ts'
import { type RowBugs, type SimJob, SimRows } from './simRows.ts'
import { buyAt, endpointOf, pollingOf } from './simSellers.ts'

export interface JobBugs extends RowBugs {
  /** A timeout is taken for a failure. */
  readonly unknownIsFailure?: boolean
  /** After a restart a call is bought anew. */
  readonly restartBuysAnew?: boolean
  /** After a restart a free call is made again. */
  readonly restartRepeatsFree?: boolean
  readonly dependenciesForgotten?: boolean
}

export interface JobsOutcome {
  readonly wrong: readonly string[]
  readonly events: number
  readonly kills: number
  readonly states: readonly string[]
  readonly trace: string
}

const FAULTS_MS = 60_000
const END_MS = 3 * 3_600_000
const MULTIPLIER = '1.07'
const line = { latencyMs: [1, 40], tailMs: 3_000 } as const

export async function simulateJobs(seed: number, bugs: JobBugs = {}): Promise<JobsOutcome> {
  const world = new JobWorld(seed, bugs)
  await world.run()
  return world.outcome()
}

class JobWorld {
  readonly #kernel: Kernel
  readonly #rows: SimRows
  readonly #market: SimMarket
  readonly #bugs: JobBugs
  readonly #wrong: string[] = []
  readonly #moods = new Map<string, Mood>()
  #processes: SimProcess[] = []
  #kills = 0

  constructor(seed: number, bugs: JobBugs) {
    const wrong = (what: string) => void (this.#wrong.length < 10 && this.#wrong.push(what))
    this.#bugs = bugs
    this.#kernel = new Kernel(seed)
    this.#rows = new SimRows(bugs, wrong)
    this.#market = new SimMarket(this.#kernel, wrong)
    const jobs = this.#kernel.between(1, 3)
    for (let n = 0; n < jobs; n++) this.#place(`job${n}`)
  }

  async run(): Promise<void> {
    this.#start('a')
    this.#start('b')
    for (let at = 0; at < FAULTS_MS; at += this.#kernel.between(500, 8_000))
      this.#kernel.after(at, 'fault', () => this.#fault())
    const isOver = () => [...this.#rows.jobs.values()].every(({ closing }) => closing !== null)
    const ended = await this.#kernel.run(END_MS, isOver, () => {})
    for (const process of this.#processes) process.alive = false
    if (!ended) this.#wrong.push('a job never ended')
    else for (const job of this.#rows.jobs.values()) this.#judge(job)
  }

  outcome(): JobsOutcome {
    const states = [...this.#rows.jobs.values()].map(({ state }) => state)
    const { events } = this.#kernel
    return { wrong: this.#wrong, events, kills: this.#kills, states, trace: this.#kernel.traceHash() }
  }

  #judge(job: SimJob): void {
    const { closing, money, jobId, nodes } = job
    if (!closing) return
    const spent = this.#market.spentFor(jobId)
    const states = [...nodes.values()].map(({ state }) => state)
    const wrongIf = (isWrong: boolean, what: string) => void (isWrong && this.#wrong.push(what))
    wrongIf(closing.costs.paidUnits !== spent, 'the books say another cost than what left')
    const most = [...nodes.values()].reduce((sum, { unitsMax }) => sum + unitsMax, 0n)
    wrongIf(spent > most, 'more was spent than quoted')
    wrongIf(closing.committedUnits !== multiplied(spent, MULTIPLIER), 'another amount was committed')
    wrongIf(
      closing.committedAmount + closing.refund !== money.charge?.amount,
      'charge is not costs and refund',
    )
    const succeeded = states.filter((state) => state === 'succeeded').length
    wrongIf(
      (job.state === 'succeeded') !== (succeeded === states.length),
      'the job’s state is not its nodes’',
    )
    wrongIf(states.includes('cancelled') && !job.cancelled, 'a node was cancelled that nobody cancelled')
    for (const { nodeId, state } of nodes.values()) {
      const mood = this.#moods.get(`${jobId} ${nodeId}`)
      const failing = mood === 'dear' || mood === 'broken' || mood === 'vanishing'
      wrongIf(state === 'succeeded' && failing, 'a node succeeded that had no answer')
      const needs = (job.dependencies.get(nodeId) ?? []).map((id) => nodes.get(id)?.state)
      const isBarred = needs.some((need) => need !== 'succeeded')
      wrongIf(isBarred && state !== 'skipped' && state !== 'cancelled', 'a node ran without what it needs')
      wrongIf(state === 'skipped' && !isBarred, 'a node was skipped that could run')
    }
  }

  #place(jobId: string): void {
    const kernel = this.#kernel
    const count = kernel.between(1, 12)
    const ids = Array.from({ length: count }, (_, index) => `n${index}`)
    const dependencies = new Map(
      ids.map((id, index) => [id, ids.slice(0, index).filter(() => kernel.chance(0.3))] as const),
    )
    const prices = new Map<string, bigint>()
    const nodes = ids.map((id): PlanNode => {
      const mood = kernel.pick(moods)
      this.#moods.set(`${jobId} ${id}`, mood)
      prices.set(id, mood === 'free' ? 0n : BigInt(kernel.between(1, 1_000)))
      const method = kernel.chance(0.7) ? 'POST' : 'GET'
      return { id, serviceId: 's', method, path: `/${id}`, input: {}, dependsOn: dependencies.get(id) ?? [] }
    })
    const net = [...prices.values()].reduce((sum, units) => sum + units, 0n)
    const amount = multiplied(net, MULTIPLIER)
    const charge = {
      paymentId: jobId,
      method: 'charge',
      chainId: 1,
      token: '0x00',
      tokenDecimals: 6,
      amount,
    } as const
    this.#rows.jobs.set(jobId, {
      ...{
        jobId,
        dependencies,
        state: 'queued',
        fence: 0,
        dueMs: 0,
        cancelled: false,
        outputBytes: 0,
        closing: null,
      },
      plan: JSON.stringify({ nodes: kernel.chance(0.5) ? nodes : nodes.toReversed() }),
      money: {
        ...{ paymentId: jobId, payer: '0x01', costMultiplier: MULTIPLIER, decimals: 6 },
        chargedUnits: amount,
        charge,
      },
      deadlineMs: this.#clockOf({ name: '', alive: true, stoppedUntilMs: 0 }).now() + 2 * 3_600_000,
      attempts: new Map(),
      nodes: new Map(
        ids.map((nodeId) => [
          nodeId,
          {
            ...{
              nodeId,
              serviceId: 's',
              sellerKey: nodeId,
              state: 'pending',
              unitsMax: prices.get(nodeId) ?? 0n,
              attempt: 0,
              polls: 0,
            },
            ...{ pollPath: null, dueMs: null, deadlineMs: null, output: null, errorCode: null },
          },
        ]),
      ),
    })
  }

  #fault(): void {
    const kernel = this.#kernel
    const process = kernel.pick(this.#processes)
    const kind = kernel.pick(['kill', 'kill', 'stop', 'cancel', 'nothing'] as const)
    if (kind === 'kill') {
      this.#kills++
      process.alive = false
      process.diedAtMs = kernel.nowMs
      kernel.after(kernel.between(100, 5_000), 'restart', () => this.#start(process.name))
    } else if (kind === 'stop') process.stoppedUntilMs = kernel.nowMs + kernel.between(1_000, 40_000)
    else if (kind === 'cancel' && kernel.chance(0.3))
      kernel.pick([...this.#rows.jobs.values()]).cancelled = true
  }

  #clockOf = (process: SimProcess) => new ProcessClock(this.#kernel, process)

  #start(name: string): void {
    const process: SimProcess = { name, alive: true, stoppedUntilMs: 0 }
    this.#processes = [...this.#processes.filter((one) => one.name !== name), process]
    const jobs = new Jobs({
      app: never(),
      jobs: this.#rowsOf(process),
      buyer: this.#buyerOf(process),
      egress: pollingOf(this.#sellers, process),
      endpointOf: async (node) => endpointOf(node, this.#isPolled(node.id)),
      ...{ due: new CommitBell(), changed: new CommitBell(), log: silentLogger },
      runtime: { clock: this.#clockOf(process), random: this.#kernel.random, failpoint: () => {} },
    })
    jobs.run(new AbortController().signal).catch((error: unknown) => this.#wrong.push(String(error)))
  }

  #rowsOf(process: SimProcess): HeldJobs {
    const kernel = this.#kernel
    const ask = <T>(label: string, serve: () => T) =>
      kernel.call(process, `${process.name} ${label}`, kernel.travel(line), serve)
    return {
      take: (places, holdMs) => ask('take', () => this.#rows.take(places, holdMs, kernel.nowMs)),
      load: (held) => ask('load', () => this.#loaded(this.#rows.load(held))),
      keep: (held, holdMs) => ask('keep', () => this.#rows.keep(held, holdMs, kernel.nowMs)),
      outputsOf: (jobId, ids) => ask('outputs', () => this.#rows.outputsOf(jobId, ids)),
      write: (held, step) => ask('write', () => this.#rows.write(held, step, kernel.nowMs)),
    }
  }

  /** A job that is loaded wrongly if a bug was planted. */
  #loaded(job: LoadedJob | null): LoadedJob | null {
    if (!job) return null
    const { restartBuysAnew, restartRepeatsFree, dependenciesForgotten } = this.#bugs
    const plan = dependenciesForgotten
      ? job.plan.replaceAll(/"dependsOn":\[[^\]]*\]/g, '"dependsOn":[]')
      : job.plan
    const nodes = job.nodes.map((node) => {
      if (node.state !== 'running') return node
      if (restartBuysAnew && node.unitsMax > 0n) return { ...node, attempt: node.attempt + 1 }
      return restartRepeatsFree && node.unitsMax === 0n ? { ...node, state: 'pending' as const } : node
    })
    return { ...job, plan, nodes }
  }

  #buyerOf(process: SimProcess): Buyer {
    return {
      buy: async (purchase) => {
        const label = `${purchase.jobId} ${purchase.nodeId}`
        const mood = this.#moods.get(label) ?? 'honest'
        const told = await buyAt(this.#sellers, process, { purchase, mood, label })
        return this.#bugs.unknownIsFailure && told.kind === 'unknown' ? lost : told
      },
      paidCalls: () => 0,
      recover: async () => new Map(),
    }
  }

  get #sellers() {
    return { kernel: this.#kernel, market: this.#market }
  }

  #isPolled(nodeId: string): boolean {
    return [...this.#moods].some(([key, mood]) => mood === 'polled' && key.endsWith(` ${nodeId}`))
  }
}

const lost: Purchased = { kind: 'refused', code: 'unreachable', message: 'no answer in time' }

/** A stand-in for the database, which no simulation reads. */
const never = (): never =>
  new Proxy({}, { get: () => () => Promise.reject(new Error('no database')) }) as never
