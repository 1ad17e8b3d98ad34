/**
 * One job while this process holds it: what is decided is written, then done. Every call and poll is
 * under way beside the others; no connection is held while it waits.
 */
import { type Egress, egressBudgets } from '#egress/Egress.ts'
import { EgressFailedError, EgressRefusedError } from '#egress/errors.ts'
import { failure, messageOf } from '#errors.ts'
import { type HeldJobs, type JobStep, JobTakenError } from '#rows/jobs/heldJobs.ts'
import type { TakenJob } from '#rows/jobs/takeJobs.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { Slots } from '#runtime/Slots.ts'
import type { Logger } from '#telemetry.ts'
import type { Buyer } from '#wallet/buyer.ts'
import { PathError, parsePath, urlOf } from '../catalog/pathTemplate.ts'
import type { ResolvedEndpoint } from '../plan/EndpointFinder.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { referencesOf } from '../plan/reference.ts'
import { INPUT_BYTES_MAX } from '../plan/resolveInput.ts'
import { sellerCallOf } from '../plan/sellerCallOf.ts'
import type { CallMaker } from './CallMaker.ts'
import type { CallFrom } from './callFrom.ts'
import { type Arrival, JobProgress } from './JobProgress.ts'
import type { Polled } from './outcome.ts'
import { ANSWER_BYTES_MAX } from './output.ts'

/** A job that waits for longer is put down, for whichever process is free then. */
const PARK_MS = 5_000
/** Calls under way and not paid for when the program ends have this long to answer. */
const LAST_MS = 5_000
/** To find a payment on its chain, and to write down what it brought. */
const KEEP_MS = 10_000
/** A paid call is waited for as long as it may last. */
export const PAID_MS_MAX = egressBudgets.purchase.timeoutMs + KEEP_MS
/** Work that failed for a reason of ours is tried again after this long. */
const TROUBLED_MS = 1_000
/** A call that found no place beside others comes again once or twice as long after; its job is put down. */
const CROWDED_MS = 15_000

export interface JobRunOptions {
  readonly jobs: HeldJobs
  readonly buyer: Buyer
  readonly egress: Pick<Egress, 'fetch'>
  /** The endpoint that a node calls as the catalog has it now; null where it has none. */
  readonly endpointOf: (node: PlanNode) => Promise<ResolvedEndpoint | null>
  /** Calls and polls of all jobs together, by their hosts; too long a wait is a CrowdedError. */
  readonly calls: Slots
  readonly maker: CallMaker
  /** Told whenever something was written. */
  readonly written: () => void
  readonly runtime: Runtime
  readonly log: Logger
}

interface Act {
  readonly run: (nodeId: string, progress: JobProgress, signal: AbortSignal) => Promise<Arrival>
  /** It was not asked for before. */
  readonly isNew: boolean
}

export class JobRun {
  readonly held: TakenJob
  readonly #options: JobRunOptions
  readonly #arrivals: Arrival[] = []
  /** Under way, each with what ends it. */
  readonly #busy = new Map<string, AbortController>()
  readonly #acts = new Set<Promise<void>>()
  /** The signal after which it begins no more. */
  readonly #stopped = new AbortController()
  #plan: ReadonlyMap<string, PlanNode> = new Map()
  #wake = () => {}
  #isCancelling = false

  constructor(held: TakenJob, options: JobRunOptions) {
    this.held = held
    this.#options = options
  }

  /** From now on nothing of the job is begun. */
  cancel(): void {
    this.#isCancelling = true
    this.#wake()
  }

