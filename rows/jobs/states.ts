/** States of jobs and of their nodes, as rows hold them. */

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

/** @throws Error for a text that no row holds */
export const jobStateOf = (text: string): JobState => known(jobStates, text)
export const nodeStateOf = (text: string): NodeState => known(nodeStates, text)

function known<const State extends string>(states: readonly State[], text: string): State {
  const state = states.find((one) => one === text)
  if (state === undefined) throw new Error(`no state is called ${text}`)
  return state
}
