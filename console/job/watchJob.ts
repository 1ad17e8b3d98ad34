/**
 * A job as it goes on: read again after each thing that became of it, up to its end, and for some
 * time after it while the chain has not told everything yet.
 */
import { messages, type Sleep } from '../model/liveStream.ts'
import { RequestFailure } from '../model/queryAnswer.ts'
import { type Job, type JobReceipt, openEvents, readJob, readReceipt } from './job.ts'

export type JobSight =
  | {
      readonly kind: 'job'
      readonly job: Job
      /** Null before its end, and where it could not be made now. */
      readonly receipt: JobReceipt | null
    }
  /** No answer; asked again after `waitMs`. */
  | { readonly kind: 'waiting'; readonly waitMs: number; readonly reason: string }

/** Many things become of a job at once, and reads of a stranger are counted by the minute. */
const READ_MS_MIN = 1_000
const WAIT_MS_FIRST = 1_000
const WAIT_MS_MAX = 30_000
/** Refunds and final blocks are known some seconds after the end; a page left open asks no longer. */
const LOOKS_AFTER_END = 24
const LOOK_MS = 5_000

/** Ends where nothing more is awaited. @throws RequestFailure of a refusal, or the signal's reason */
export async function* watchJob(
  origin: string,
  jobId: string,
  clock: Sleep,
  signal: AbortSignal,
): AsyncGenerator<JobSight, void> {
  const heard = new Bell()
  const over = new AbortController()
  const both = AbortSignal.any([signal, over.signal])
  const following = follow(origin, jobId, clock, both, () => heard.ring())
  try {
    for (let looks = 0, waitMs = WAIT_MS_FIRST; looks <= LOOKS_AFTER_END; ) {
      const { rings } = heard
      const sight = await sightOf(origin, jobId, waitMs, signal)
      yield sight
      if (sight.kind === 'waiting') {
        await clock.sleep(waitMs, signal)
        waitMs = Math.min(2 * waitMs, WAIT_MS_MAX)
        continue
      }
      waitMs = WAIT_MS_FIRST
      if (!sight.job.ready) {
        await heard.after(rings, signal)
        await clock.sleep(READ_MS_MIN, signal)
        continue
      }
      over.abort()
      if (!isOpen(sight.job, sight.receipt)) return
      looks += 1
      await clock.sleep(LOOK_MS, signal)
    }
  } finally {
    over.abort()
    await following
  }
}

/** A payment, a fee or a refund that the chain has not told yet. */
export function isOpen({ order, runs = [] }: Job, receipt: JobReceipt | null): boolean {
  const payments = runs.flatMap(({ attempts }) => attempts.flatMap(({ paid }) => paid ?? []))
  const isTold = payments.every(({ fee, transactionHash }) => fee !== undefined && transactionHash)
  const isPaidBack = order?.refund === undefined || order.refund.status === 'paid'
  return !isTold || !isPaidBack || receipt === null || receipt.settlement?.finality === 'pending'
}

async function sightOf(
  origin: string,
  jobId: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<JobSight> {
  try {
    const job = await readJob(origin, jobId, signal)
    return { kind: 'job', job, receipt: job.ready ? await receiptOf(origin, jobId, signal) : null }
  } catch (error) {
    if (!(error instanceof RequestFailure) || !error.passes) throw error
    return { kind: 'waiting', waitMs, reason: error.message }
  }
}

async function receiptOf(origin: string, jobId: string, signal: AbortSignal): Promise<JobReceipt | null> {
  try {
    return (await readReceipt(origin, jobId, signal))?.receipt ?? null
  } catch (error) {
    if (!(error instanceof RequestFailure) || !error.passes) throw error
    return null
  }
}

/** Calls `told` for each event, and wherever a stream ends: what reads the job knows why. */
async function follow(
  origin: string,
  jobId: string,
  clock: Sleep,
  signal: AbortSignal,
  told: () => void,
): Promise<void> {
  let lastEventId: string | null = null
  for (let waitMs = WAIT_MS_FIRST; ; waitMs = Math.min(2 * waitMs, WAIT_MS_MAX)) {
    try {
      const response = await openEvents(origin, jobId, lastEventId, signal)
      for await (const { id } of messages(response, clock, signal)) {
        lastEventId = id ?? lastEventId
        waitMs = WAIT_MS_FIRST
        told()
      }
    } catch {
      if (signal.aborted) return
    }
    told()
    try {
      await clock.sleep(waitMs, signal)
    } catch {
      return
    }
  }
}

class Bell {
  rings = 0
  #waiting = Promise.withResolvers<void>()

  ring(): void {
    this.rings += 1
    this.#waiting.resolve()
    this.#waiting = Promise.withResolvers()
  }

  /** Resolves once it has rung since then. @throws the signal's reason */
  async after(rings: number, signal: AbortSignal): Promise<void> {
    if (this.rings > rings) return
    signal.throwIfAborted()
    const stopped = Promise.withResolvers<never>()
    const stop = () => stopped.reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    try {
      await Promise.race([this.#waiting.promise, stopped.promise])
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
}
