/** States of jobs and of their nodes, as rows hold them. */
import { wordOf } from '../schema/words.ts'

export const jobStates = [
  /** Paid for, and not begun. */
  'queued',
  'running',
  /** Every node has its output. */
  'succeeded',
  /** Some have. */
  'partially_succeeded',
  'failed',
  /** Ended by its payer before all of it was begun. */
  'cancelled',
] as const
export type JobState = (typeof jobStates)[number]

export const nodeStates = [
  /** Not begun: nodes it depends on are not done, or its next attempt has a time. */
  'pending',
  /** Its call is under way, or its outcome is not known. */
  'running',
  /** The service works on, and is asked for it. */
  'waiting',
  'succeeded',
  'failed',
  /** A node it depends on has no output. */
  'skipped',
  /** The job was cancelled before it began. */
  'cancelled',
] as const
export type NodeState = (typeof nodeStates)[number]

/** @throws UnknownWordError */
export const jobStateOf = (text: string): JobState => wordOf(jobStates, text, 'a job')
/** @throws UnknownWordError */
export const nodeStateOf = (text: string): NodeState => wordOf(nodeStates, text, 'a node')
