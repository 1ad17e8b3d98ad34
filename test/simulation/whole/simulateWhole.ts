/**
 * Histories of money, from a quote to its refund and reward: the program's own payments, jobs, payouts,
 * proofs and reviews in two processes that are killed and stopped, over one real database whose backup may
 * be restored; chain, nodes, facilitator, sellers, payers and time are simulated. The seed decides all.
 */
import { resumeWallet } from '#rows/payments/pauses.ts'
import { SimMarket } from '../jobs/simMarket.ts'
import { Kernel, type SimProcess } from '../kernel.ts'
import { judgeWhole } from './judge.ts'
import { Payers } from './payers.ts'
import { BLOCK_MS, SimChain } from './simChain.ts'
import type { Credential } from './simMethod.ts'
import { nodeLies } from './simNodes.ts'
import { type Plans, type Server, type ServerWorld, serve } from './simServer.ts'
import type { SimStore } from './simStore.ts'
import { rewriteOf, type WholeBugName } from './wholeBugs.ts'

export interface WholeOutcome {
  readonly wrong: readonly string[]
  readonly events: number
  /** Counts of faults drawn, and of outcomes of payments. */
  readonly drawn: Readonly<Record<string, number>>
  readonly trace: string
}

const FAULTS_MS = 150_000
const END_MS = 20 * 60_000
/** All that looks again has looked in that time. */
const REST_MS = 70_000
/** An operator lets payouts go on when nothing that was signed before can be mined. */
const RESUME_MS = [100_000, 160_000] as const
const RESUME_AGAIN_MS = 60_000
const RESTORED = 0.35
/** Until nobody is connected. */
const FREE_MS = 20

/** The first row that is not at rest; rows that a restore left to the operator are. */
const RESTLESS = `
  SELECT coalesce(
    (SELECT format('a payment is %s', state) FROM app.payments WHERE state <> 'failed' AND proof IS NULL LIMIT 1),
    (SELECT 'a job has not ended' FROM app.jobs WHERE ended_at IS NULL LIMIT 1),
    (SELECT format('paused: %s', reason) FROM app.pauses LIMIT 1),
    (SELECT format('a %s is %s: %s', kind, state, problem) FROM app.payouts
      WHERE state = 'sending' OR (state = 'queued' AND sent_with IS NULL AND collect_until IS NULL
        AND coalesce(problem, '') !~ 'was sent for it before|may have paid it') LIMIT 1)) AS problem`

const COUNTS = `
  SELECT (SELECT count(*) FROM app.payouts WHERE kind = 'refund' AND state = 'paid') AS refunds,
    (SELECT count(*) FROM app.payouts WHERE kind = 'reward' AND state = 'paid') AS rewards,
    (SELECT count(*) FROM app.payments WHERE proof = 'reversed') AS reversed,
    (SELECT count(*) FROM app.payouts WHERE state = 'withdrawn') AS withdrawn,
    (SELECT count(*) FROM app.payments WHERE owed_at IS NOT NULL) AS owed`

export async function simulateWhole(
  store: SimStore,
  seed: number,
  bugs: readonly WholeBugName[] = [],
  keep?: (line: string) => void,
): Promise<WholeOutcome> {
  const kernel = new Kernel(seed, keep, () => store.settle())
  await store.begin(kernel, rewriteOf(new Set(bugs)))
  return new Whole(store, kernel, bugs).run()
}

class Whole {
  readonly #kernel: Kernel
  readonly #store: SimStore
  readonly #world: ServerWorld
  readonly #chain: SimChain
  readonly #payers: Payers
  readonly #outside: SimProcess = { name: 'payers', alive: true, stoppedUntilMs: 0 }
  readonly #credentials = new Map<string, Credential>()
  readonly #wrong: string[] = []
  readonly #drawn = { kills: 0, stops: 0, backups: 0, restores: 0 }
  #servers: Server[] = []
  #restsSinceMs: number | null = null
  #problem = 'faults last'
  #isRestoring = false

