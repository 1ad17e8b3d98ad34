/** Payers of jobs: they ask again, pay anew when they are told to, cancel, review, retry, or leave. */
import { keccak256, toHex } from 'viem'
import { ApiError, type ErrorCode } from '#http/errors.ts'
import { amountOf } from '#money/amounts.ts'
import type { Ordered } from '#orchestrator/job/JobOrders.ts'
import { type JobRequest, jobRequestOf, readJobRequest } from '#orchestrator/job/readJobRequest.ts'
import { readRetriedJob } from '#orchestrator/job/retriedJob.ts'
import type { AppDatabase } from '#rows/database.ts'
import { requestCancel } from '#rows/jobs/reads.ts'
import { findPayment } from '#rows/payments/payments.ts'
import { moods } from '../jobs/simMarket.ts'
import { type Kernel, ProcessClock, type SimProcess } from '../kernel.ts'
import { EPOCH_MS, PAYEE } from './simChain.ts'
import { type Bound, CREDENTIAL, type Credential, facilitatorMoods } from './simMethod.ts'
import type { Plans, Server } from './simServer.ts'
import type { WholeBugs } from './wholeBugs.ts'

export interface Payer {
  readonly address: `0x${string}`
  readonly request: JobRequest
  /** Jobs that it has reviewed itself. */
  readonly reviewed: Set<string>
  /** Whether it waits for nothing more. */
  isDone: boolean
}

export interface PayersWorld {
  readonly kernel: Kernel
  readonly app: AppDatabase
  readonly credentials: Map<string, Credential>
  readonly plans: Plans
  readonly bugs: WholeBugs
  readonly wrong: (what: string) => void
  readonly servers: () => readonly Server[]
}

const line = { latencyMs: [5, 200], tailMs: 4_000 } as const
const VALID_SECONDS = 75
const CREDENTIALS_MAX = 6
const PATIENCE_MS = 40_000
const AGAIN_MS = 6_000
/** The job that it would go on with was forgotten by a restored database. */
const unsold: ReadonlySet<ErrorCode> = new Set(['job_not_found', 'job_not_retryable'])
const STRANGER = `0x${'5e'.repeat(20)}` as const

export class Payers {
  readonly all: readonly Payer[]
  readonly drawn = { cancels: 0, retries: 0, left: 0 }
  readonly #world: PayersWorld
  readonly #clock: ProcessClock
  #signed = 0

  constructor(world: PayersWorld, process: SimProcess) {
    this.#world = world
    this.#clock = new ProcessClock(world.kernel, process)
    const count = world.kernel.between(2, 4)
    this.all = Array.from({ length: count }, (_, index) => this.#payerOf(index))
  }

  /** @param spreadMs within which they come */
  start(spreadMs: number): void {
    const { kernel, wrong } = this.#world
    for (const payer of this.all)
      kernel.after(kernel.between(0, spreadMs), 'a payer comes', () => {
        this.#come(payer).catch((error: unknown) => wrong(`a payer failed: ${error}`))
      })
  }

  #payerOf(index: number): Payer {
    const { kernel, plans } = this.#world
    const ids = Array.from({ length: kernel.between(1, 4) }, (_, place) => `p${index}n${place}`)
    const nodes = ids.map((id, place) => {
      const mood = kernel.pick(moods)
      plans.set(id, { mood, price: mood === 'free' ? 0n : BigInt(kernel.between(1, 2_000)) })
      const dependsOn = ids.slice(0, place).filter(() => kernel.chance(0.3))
      return { id, serviceId: 's', method: 'POST', path: `/${id}`, input: {}, dependsOn }
    })
    const address = `0x${`${index + 1}`.padStart(40, 'a')}` as const
    const request = readJobRequest({ idempotencyKey: `key-of-${index}`, plan: { nodes } })
    return { address, request, reviewed: new Set(), isDone: false }
  }

