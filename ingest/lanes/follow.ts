import { backoffMs, laneBackoff, type Problem, problemOf, remedyOf } from '#runtime/backoff.ts'
import { type Next, repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { type Logger, metrics } from '#telemetry.ts'
import type { Batch } from '../sink.ts'
import { converge, type HeadLane, type LaneEvent, type ReadBatches } from './converge.ts'
import { type AheadOptions, fetchAhead } from './fetchAhead.ts'
import { FinalityViolationError } from './reorg.ts'

/**
 * - `running`: working or waiting for the next block;
 * - `waiting`: something failed that may pass, `problem` says what;
 * - `stopped`, `finality_violated`: a person has to act; nothing was deleted and what is held stays
 *   readable.
 */
export type FollowState = 'running' | 'waiting' | 'stopped' | 'finality_violated'

export type FollowEvent =
  | LaneEvent
  | { readonly type: 'state'; readonly state: FollowState; readonly problem: Problem | null }

export interface FollowOptions {
  readonly runtime: Runtime
  readonly log: Logger
  readonly ahead: AheadOptions
  /** Told of every step and every change of state. Must not throw. */
  readonly observe?: (event: FollowEvent) => void
}

/** Why following ended: asked to, or an error whose remedy is `stop`. */
export type FollowEnd =
  | { readonly reason: 'aborted' }
  | { readonly reason: 'stopped'; readonly state: FollowState; readonly error: unknown }

/** Blocks of one pass; tip, head and finality are read again after it. */
const PASS_BLOCKS_MAX = 2_000

/**
 * How long an idle lane trusts the source to wake it. Also the bound on noticing a head replaced at
 * its own height.
 */
const IDLE_TIMEOUT_MS = 1_000

/**
 * Repeats the step until asked to stop, or until a person has to act. The step is `converge`,
 * unchanged; only its reader of batches works ahead, in order and bounded by bytes.
 */
export async function follow<B extends Batch>(
  lane: HeadLane<B>,
  options: FollowOptions,
  signal: AbortSignal,
): Promise<FollowEnd> {
  const { runtime, log } = options
  const report = stateReporter(options)
  let headSeen = -1
  const observe = (event: LaneEvent) => {
    if (event.type === 'target') headSeen = event.head.number
    observeStep(lane, options, event)
  }
  const watched = { ...lane, observe }
  const readBatches: ReadBatches<B> = (_lane, range, stop) =>
    fetchAhead(lane, { from: range.from, to: passEnd(range) }, options.ahead, stop)
  let end: FollowEnd = { reason: 'aborted' }
  const failed = (error: unknown, failures: number): Next => {
    const problem = problemOf(error)
    const told = { chainId: lane.source.chainId, ...problem }
    if (remedyOf(error) === 'stop') {
      const state = error instanceof FinalityViolationError ? 'finality_violated' : 'stopped'
      report(state, problem)
      log.error(told, 'the head lane stopped')
      end = { reason: 'stopped', state, error }
      return 'ended'
    }
    const waitMs = backoffMs(failures, laneBackoff, runtime.random)
    report('waiting', problem)
    log.warn({ ...told, failures, waitMs }, 'the head lane will try again')
    return waitMs
  }
  await repeat({ clock: runtime.clock, signal, failed }, async () => {
    const outcome = await converge(watched, signal, readBatches)
    report('running', null)
    if (outcome === 'idle') {
      const tip = await lane.sink.tip()
      // Where finality is instant an empty lane has no tip, and nothing to do with the head it has
      // seen.
      await lane.source.waitForHead(Math.max(tip?.number ?? -1, headSeen), IDLE_TIMEOUT_MS, signal)
    }
    return 0
  })
  return end
}

const passEnd = (range: { from: number; to: number }) => Math.min(range.to, range.from + PASS_BLOCKS_MAX - 1)

/** Tells of a state only when it or its cause changed. */
function stateReporter({ observe }: FollowOptions) {
  let last = ''
  return (state: FollowState, problem: Problem | null) => {
    const now = `${state} ${problem?.code ?? ''} ${problem?.message ?? ''}`
    if (now !== last) observe?.({ type: 'state', state, problem })
    last = now
  }
}

function observeStep<B extends Batch>(lane: HeadLane<B>, { observe, log }: FollowOptions, event: LaneEvent) {
  const chain = String(lane.source.chainId)
  switch (event.type) {
    case 'target':
      metrics.headBlock.set({ chain }, event.head.number)
      break
    case 'finalized':
      metrics.finalizedBlock.set({ chain }, event.number)
      break
    case 'reverted':
      metrics.reverts.inc({ chain })
      log.warn(
        { chain, tip: event.tip.number, fork: event.fork?.number ?? null },
        'the node replaced blocks; ours were taken back',
      )
      break
    case 'sealed':
      log.info({ chain, next: event.next }, 'far behind: the head lane starts anew at the head')
      break
    case 'appended':
      break
  }
  lane.observe?.(event)
  observe?.(event)
}