  /** Another process may hold the job: nothing more is done for it. */
  lose(): void {
    this.#stop(new JobTakenError())
    for (const each of this.#busy.values()) each.abort()
  }

  /** Until the job is over, waits for something far away, or is no longer ours. */
  async run(shutdown: AbortSignal): Promise<void> {
    const stop = () => this.#stop(shutdown.reason)
    shutdown.addEventListener('abort', stop, { once: true })
    if (shutdown.aborted) stop()
    try {
      await this.#goOn()
    } catch (error) {
      if (!(error instanceof JobTakenError)) throw error
    } finally {
      shutdown.removeEventListener('abort', stop)
      for (const each of this.#busy.values()) each.abort()
    }
  }

  /** Until what is paid for has its answer, which is kept for the job's next holder. */
  rest(): Promise<void> {
    return this.#restFor(PAID_MS_MAX)
  }

  #stop(reason: unknown): void {
    this.#stopped.abort(reason)
    this.#wake()
  }

  async #goOn(): Promise<void> {
    const { jobs, runtime } = this.#options
    const loaded = await jobs.load(this.held)
    if (!loaded) return
    const plan: Plan = JSON.parse(loaded.plan)
    this.#plan = new Map(plan.nodes.map((node) => [node.id, node]))
    const progress = new JobProgress(loaded, (id) => this.#plan.get(id)?.dependsOn ?? [], runtime.random)
    this.#recover(progress)
    await this.#recoverPaid(progress)
    let isHeld = true
    await repeat({ clock: runtime.clock, signal: this.#stopped.signal }, async () => {
      isHeld = await this.#turn(progress)
      return isHeld ? 0 : 'ended'
    })
    if (isHeld) await this.#putDown(progress)
  }

  /** One step and the acts that follow from it. False if the step ended or parked the job. */
  async #turn(progress: JobProgress): Promise<boolean> {
    const { jobs, runtime } = this.#options
    if (this.#isCancelling) progress.cancel()
    const nowMs = runtime.clock.now()
    for (const arrival of this.#arrivals.splice(0)) progress.take(arrival, nowMs)
    const turn = progress.turn(nowMs, new Set(this.#busy.keys()), PARK_MS)
    if (turn.step) {
      runtime.failpoint(`job.${turn.step.next.kind}.before`)
      await jobs.write(this.held, turn.step)
      runtime.failpoint(`job.${turn.step.next.kind}.after`)
      this.#options.written()
      if (turn.step.next.kind !== 'hold') return false
    }
    const call: Act['run'] = (...of) => this.#call(...of)
    const poll: Act['run'] = (...of) => this.#poll(...of)
    for (const nodeId of turn.abandoned) this.#busy.get(nodeId)?.abort()
    for (const nodeId of turn.calls) this.#begin(nodeId, progress, { run: call, isNew: true })
    for (const nodeId of turn.repeats) this.#begin(nodeId, progress, { run: call, isNew: false })
    for (const nodeId of turn.polls) this.#begin(nodeId, progress, { run: poll, isNew: false })
    await this.#wait(turn.wakeMs - nowMs)
    return true
  }

  /** The job goes to another process, with what came meanwhile, once nothing that is paid for is open. */
  async #putDown(progress: JobProgress): Promise<void> {
    if (this.#stopped.signal.reason instanceof JobTakenError) return
    await this.#restFor(LAST_MS)
    for (const each of this.#busy.values()) each.abort()
    if (this.#acts.size > 0) {
      await this.#write(progress, (taken) => taken.soFar())
      await this.#restFor(PAID_MS_MAX)
    }
    await this.#write(progress, (taken) => taken.putDown())
  }

  async #write(progress: JobProgress, stepOf: (taken: JobProgress) => JobStep | null): Promise<void> {
    const nowMs = this.#options.runtime.clock.now()
    for (const arrival of this.#arrivals.splice(0)) progress.take(arrival, nowMs)
    const step = stepOf(progress)
    if (step) await this.#options.jobs.write(this.held, step)
  }

  /** Until nothing is under way, and for so long at most. */
  async #restFor(ms: number): Promise<void> {
    if (this.#acts.size === 0) return
    const done = new AbortController()
    const late = this.#options.runtime.clock.sleep(ms, done.signal).catch(() => {})
    await Promise.race([Promise.all(this.#acts), late])
    done.abort()
  }

  /** A call that was under way when its process ended is repeated as the same purchase. */
  #recover(progress: JobProgress): void {
    for (const { nodeId, unitsMax } of progress.begun)
      if (unitsMax === 0n && !isRepeatable(this.#plan.get(nodeId)))
        this.#arrivals.push({
          ...{ nodeId, kind: 'bought', completion: null, isRepeatable: false },
          purchased: { kind: 'unknown', retryAfterMs: 0 },
        })
  }

  /** Before anything ends uncalled: its payer is not owed what the chain has paid for the job. */
  async #recoverPaid(progress: JobProgress): Promise<void> {
    const { buyer, runtime } = this.#options
    const { jobId } = this.held
    const calls = progress.unsettled.map(({ nodeId, attempt, unitsMax, sellerKey: idempotencyKey }) => ({
      ...{ jobId, nodeId, attempt, unitsMax, idempotencyKey, serviceId: this.#planned(nodeId).serviceId },
    }))
    for (const [nodeId, purchased] of await buyer.recover(calls))
      progress.recover(nodeId, purchased, runtime.clock.now())
  }

  #begin(nodeId: string, progress: JobProgress, { run, isNew }: Act): void {
    const end = new AbortController()
    this.#busy.set(nodeId, end)
    const { calls, runtime, log } = this.#options
    const { signal } = end
    const acted = this.#hostOf(nodeId)
      // Not the slots' to end: once it is begun, the call alone says when it may be.
      .then((host) => calls.run(() => run(nodeId, progress, signal), signal, host))
      .catch((error: unknown): Arrival => {
        if (error instanceof CrowdedError)
          return { nodeId, kind: 'crowded', isNew, afterMs: CROWDED_MS * (1 + runtime.random()) }
        if (!signal.aborted) log.warn({ problem: messageOf(error) }, 'a call of a job is tried again')
        return { nodeId, kind: 'troubled', afterMs: TROUBLED_MS }
      })
      .then((arrival) => {
        this.#busy.delete(nodeId)
        this.#acts.delete(acted)
        this.#arrivals.push(arrival)
        this.#wake()
      })
    this.#acts.add(acted)
  }

  /** Services of one host share its calls. */
  async #hostOf(nodeId: string): Promise<string> {
    const node = this.#planned(nodeId)
    return (await this.#options.endpointOf(node))?.url.host ?? node.serviceId
  }

  async #call(nodeId: string, progress: JobProgress, signal: AbortSignal): Promise<Arrival> {
    const node = this.#planned(nodeId)
    const found = await this.#options.endpointOf(node)
    if (!found) return { nodeId, kind: 'refused', code: 'endpoint_gone', message: endpointGone }
    const made = await this.#made(node, found, signal)
    if ('message' in made) return { nodeId, kind: 'refused', ...made }
    const { method, url, headers, body = null } = made
    if (body !== null && Buffer.byteLength(body) > INPUT_BYTES_MAX)
      return { nodeId, kind: 'refused', code: 'input_too_large', message: inputTooLarge }
    if (url.length > URL_CHARACTERS_MAX)
      return { nodeId, kind: 'refused', code: 'input_too_large', message: inputTooLarge }
    const { sellerKey, attempt, unitsMax, deadlineMs } = progress.node(nodeId)
    signal.throwIfAborted()
    this.#options.runtime.failpoint('job.call.before')
    const purchased = await this.#options.buyer.buy(
      {
        ...{ jobId: this.held.jobId, nodeId, attempt, unitsMax, method, url, headers, body },
        serviceId: node.serviceId,
        idempotencyKey: sellerKey,
        recipientPolicy: found.service.recipientPolicy,
        bytesMax: ANSWER_BYTES_MAX,
        deadlineMs: deadlineMs ?? Number.MAX_SAFE_INTEGER,
        mayPay: () => !this.#stopped.signal.aborted,
      },
      signal,
    )
    this.#options.runtime.failpoint('job.call.after')
    const completion = found.endpoint.completion ?? null
    return { nodeId, kind: 'bought', purchased, completion, isRepeatable: isRepeatable(node) }
  }

  async #made(
    { input }: PlanNode,
    { endpoint, url }: ResolvedEndpoint,
    signal: AbortSignal,
  ): Promise<CallFrom> {
    const { references } = referencesOf(input, [])
    const named = [...new Set(references.map(({ nodeId }) => nodeId))]
    const outputs = new Map<string, string>()
    // One at a time: each may have four megabytes, and others have their turn between two.
    for (const nodeId of named) {
      const text = (await this.#options.jobs.outputsOf(this.held.jobId, [nodeId])).get(nodeId)
      if (text !== undefined) outputs.set(nodeId, text)
    }
    const { method, requestFormat } = endpoint
    const task = { endpoint: { method, requestFormat }, url: url.href, input, outputs }
    return this.#options.maker.make(task, signal)
  }

  async #poll(nodeId: string, progress: JobProgress, signal: AbortSignal): Promise<Arrival> {
    const found = await this.#options.endpointOf(this.#planned(nodeId))
    const completion = found?.endpoint.completion
    if (!found || !completion)
      return { nodeId, kind: 'refused', code: 'endpoint_gone', message: endpointGone }
    const url = pollUrl(found, progress.node(nodeId).pollPath ?? '')
    if (!url) return { nodeId, kind: 'refused', code: 'completion_unreadable', message: endpointGone }
    const polled = await this.#ask(
      sellerCallOf({ url, endpoint: { ...found.endpoint, method: completion.method } }, {}),
      signal,
    )
    return { nodeId, kind: 'polled', polled, completion }
  }

  async #ask(call: ReturnType<typeof sellerCallOf>, signal: AbortSignal): Promise<Polled> {
    try {
      return await this.#options.egress.fetch({
        ...call,
        purpose: 'poll',
        bytesMax: ANSWER_BYTES_MAX,
        signal,
      })
    } catch (error) {
      if (error instanceof EgressFailedError || error instanceof EgressRefusedError) return null
      throw error
    }
  }

  #planned(nodeId: string): PlanNode {
    const node = this.#plan.get(nodeId)
    if (!node) throw new Error('a node is none of its plan')
    return node
  }

  /** Until something arrives or is told, or the time has come. */
  async #wait(ms: number): Promise<void> {
    if (this.#arrivals.length > 0 || this.#stopped.signal.aborted) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await this.#options.runtime.clock.sleep(Math.max(ms, 1), woken.signal).catch(() => {})
    this.#wake = () => {}
  }
}

/** A call has waited for long enough, and was not made. */
export class CrowdedError extends failure('CrowdedError', 'host_crowded', 'retry') {}

/** Longer URLs are not sent. */
const URL_CHARACTERS_MAX = 4_096
const endpointGone = 'The catalog no longer has what it calls.'
const inputTooLarge = 'The input is larger than what is sent.'

/** Once or several times is the same (RFC 9110, 9.2.2). */
const isRepeatable = (node: PlanNode | undefined): boolean =>
  node !== undefined && ['GET', 'PUT', 'DELETE'].includes(node.method)

function pollUrl({ service }: ResolvedEndpoint, path: string): URL | null {
  try {
    return urlOf(service.serviceUrl, parsePath(path))
  } catch (error) {
    if (error instanceof PathError) return null
    throw error
  }
}