  async #come(payer: Payer): Promise<void> {
    const jobId = await this.#buy(payer, payer.request)
    if (jobId !== null) await this.#use(payer, jobId)
    payer.isDone = true
  }

  /** The job, once it has ended; null where it is none of this payer's any more. */
  async #buy(payer: Payer, request: JobRequest): Promise<string | null> {
    const { kernel } = this.#world
    for (let turn = 0; turn < CREDENTIALS_MAX; turn++) {
      const asked = await this.#order(payer, request, null)
      if (!asked) return null
      if (asked.kind === 'ordered') return (await this.#follow(asked, null)) === 'ended' ? asked.jobId : null
      const credential = this.#sign(payer, JSON.parse(asked.body))
      // It is settled or not, whether anybody comes again or not.
      if (kernel.chance(0.1)) return this.#leave(payer, request, credential)
      for (;;) {
        const told = await this.#order(payer, request, credential)
        if (!told) return null
        if (told.kind === 'challenged') break
        const end = await this.#follow(told, credential)
        if (end === 'ended') return told.jobId
        if (end === 'over') return null
      }
    }
    return null
  }

  async #leave(payer: Payer, request: JobRequest, credential: string): Promise<null> {
    this.drawn.left += 1
    await this.#reach((server) => this.#send(server, payer, request, credential)).catch(() => {})
    return null
  }

  #sign({ address: from }: Payer, bound: Bound): string {
    const { kernel, credentials } = this.#world
    this.#signed += 1
    const credential = `${from}/${this.#signed}`
    const validBeforeSeconds = Math.floor((EPOCH_MS + kernel.nowMs) / 1_000) + VALID_SECONDS
    const [txHash, amount] = [keccak256(toHex(credential)), amountOf(bound.dollars, 1, 6)]
    const transaction = { txHash, validBeforeSeconds, from, to: PAYEE, amount, memo: null }
    credentials.set(credential, { transaction, mood: kernel.pick(facilitatorMoods), bound })
    return credential
  }

  #send({ orders }: Server, { address: caller }: Payer, request: JobRequest, credential: string | null) {
    const headers = credential === null ? {} : { [CREDENTIAL]: credential }
    return orders.order(request, { headers, caller, signal: new AbortController().signal })
  }

  /** Until it is told; null for what will never be sold. */
  async #order(payer: Payer, request: JobRequest, credential: string | null) {
    for (;;) {
      const told = await this.#reach((server) => this.#send(server, payer, request, credential)).catch(
        (error: unknown) => (error instanceof ApiError && unsold.has(error.code) ? null : undefined),
      )
      if (told !== undefined) return told
      await this.#clock.sleep(AGAIN_MS)
    }
  }

  /** `again` where nobody knows of it any more, or its payment failed. */
  async #follow({ jobId }: Ordered, credential: string | null): Promise<'ended' | 'again' | 'over'> {
    const { kernel, app } = this.#world
    const cancelsMs = kernel.chance(0.35)
      ? kernel.nowMs + kernel.between(0, 20_000)
      : Number.POSITIVE_INFINITY
    for (;;) {
      await this.#clock.sleep(AGAIN_MS)
      const job = await app
        .selectFrom('app.jobs')
        .select(['ended_at', 'cancel_requested_at'])
        .where('id', '=', jobId)
        .executeTakeFirst()
      if (job?.ended_at) return 'ended'
      if (
        job &&
        job.cancel_requested_at === null &&
        kernel.nowMs > cancelsMs &&
        (await requestCancel(app, jobId))
      )
        this.drawn.cancels += 1
      if (job) continue
      const payment = credential === null ? null : await findPayment(app, { identity: credential })
      if (!payment || payment.state === 'failed') return 'again'
      // It is owed to its payer.
      if (payment.state === 'settled') return 'over'
    }
  }

  /** Reviews the job, and buys again what it did not get. */
  async #use(payer: Payer, jobId: string): Promise<void> {
    const { kernel } = this.#world
    if (kernel.chance(0.5)) await this.#review(STRANGER, jobId)
    if (kernel.chance(0.6)) {
      payer.reviewed.add(jobId)
      for (let turn = 0; turn < 3; turn++) await this.#review(payer.address, jobId)
    }
    if (!kernel.chance(0.5)) return
    const found = await this.#reach(({ app }) => readRetriedJob(app, jobId)).catch(() => null)
    if (!found) return
    this.drawn.retries += 1
    const { plan, retried } = found
    await this.#buy(
      payer,
      jobRequestOf(plan, { idempotencyKey: `${payer.request.idempotencyKey}-again` }, retried),
    )
  }

  #review(address: `0x${string}`, jobId: string): Promise<unknown> {
    const { bugs, plans } = this.#world
    const payerOf = async (rows: AppDatabase) => {
      const job = await rows.selectFrom('app.jobs').select('payer').where('id', '=', jobId).executeTakeFirst()
      return job ? toHex(job.payer) : address
    }
    const isTaken = bugs.has('a stranger’s review is rewarded')
    const index = [...plans.keys()]
    return this.#reach(async ({ reviews, app: rows }) => {
      const nodes = await rows
        .selectFrom('app.job_nodes')
        .select('node_id')
        .where('job_id', '=', jobId)
        .execute()
      const tools = nodes
        .map(({ node_id: nodeId }) => ({ nodeId, rating: 5 }))
        .toSorted((a, b) => index.indexOf(a.nodeId) - index.indexOf(b.nodeId))
      const payer = isTaken ? await payerOf(rows) : address
      return reviews.take(jobId, { rating: 5, tools }, 'body', async () => ({ kind: 'proved', payer }))
    }).catch(() => {})
  }

  /** One request of some process; rejects where its answer does not come. */
  #reach<Answer>(work: (server: Server) => Promise<Answer>): Promise<Answer> {
    const { kernel, servers } = this.#world
    const { thereMs, backMs } = kernel.travel(line)
    return new Promise((resolve, reject) => {
      const server = kernel.pick(servers())
      const over = kernel.after(PATIENCE_MS, 'a payer hangs up', () => reject(new Error('no answer in time')))
      const back = (end: () => void) =>
        kernel.after(backMs, 'a payer is told', () => {
          over()
          end()
        })
      kernel.deliver(server.process, thereMs, 'a payer asks', () => {
        work(server).then(
          (answer) => back(() => resolve(answer)),
          (error: unknown) => back(() => reject(error)),
        )
      })
    })
  }
}
