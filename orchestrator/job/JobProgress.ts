/**
 * A job in memory while a process runs it: takes in what happened and says what is to be written and
 * done next. It calls nobody and knows no clock, so that every history can be replayed.
 */
import { closingOf } from '#rows/jobs/closing.ts'
import type { NewJobEvent } from '#rows/jobs/events.ts'
import type { AttemptChange, JobStep, LoadedJob, LoadedNode, NodeChange } from '#rows/jobs/heldJobs.ts'
import type { JobState } from '#rows/jobs/states.ts'
import type { Random } from '#runtime/runtime.ts'
import type { Purchased } from '#wallet/buyer.ts'
import type { Completion } from './completion.ts'
import { type Decision, decide } from './decide.ts'
import type { NodeErrorCode } from './jobErrors.ts'
import { type NodeOutcome, outcomeOf, type Polled, pollOutcomeOf } from './outcome.ts'
import type { NodeOutput } from './output.ts'
import { type NodeHappening, nextJobState, nextNodeState } from './transitions.ts'

/** The result of a call or a poll. */
export type Arrival = { readonly nodeId: string } & (
  | {
      readonly kind: 'bought'
      readonly purchased: Purchased
      readonly completion: Completion | null
      readonly isRepeatable: boolean
    }
  | { readonly kind: 'polled'; readonly polled: Polled; readonly completion: Completion }
  /** It could not be called, and never can. */
  | { readonly kind: 'refused'; readonly code: NodeErrorCode; readonly message: string }
  /** Something of ours failed before anything was sent: it is tried again. */
  | { readonly kind: 'troubled'; readonly afterMs: number }
  /** There was no place for it among other calls; one that is new has not begun then. */
  | { readonly kind: 'crowded'; readonly isNew: boolean; readonly afterMs: number }
)

/** A node's first call, its repeats and their pauses; what a service works on has its own time. */
const NODE_MS_MAX = 15 * 60_000
/** The time a poll may take beyond its interval. */
const POLL_MS_MAX = 15_000

interface ProgressNode extends Omit<LoadedNode, 'serviceId'> {
  readonly dependsOn: readonly string[]
  readonly output: NodeOutput | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
}

export interface Turn extends Pick<Decision, 'calls' | 'repeats' | 'polls' | 'abandoned' | 'wakeMs'> {
  /** Null where nothing changed. */
  readonly step: JobStep | null
}

export class JobProgress {
  readonly #random: Random
  readonly #deadlineMs: number
  readonly #nodes: Map<string, ProgressNode>
  #state: JobState
  #isCancelling: boolean
  #outputBytes: number
  #changed = new Set<string>()
  #attempts: AttemptChange[] = []
  #events: NewJobEvent[] = []
  #addedBytes = 0