  constructor(store: SimStore, kernel: Kernel, bugs: readonly WholeBugName[]) {
    this.#kernel = kernel
    this.#store = store
    this.#chain = new SimChain(kernel)
    const wrong = (what: string) => void (this.#wrong.length < 10 && this.#wrong.push(what))
    const plans: Plans = new Map()
    const common = { kernel, plans, wrong, credentials: this.#credentials, bugs: new Set(bugs) }
    this.#world = {
      ...{ ...common, chain: this.#chain, signed: new Map() },
      // A call that a restored database has forgotten is made again.
      market: new SimMarket(kernel, (what) => void (this.#drawn.restores === 0 && wrong(what))),
      ...{ lie: kernel.pick(nodeLies), isHasty: kernel.chance(0.2), isPoor: kernel.chance(0.4) },
    }
    const app = store.connect(kernel, this.#outside, true)
    this.#payers = new Payers({ ...common, app, servers: () => this.#servers }, this.#outside)
  }

  async run(): Promise<WholeOutcome> {
    const kernel = this.#kernel
    for (const name of ['a', 'b']) this.#start(name)
    this.#payers.start(FAULTS_MS / 2)
    this.#plan()
    const isOver = () => this.#restsSinceMs !== null && kernel.nowMs - this.#restsSinceMs > REST_MS
    const ended = await kernel.run(END_MS, isOver, () => {})
    for (const process of [...this.#servers.map((one) => one.process), this.#outside]) {
      process.alive = false
      this.#store.drop(process, kernel)
    }
    await this.#store.settle()
    if (!ended) this.#wrong.push(`it never came to rest: ${this.#problem}`)
    else this.#wrong.push(...(await this.#judge()))
    return this.#outcome()
  }

  #judge(): Promise<readonly string[]> {
    const { chain, market } = this.#world
    const { all: payers } = this.#payers
    const hasForgotten = this.#drawn.restores > 0
    const rows = { app: this.#store.app, credentials: this.#credentials }
    return judgeWhole({ ...rows, chain, market, payers, hasForgotten })
  }

  async #outcome(): Promise<WholeOutcome> {
    const { rows } = await this.#store.run<Record<string, number>>(COUNTS, [])
    const drawn = {
      ...this.#drawn,
      ...this.#payers.drawn,
      reorgs: this.#chain.reorgs,
      lost: this.#store.lost,
    }
    const trace = this.#kernel.traceHash()
    return { wrong: this.#wrong, events: this.#kernel.events, drawn: { ...drawn, ...rows[0] }, trace }
  }

  #plan(): void {
    const kernel = this.#kernel
    kernel.after(BLOCK_MS, 'block', () => this.#mine())
    for (let at = 0; at < FAULTS_MS; at += kernel.between(2_000, 25_000))
      kernel.after(at, 'fault', () => this.#fault())
    kernel.after(FAULTS_MS, 'faults end', () => {
      this.#chain.isTroubled = false
      this.#store.isTroubled = false
    })
    if (!kernel.chance(RESTORED)) return
    const backupMs = kernel.between(20_000, FAULTS_MS / 2)
    kernel.after(backupMs, 'backup', () => this.#whenFree(() => this.#backup()))
    kernel.after(kernel.between(backupMs + 5_000, FAULTS_MS), 'restore', () => this.#restore())
  }

  #mine(): void {
    const kernel = this.#kernel
    this.#chain.mine()
    this.#chain.reorg()
    kernel.after(BLOCK_MS, 'block', () => this.#mine())
    const waits = this.#waits()
    if (waits !== null) this.#tell(waits)
    else if (this.#store.isFree)
      this.#store.operate(async () => {
        const { rows } = await this.#store.run<{ problem: string | null }>(RESTLESS, [])
        this.#tell(rows[0]?.problem ?? null)
      })
  }

  #waits(): string | null {
    if (this.#kernel.nowMs < FAULTS_MS) return 'faults last'
    if (this.#payers.all.some(({ isDone }) => !isDone)) return 'a payer waits'
    return this.#chain.isIdle ? null : 'a transaction waits for its block'
  }

  #tell(problem: string | null): void {
    this.#problem = problem ?? ''
    this.#restsSinceMs = problem === null ? (this.#restsSinceMs ?? this.#kernel.nowMs) : null
  }

  #fault(): void {
    const kernel = this.#kernel
    const { process } = kernel.pick(this.#servers)
    const kind = kernel.pick(['kill', 'kill', 'stop', 'nothing'] as const)
    if (kind === 'kill' && process.alive) {
      this.#kill(process)
      kernel.after(kernel.between(100, 9_000), 'restart', () => this.#start(process.name))
    } else if (kind === 'stop') {
      this.#drawn.stops += 1
      process.stoppedUntilMs = kernel.nowMs + kernel.between(1_000, 40_000)
    }
  }

  #kill(process: SimProcess): void {
    this.#drawn.kills += 1
    process.alive = false
    process.diedAtMs = this.#kernel.nowMs
    this.#store.drop(process, this.#kernel)
  }

  #whenFree(act: () => void): void {
    if (this.#store.isFree) act()
    else this.#kernel.after(FREE_MS, 'the operator waits', () => this.#whenFree(act))
  }

  #backup(): void {
    this.#drawn.backups += 1
    this.#store.operate(() => this.#store.backup())
  }

  #restore(): void {
    if (this.#drawn.backups === 0) return
    this.#isRestoring = true
    for (const { process } of this.#servers) if (process.alive) this.#kill(process)
    this.#whenFree(() => {
      const kernel = this.#kernel
      this.#drawn.restores += 1
      const isOther = kernel.chance(0.5)
      this.#store.operate(() => this.#store.restore(isOther))
      this.#isRestoring = false
      for (const name of ['a', 'b'])
        kernel.after(kernel.between(1_000, 5_000), 'start after a restore', () => this.#start(name))
      kernel.after(kernel.between(...RESUME_MS), 'the operator resumes', () => this.#resume())
    })
  }

  #resume(): void {
    this.#kernel.after(RESUME_AGAIN_MS, 'the operator resumes', () => this.#resume())
    const app = this.#store.connect(this.#kernel, this.#outside, true)
    resumeWallet(app).catch((error: unknown) => this.#world.wrong(`the operator failed: ${error}`))
  }

  #start(name: string): void {
    const running = this.#servers.find(({ process }) => process.name === name)
    if (this.#isRestoring || running?.process.alive) return
    const process: SimProcess = { name, alive: true, stoppedUntilMs: 0 }
    const server = serve(this.#world, process, this.#store.connect(this.#kernel, process))
    this.#servers = [...this.#servers.filter((one) => one.process.name !== name), server]
  }
}
