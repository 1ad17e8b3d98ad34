/** Transitions of a job and of its nodes, for every state and event; null is what never happens. */
import { failure } from '#errors.ts'
import type { JobState, NodeState } from '#rows/jobs/states.ts'

/** `partly`: some nodes have an output, others have not. */
export type JobHappening = 'begin' | 'succeed' | 'partly' | 'fail' | 'cancel'

export type NodeHappening =
  /** Its call is begun. */
  | 'begin'
  /** The call was not paid, and is made anew later. */
  | 'again'
  /** The outcome of its call is not known: it is asked for later. */
  | 'unknown'
  /** The service works on. */
  | 'accept'
  | 'succeed'
  | 'fail'
  | 'skip'
  | 'cancel'

type Table<State extends string, Happening extends string> = Readonly<
  Record<State, Readonly<Record<Happening, State | null>>>
>

const over = { begin: null, succeed: null, partly: null, fail: null, cancel: null }

export const jobTransitions: Table<JobState, JobHappening> = {
  queued: { ...over, begin: 'running' },
  running: {
    begin: 'running',
    succeed: 'succeeded',
    partly: 'partially_succeeded',
    fail: 'failed',
    cancel: 'cancelled',
  },
  succeeded: over,
  partially_succeeded: over,
  failed: over,
  cancelled: over,
}

const done = {
  ...{ begin: null, again: null, unknown: null, accept: null },
  ...{ succeed: null, fail: null, skip: null, cancel: null },
}

export const nodeTransitions: Table<NodeState, NodeHappening> = {
  pending: { ...done, begin: 'running', fail: 'failed', skip: 'skipped', cancel: 'cancelled' },
  running: {
    ...done,
    again: 'pending',
    unknown: 'running',
    accept: 'waiting',
    succeed: 'succeeded',
    fail: 'failed',
    cancel: 'cancelled',
  },
  waiting: { ...done, accept: 'waiting', succeed: 'succeeded', fail: 'failed' },
  succeeded: done,
  failed: done,
  skipped: done,
  cancelled: done,
}

export const isNodeOver = (state: NodeState): boolean => nodeTransitions[state] === done

/** @throws TransitionError */
export const nextJobState = (state: JobState, happening: JobHappening): JobState =>
  moved(jobTransitions, state, happening)
/** @throws TransitionError */
export const nextNodeState = (state: NodeState, happening: NodeHappening): NodeState =>
  moved(nodeTransitions, state, happening)

function moved<State extends string, Happening extends string>(
  table: Table<State, Happening>,
  state: State,
  happening: Happening,
): State {
  const next = table[state][happening]
  if (next === null) throw new TransitionError(`${happening} of what is ${state}`)
  return next
}

/** A mistake of the program: nothing of it is written. */
export class TransitionError extends failure('TransitionError', 'transition_invalid', 'stop') {}
