/**
 * Runs jobs: takes those that are due, holds them while it runs them, and leaves them to any other
 * process when it ends, however it ends.
 */
import type { Egress } from '#egress/Egress.ts'
import { messageOf } from '#errors.ts'
import type { AppDatabase } from '#rows/database.ts'
import { type HeldJobs, heldJobs } from '#rows/jobs/heldJobs.ts'
import type { Places, TakenJob } from '#rows/jobs/takeJobs.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { type SlotLimits, Slots, slotErrors } from '#runtime/Slots.ts'
import type { CommitBell } from '#store/ledger/commits.ts'
import type { Logger } from '#telemetry.ts'
import type { Buyer } from '#wallet/buyer.ts'
import { CallMaker } from './CallMaker.ts'
import { Endpoints } from './Endpoints.ts'
import { CrowdedError, JobRun, type JobRunOptions, PAID_MS_MAX } from './JobRun.ts'

/** Another process takes a job over at most so long after a kill. */
const HOLD_MS = 15_000
const HEARTBEAT_MS = 5_000
/** A job that could not be kept for this long may be another's: given up before it is. */
const GIVE_UP_MS = HOLD_MS * 0.9
/** Jobs of one process: each holds its plan, of some kilobytes, and at most four megabytes. */
const HELD_MAX = 96
/**
 * Places of one payer for each one that is free, and calls of one host for each that could still be
 * made: three quarters if nobody else has any, and never the last ones.
 */
const PER_FREE = 3
/**
 * Calls and polls under way together. Each job has eight at most. A job whose calls wait for longer is
 * put down, so that jobs which call others find its place.
 */
const calls: SlotLimits = { running: 96, waiting: 8 * HELD_MAX, waitMs: 3_000, perFree: PER_FREE }
/** How long to wait without a ring: bounds the delay of what another process made or put down. */
const LOOK_MS = 1_000
const RETRY_MS = 1_000

export interface JobsOptions {
  readonly app: AppDatabase
  readonly buyer: Buyer
  readonly egress: Pick<Egress, 'fetch'>
  /** Rings when there is a job to run. */
  readonly due: CommitBell
  /** Rung when something of a job was written. */
  readonly changed: CommitBell
  readonly runtime: Runtime
  readonly log: Logger
  /** Default: the rows in `app`. */
  readonly jobs?: HeldJobs
  /** Default: the catalog in `app`. */
  readonly endpointOf?: JobRunOptions['endpointOf']
}

export class Jobs {
  readonly #options: JobsOptions
  readonly #jobs: HeldJobs
  readonly #run: JobRunOptions
  readonly #runs = new Map<string, JobRun>()
  readonly #ended = new Set<Promise<void>>()
  #keptMs = 0

  constructor(options: JobsOptions) {
    const { app, runtime, log, buyer, egress, changed } = options
    const endpoints = new Endpoints(app, runtime.clock)
    this.#options = options
    this.#jobs = options.jobs ?? heldJobs(app)
    this.#run = {
      ...{ jobs: this.#jobs, buyer, egress, runtime, log },
      endpointOf: options.endpointOf ?? ((node) => endpoints.of(node)),
      calls: new Slots(calls, runtime.clock, { ...slotErrors, busy: (problem) => new CrowdedError(problem) }),
      maker: new CallMaker(log),
      written: () => changed.ring(),
    }
  }

  /**
   * Until aborted, and then until what is paid for has its answer: the rest is left to whichever
   * process comes next. Jobs are held until they are put down.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#options
    const { clock } = runtime
    const failed = { log, ms: RETRY_MS, message: 'jobs wait' }
    const over = new AbortController()
    const kept = repeat({ clock, signal: over.signal, firstMs: HEARTBEAT_MS }, () => this.#keep())
    try {
      await repeat({ clock, signal, failed }, () => this.#take(signal))
      this.#tellWaiting()
      await Promise.all(this.#ended)
    } finally {
      over.abort()
      await kept
      await this.#run.maker.close()
    }
  }

  #tellWaiting(): void {
    const { buyer, log } = this.#options
    const paidCalls = buyer.paidCalls()
    if (paidCalls > 0)
      log.warn(
        { paidCalls, atMostMs: PAID_MS_MAX },
        'the end waits for answers to calls that are paid for; a second signal ends at once',
      )
  }

  async #take(signal: AbortSignal): Promise<number> {
    const { due, runtime } = this.#options
    const { rings } = due
    const places = this.#places()
    const taken = places.free > 0 ? await this.#jobs.take(places, HOLD_MS) : []
    if (this.#runs.size === 0) this.#keptMs = runtime.clock.monotonic()
    for (const held of taken) this.#begin(held, signal)
    if (taken.length === 0) await due.wait(runtime.clock, LOOK_MS, signal, rings)
    return 0
  }

  #places(): Places {
    const held = new Map<string, number>()
    for (const { held: job } of this.#runs.values()) held.set(job.payer, (held.get(job.payer) ?? 0) + 1)
    return { free: HELD_MAX - this.#runs.size, held, perFree: PER_FREE }
  }

  /** Whether jobs may wait for the end of one that is here. */
  #isShort(): boolean {
    const { free, held, perFree } = this.#places()
    return [...held.values()].some((places) => places >= perFree * free)
  }

  #begin(held: TakenJob, signal: AbortSignal): void {
    // A hold that ran out here may have come back to this very process.
    this.#runs.get(held.jobId)?.lose()
    const run = new JobRun(held, this.#run)
    this.#runs.set(held.jobId, run)
    const ended = run
      .run(signal)
      .catch((error: unknown) => {
        this.#options.log.warn({ problem: messageOf(error) }, 'a job waits for its next holder')
      })
      .then(() => {
        const wasShort = this.#isShort()
        if (this.#runs.get(held.jobId) === run) this.#runs.delete(held.jobId)
        if (wasShort) this.#options.due.ring()
        return run.rest()
      })
      .then(() => void this.#ended.delete(ended))
    this.#ended.add(ended)
  }

  async #keep(): Promise<number> {
    const { runtime, log } = this.#options
    const askedMs = runtime.clock.monotonic()
    const runs = [...this.#runs.values()]
    try {
      const kept = new Map(
        (
          await this.#jobs.keep(
            runs.map(({ held }) => held),
            HOLD_MS,
          )
        ).map((each) => [each.jobId, each]),
      )
      for (const run of runs) {
        const each = kept.get(run.held.jobId)
        if (!each) run.lose()
        else if (each.isCancelling) run.cancel()
      }
      this.#keptMs = askedMs
    } catch (error) {
      log.warn({ problem: messageOf(error) }, 'jobs could not be kept')
      if (runtime.clock.monotonic() - this.#keptMs > GIVE_UP_MS) for (const run of runs) run.lose()
    }
    return HEARTBEAT_MS
  }
}
