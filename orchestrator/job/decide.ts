/** The next work for a job: a pure function of its nodes, the time and what is under way. */
import type { NodeState } from '#rows/jobs/states.ts'
import { isNodeOver, type JobHappening } from './transitions.ts'

/** Calls of one job under way at a time. */
const JOB_CALLS_MAX = 8
/**
 * After a node's deadline an outcome that is not known is asked for this long: longer than any
 * credential can still be spent.
 */
const UNKNOWN_MS_MAX = 10 * 60_000

export interface NodeView {
  readonly nodeId: string
  readonly dependsOn: readonly string[]
  readonly state: NodeState
  /** When its next attempt, question or look is due; null is at once. */
  readonly dueMs: number | null
  /** Null before it has begun. */
  readonly deadlineMs: number | null
}

export interface JobView {
  readonly isCancelling: boolean
  readonly deadlineMs: number
  /** In the plan's order. */
  readonly nodes: readonly NodeView[]
}

/** A node that ends without having been called. */
export interface Ending {
  readonly nodeId: string
  readonly happening: 'skip' | 'cancel' | 'fail'
  readonly code: 'dependency_failed' | 'job_cancelled' | 'deadline_passed' | 'outcome_unknown'
}

export interface Decision {
  readonly endings: readonly Ending[]
  /** Nodes whose call is begun. */
  readonly calls: readonly string[]
  /** Nodes whose call has an outcome that is not known: it is repeated as the same purchase. */
  readonly repeats: readonly string[]
  readonly polls: readonly string[]
  /** Calls whose outcome is waited for no longer. */
  readonly abandoned: readonly string[]
  /** When to decide again, should nothing happen before. */
  readonly wakeMs: number
  /** Null while something is left. */
  readonly end: Exclude<JobHappening, 'begin'> | null
}

/** @param busy nodes with a call or poll under way here */
export function decide(job: JobView, nowMs: number, busy: ReadonlySet<string>): Decision {
  const endings = endingsOf(job, nowMs, busy)
  const states = new Map(job.nodes.map(({ nodeId, state }) => [nodeId, state]))
  for (const { nodeId, happening } of endings) states.set(nodeId, stateAfter[happening])
  const open = job.nodes.filter(({ nodeId }) => !isNodeOver(states.get(nodeId) ?? 'failed'))
  const isDue = ({ nodeId, dueMs }: NodeView) => !busy.has(nodeId) && (dueMs === null || dueMs <= nowMs)
  const isReady = (node: NodeView) =>
    node.state === 'pending' && node.dependsOn.every((id) => states.get(id) === 'succeeded')
  const running = open.filter(({ state }) => state === 'running')
  const room = Math.max(0, JOB_CALLS_MAX - running.length)
  const calls = open.filter((node) => isReady(node) && isDue(node)).slice(0, room)
  const idOf = ({ nodeId }: NodeView) => nodeId
  return {
    endings,
    calls: calls.map(idOf),
    repeats: running.filter(isDue).map(idOf),
    polls: open.filter((node) => node.state === 'waiting' && isDue(node)).map(idOf),
    abandoned: running.filter((node) => busy.has(node.nodeId) && isLost(node, nowMs)).map(idOf),
    wakeMs: wakeOf(job, open, nowMs, isReady),
    end: open.length === 0 ? endOf([...states.values()]) : null,
  }
}

const stateAfter = { skip: 'skipped', cancel: 'cancelled', fail: 'failed' } as const

const isLost = ({ deadlineMs }: NodeView, nowMs: number): boolean =>
  deadlineMs !== null && nowMs >= deadlineMs + UNKNOWN_MS_MAX

/** The plan's order need not be that of dependencies, so it is gone through until nothing changes. */
function endingsOf(job: JobView, nowMs: number, busy: ReadonlySet<string>): Ending[] {
  const without = new Set(
    job.nodes.filter(({ state }) => isNodeOver(state) && state !== 'succeeded').map(({ nodeId }) => nodeId),
  )
  const endings = new Map<string, Ending>()
  const end = (nodeId: string, happening: Ending['happening'], code: Ending['code']) => {
    endings.set(nodeId, { nodeId, happening, code })
    without.add(nodeId)
  }
  for (const node of job.nodes) {
    const { nodeId, state, deadlineMs } = node
    if (isNodeOver(state) || busy.has(nodeId)) continue
    const isLate = nowMs >= Math.min(deadlineMs ?? Number.POSITIVE_INFINITY, job.deadlineMs)
    if (state === 'running' && isLost(node, nowMs)) end(nodeId, 'fail', 'outcome_unknown')
    else if (state === 'pending' && job.isCancelling) end(nodeId, 'cancel', 'job_cancelled')
    else if (state !== 'running' && isLate) end(nodeId, 'fail', 'deadline_passed')
  }
  for (let before = -1; before !== without.size; ) {
    before = without.size
    for (const { nodeId, state, dependsOn } of job.nodes)
      if (state === 'pending' && !without.has(nodeId) && dependsOn.some((id) => without.has(id)))
        end(nodeId, 'skip', 'dependency_failed')
  }
  return [...endings.values()]
}

/** The next moment that changes something: a due time that lies ahead, or a deadline. */
function wakeOf(
  { deadlineMs: jobDeadlineMs }: JobView,
  open: readonly NodeView[],
  nowMs: number,
  isReady: (node: NodeView) => boolean,
): number {
  const moments = open.flatMap((node) => {
    const { state, dueMs, deadlineMs } = node
    const own = state === 'running' ? UNKNOWN_MS_MAX : 0
    const ends = [deadlineMs === null ? jobDeadlineMs : deadlineMs + own, jobDeadlineMs]
    return [...(state !== 'pending' || isReady(node) ? [dueMs ?? 0] : []), ...ends]
  })
  return Math.min(...moments.filter((moment) => moment > nowMs), nowMs + UNKNOWN_MS_MAX)
}

function endOf(states: readonly NodeState[]): NonNullable<Decision['end']> {
  if (states.includes('cancelled')) return 'cancel'
  const outputs = states.filter((state) => state === 'succeeded').length
  return outputs === states.length ? 'succeed' : outputs > 0 ? 'partly' : 'fail'
}
