/** Rows of jobs in memory, with the rules of the real ones: holds, fences, steps that are one commit. */
import type { CallCosts, ChargedJob, Closing } from '#rows/jobs/books.ts'
import {
  type AttemptChange,
  type HeldJob,
  type JobStep,
  JobTakenError,
  type KeptJob,
  type LoadedJob,
  type LoadedNode,
  type NodeChange,
} from '#rows/jobs/heldJobs.ts'
import type { JobState } from '#rows/jobs/states.ts'
import type { Places, TakenJob } from '#rows/jobs/takeJobs.ts'

export interface SimJob {
  readonly jobId: string
  readonly plan: string
  readonly money: ChargedJob
  readonly dependencies: ReadonlyMap<string, readonly string[]>
  readonly deadlineMs: number
  state: JobState
  fence: number
  dueMs: number | null
  cancelled: boolean
  outputBytes: number
  closing: Closing | null
  readonly nodes: Map<string, LoadedNode & Pick<NodeChange, 'output' | 'errorCode'>>
  readonly attempts: Map<string, AttemptChange>
}

/** The checks that a planted bug leaves out. */
export interface RowBugs {
  readonly fenceUnchecked?: boolean
  readonly attemptsLost?: boolean
  readonly holdsForEver?: boolean
  readonly nothingPaidBack?: boolean
}

export class SimRows {
  readonly jobs = new Map<string, SimJob>()
  readonly #bugs: RowBugs
  readonly #wrong: (what: string) => void

  constructor(bugs: RowBugs, wrong: (what: string) => void) {
    this.#bugs = bugs
    this.#wrong = wrong
  }

  take({ free }: Places, holdMs: number, nowMs: number): TakenJob[] {
    const due = [...this.jobs.values()].filter(
      ({ dueMs, fence }) => dueMs !== null && dueMs <= nowMs && !(this.#bugs.holdsForEver && fence > 0),
    )
    return due.slice(0, free).map((job) => {
      job.fence += 1
      job.dueMs = nowMs + holdMs
      return { jobId: job.jobId, fence: job.fence, payer: '0x' }
    })
  }

  load({ jobId, fence }: HeldJob): LoadedJob | null {
    const job = this.#of(jobId)
    if (job.fence !== fence || job.dueMs === null) return null
    const { plan, state, cancelled: isCancelling, deadlineMs, outputBytes } = job
    return { plan, state, isCancelling, deadlineMs, outputBytes, nodes: [...job.nodes.values()] }
  }

  keep(held: readonly HeldJob[], holdMs: number, nowMs: number): KeptJob[] {
    return held.flatMap(({ jobId, fence }) => {
      const job = this.#of(jobId)
      if (job.fence !== fence || job.dueMs === null) return []
      job.dueMs = nowMs + holdMs
      return [{ jobId, isCancelling: job.cancelled }]
    })
  }

  outputsOf(jobId: string, nodeIds: readonly string[]): ReadonlyMap<string, string> {
    const { nodes } = this.#of(jobId)
    return new Map(nodeIds.map((id) => [id, nodes.get(id)?.output?.text ?? '']))
  }

  write({ jobId, fence }: HeldJob, step: JobStep, nowMs: number): void {
    const job = this.#of(jobId)
    const isHeld = job.fence === fence && job.dueMs !== null
    if (!isHeld && !this.#bugs.fenceUnchecked) throw new JobTakenError()
    if (job.closing) this.#wrong('a job that had ended was written')
    job.state = step.state
    job.outputBytes += step.addedBytes
    for (const change of step.nodes) this.#move(job, change)
    for (const attempt of step.attempts)
      if (!this.#bugs.attemptsLost) job.attempts.set(`${attempt.nodeId} ${attempt.attempt}`, attempt)
    if (step.next.kind === 'park') job.dueMs = nowMs + step.next.inMs
    if (step.next.kind === 'end') this.#end(job, step.next.close)
  }

  #move(job: SimJob, change: NodeChange): void {
    const before = job.nodes.get(change.nodeId)
    if (!before) throw new Error('a node that no job has was written')
    const needs = job.dependencies.get(change.nodeId) ?? []
    const lacks = needs.some((id) => job.nodes.get(id)?.state !== 'succeeded')
    if (change.state === 'running' && before.state === 'pending' && lacks)
      this.#wrong('a node began before what it depends on was done')
    if (before.state === 'succeeded' && change.state !== 'succeeded') this.#wrong('a done node was undone')
    job.nodes.set(change.nodeId, { ...before, ...change })
    const running = [...job.nodes.values()].filter(({ state }) => state === 'running').length
    if (running > 8) this.#wrong('more than eight calls of a job are under way')
  }

  #end(job: SimJob, close: (money: ChargedJob, costs: CallCosts) => Closing): void {
    const paid = [...job.attempts.values()].reduce((sum, { paid: of }) => sum + (of?.units ?? 0n), 0n)
    job.dueMs = null
    const closing = close(job.money, { paidUnits: paid, feeUnits: 0n })
    job.closing = this.#bugs.nothingPaidBack ? { ...closing, refund: 0n } : closing
  }

  #of(jobId: string): SimJob {
    const job = this.jobs.get(jobId)
    if (!job) throw new Error('no such job')
    return job
  }
}