  constructor(job: LoadedJob, dependenciesOf: (nodeId: string) => readonly string[], random: Random) {
    this.#random = random
    this.#state = job.state
    this.#isCancelling = job.isCancelling
    this.#deadlineMs = job.deadlineMs
    this.#outputBytes = job.outputBytes
    const empty = { output: null, errorCode: null, errorMessage: null }
    this.#nodes = new Map(
      job.nodes.map((node) => [node.nodeId, { ...node, ...empty, dependsOn: dependenciesOf(node.nodeId) }]),
    )
  }

  node(nodeId: string): Readonly<ProgressNode> {
    const node = this.#nodes.get(nodeId)
    if (!node) throw new Error('a node is none of its job')
    return node
  }

  /** Nodes whose call was under way when the job was loaded. */
  get begun(): readonly Readonly<ProgressNode>[] {
    return [...this.#nodes.values()].filter(({ state }) => state === 'running')
  }

  /** Calls that are to be made or were begun, each with the number that it would have. */
  get unsettled(): readonly Readonly<Pick<ProgressNode, 'nodeId' | 'attempt' | 'sellerKey' | 'unitsMax'>>[] {
    return [...this.#nodes.values()]
      .filter(({ state }) => state === 'pending' || state === 'running')
      .map(({ attempt, ...node }) => ({ ...node, attempt: node.state === 'pending' ? attempt + 1 : attempt }))
  }

  /** A call was paid for before, by whichever history of the job: it is not made. */
  recover(nodeId: string, purchased: Purchased, nowMs: number): void {
    if (this.node(nodeId).state === 'pending') this.#begin(nodeId, nowMs)
    this.#bought(this.node(nodeId), { nodeId, kind: 'bought', purchased, ...unrepeated }, nowMs)
  }

  cancel(): void {
    this.#isCancelling = true
  }

  take(arrival: Arrival, nowMs: number): void {
    const node = this.node(arrival.nodeId)
    switch (arrival.kind) {
      case 'bought':
        this.#bought(node, arrival, nowMs)
        break
      case 'polled':
        this.#polled(node, arrival, nowMs)
        break
      case 'refused': {
        if (node.state === 'running') this.#ended(node, 'refused', arrival.code)
        this.#apply(node, { kind: 'fail', code: arrival.code, message: arrival.message }, nowMs)
        break
      }
      case 'troubled':
        this.#change(node, { dueMs: nowMs + arrival.afterMs })
        break
      case 'crowded': {
        const { isNew, afterMs } = arrival
        if (isNew)
          this.#attempts.push({ ...unended, nodeId: node.nodeId, attempt: node.attempt, outcome: 'refused' })
        this.#change(node, { ...(isNew && unbegun(node)), dueMs: nowMs + afterMs })
        break
      }
    }
  }

  /** The work to do now; the step is to be written before anything of it is done. */
  turn(nowMs: number, busy: ReadonlySet<string>, parkMs: number): Turn {
    if (this.#state === 'queued') this.#move('begin')
    const view = { isCancelling: this.#isCancelling, deadlineMs: this.#deadlineMs }
    const decision = decide({ ...view, nodes: [...this.#nodes.values()] }, nowMs, busy)
    for (const { nodeId, happening, code } of decision.endings) this.#endUncalled(nodeId, happening, code)
    for (const nodeId of decision.calls) this.#begin(nodeId, nowMs)
    if (decision.end) this.#move(decision.end)
    const isIdle =
      busy.size === 0 && [decision.calls, decision.repeats, decision.polls].every((ids) => ids.length === 0)
    const inMs = decision.wakeMs - nowMs
    const next: JobStep['next'] = decision.end
      ? { kind: 'end', close: closingOf, nowMs }
      : isIdle && inMs > parkMs
        ? { kind: 'park', inMs }
        : { kind: 'hold' }
    return { ...decision, step: this.#collected(next) }
  }

  /** The step by now, while more is waited for. */
  soFar(): JobStep | null {
    return this.#collected({ kind: 'hold' })
  }

  /** The step by now, for another process to go on with at once. */
  putDown(): JobStep | null {
    return this.#collected({ kind: 'park', inMs: 0 })
  }

  #bought(node: ProgressNode, arrival: Extract<Arrival, { kind: 'bought' }>, nowMs: number): void {
    const { purchased, completion, isRepeatable } = arrival
    const outcome = outcomeOf(purchased, {
      ...{ nowMs, completion, isRepeatable, random: this.#random, attempt: node.attempt },
      isFree: node.unitsMax === 0n,
      outputBytes: this.#outputBytes,
    })
    this.#attempts.push(attemptOf(node, purchased, outcome))
    this.#apply(node, outcome, nowMs, completion)
  }

  #polled(
    node: ProgressNode,
    { polled, completion }: Extract<Arrival, { kind: 'polled' }>,
    nowMs: number,
  ): void {
    const polls = node.polls + 1
    const outcome = pollOutcomeOf(polled, completion, polls, node.pollPath ?? '', {
      ...{ nowMs, completion, random: this.#random, attempt: node.attempt, isRepeatable: true, isFree: true },
      outputBytes: this.#outputBytes,
    })
    this.#apply({ ...node, polls }, outcome, nowMs, completion)
  }

  #apply(
    node: ProgressNode,
    outcome: NodeOutcome,
    nowMs: number,
    completion: Completion | null = null,
  ): void {
    const state = nextNodeState(node.state, outcome.kind)
    switch (outcome.kind) {
      case 'succeed':
        this.#outputBytes += outcome.output.bytes
        this.#addedBytes += outcome.output.bytes
        this.#change(node, { state, output: outcome.output, dueMs: null })
        break
      case 'cancel':
        // The wallet has read it first.
        this.cancel()
        this.#change(node, { state, errorCode: outcome.code, errorMessage: outcome.message, dueMs: null })
        break
      case 'fail':
        this.#change(node, { state, errorCode: outcome.code, errorMessage: outcome.message, dueMs: null })
        break
      case 'again':
        // Its next call has the same number: waiting for the wallet uses none up.
        this.#change(node, {
          ...{ state, dueMs: outcome.dueMs },
          ...(outcome.isUntried && { attempt: node.attempt - 1 }),
        })
        break
      case 'unknown':
        this.#change(node, { state, dueMs: outcome.dueMs })
        break
      case 'accept': {
        const { pollPath, dueMs } = outcome
        const isFirst = node.state === 'running' && completion !== null
        const deadlineMs = isFirst ? nowMs + workMs(completion) : node.deadlineMs
        this.#change(node, { state, pollPath, dueMs, deadlineMs })
      }
    }
  }

  #begin(nodeId: string, nowMs: number): void {
    const node = this.node(nodeId)
    const attempt = node.attempt + 1
    const deadlineMs = node.deadlineMs ?? Math.min(nowMs + NODE_MS_MAX, this.#deadlineMs)
    this.#change(node, { state: nextNodeState(node.state, 'begin'), attempt, deadlineMs, dueMs: null })
    this.#attempts.push({ ...unended, nodeId, attempt })
  }

  #endUncalled(nodeId: string, happening: NodeHappening, code: NodeErrorCode): void {
    const node = this.node(nodeId)
    if (node.state === 'running') this.#ended(node, 'unknown', code)
    const state = nextNodeState(node.state, happening)
    this.#change(node, { state, errorCode: code, errorMessage: messages[code] ?? null, dueMs: null })
  }

  #ended({ nodeId, attempt }: ProgressNode, outcome: AttemptChange['outcome'], errorCode: string): void {
    this.#attempts.push({ ...unended, nodeId, attempt, outcome, errorCode })
  }

  #change(node: ProgressNode, changes: Partial<ProgressNode>): void {
    const { nodeId } = node
    const before = this.node(nodeId)
    const after = { ...node, ...changes }
    this.#nodes.set(nodeId, after)
    this.#changed.add(nodeId)
    if (before.state === after.state) return
    const { state, attempt, errorCode } = after
    this.#events.push({
      type: 'node',
      data: { nodeId, state, attempt, ...(errorCode && { code: errorCode }) },
    })
  }

  #move(happening: Parameters<typeof nextJobState>[1]): void {
    this.#state = nextJobState(this.#state, happening)
    this.#events.push({ type: 'job', data: { state: this.#state } })
  }

  #collected(next: JobStep['next']): JobStep | null {
    if (this.#changed.size === 0 && this.#events.length === 0 && next.kind === 'hold') return null
    const step: JobStep = {
      state: this.#state,
      nodes: [...this.#changed].map((nodeId) => changeOf(this.node(nodeId))),
      attempts: [...new Map(this.#attempts.map((each) => [`${each.attempt} ${each.nodeId}`, each])).values()],
      events: this.#events,
      addedBytes: this.#addedBytes,
      next,
    }
    this.#changed = new Set()
    this.#attempts = []
    this.#events = []
    this.#addedBytes = 0
    // An output is written once; who needs it reads it.
    for (const { nodeId } of step.nodes) this.#nodes.set(nodeId, { ...this.node(nodeId), output: null })
    return step
  }
}

/** A node whose fate needs no look, and whose own time has not begun. */
const unbegun = ({ state, attempt, deadlineMs }: ProgressNode) => ({
  state: nextNodeState(state, 'again'),
  attempt: attempt - 1,
  deadlineMs: attempt === 1 ? null : deadlineMs,
})

const unrepeated = { completion: null, isRepeatable: false } as const

const unended = { outcome: null, status: null, errorCode: null, paid: null, isDelivered: true } as const

const changeOf = ({ dependsOn: _, unitsMax: __, sellerKey: ___, ...change }: ProgressNode): NodeChange =>
  change

function attemptOf(
  { nodeId, attempt }: ProgressNode,
  purchased: Purchased,
  outcome: NodeOutcome,
): AttemptChange {
  const errorCode = outcome.kind === 'fail' ? outcome.code : null
  const base = { ...unended, nodeId, attempt, outcome: purchased.kind, errorCode }
  switch (purchased.kind) {
    case 'answered': {
      const isDelivered = outcome.kind !== 'fail'
      return { ...base, status: purchased.status, paid: purchased.paid, isDelivered }
    }
    case 'refused':
      return { ...base, errorCode: purchased.code }
    case 'unknown':
      return base
    case 'paid_not_delivered':
      return { ...base, status: purchased.status, paid: purchased.paid, isDelivered: false }
  }
}

const workMs = ({ maxAttempts, pollIntervalSeconds }: Completion): number =>
  maxAttempts * (pollIntervalSeconds * 1_000 + POLL_MS_MAX)

const messages: Partial<Record<NodeErrorCode, string>> = {
  dependency_failed: 'A node that it depends on has no output.',
  job_cancelled: 'The job was cancelled before it began.',
  deadline_passed: 'It was not done in time.',
  outcome_unknown: 'Nobody knows what became of its call.',
}
