/**
 * Every condition of a chain that its owner is called for. A new one is one value here, and its code
 * in the schema of /status; those of services are in their parts.
 */
import type { FinalityProblem } from '#ingest/finality/watch/FinalityWatch.ts'
import type { AlarmKind } from '../part.ts'
import type { Watched } from './watched.ts'

export interface Condition extends AlarmKind {
  /** The condition as it holds now; null where it does not. */
  readonly find: (chain: Watched) => { readonly problem: string | null } | null
}

/** A store that restarts, or a node, is back within this. */
const RESTART_MS = 10_000
/**
 * A projection waits at every start, for blocks and for a node; one that is stuck does so for
 * longer.
 */
const PROJECTION_MS = 120_000

const certificatesOf = ({ certificates: { problems } }: Watched, code: FinalityProblem['kind']) => {
  const found = problems.find(({ kind }) => kind === code)
  return found ? { problem: found.message } : null
}

const lanesOf = ({ headStatus, historyStatus }: Watched) => [headStatus, historyStatus]

export const conditions: readonly Condition[] = [
  {
    code: 'audit_differs',
    passesMs: 0,
    find: ({ audit }) => (audit?.state === 'differs' ? audit : null),
  },
  {
    code: 'finality_violated',
    passesMs: 0,
    find: ({ headStatus }) => (headStatus.state === 'finality_violated' ? headStatus : null),
  },
  {
    code: 'lane_stopped',
    passesMs: 0,
    find: (chain) => lanesOf(chain).find(({ state }) => state === 'stopped') ?? null,
  },
  {
    code: 'lane_waiting',
    passesMs: RESTART_MS,
    find: (chain) =>
      lanesOf(chain).find(
        ({ state, problem }) => state === 'waiting' || (state === 'filling' && problem !== null),
      ) ?? null,
  },
  {
    code: 'head_stalled',
    passesMs: 0,
    find: ({ stall }) => (stall === null ? null : { problem: stall }),
  },
  {
    code: 'finality_held',
    passesMs: 0,
    find: ({ nodes: { finalityHeld } }) => (finalityHeld === null ? null : { problem: finalityHeld }),
  },
  {
    code: 'finality_equivocated',
    passesMs: 0,
    find: (chain) => certificatesOf(chain, 'finality_equivocated'),
  },
  {
    code: 'finality_key_unknown',
    passesMs: 0,
    find: (chain) => certificatesOf(chain, 'finality_key_unknown'),
  },
  {
    code: 'finality_certificates_missing',
    passesMs: 0,
    find: (chain) => certificatesOf(chain, 'finality_certificates_missing'),
  },
  {
    code: 'relay_degraded',
    passesMs: RESTART_MS,
    find: ({ relay }) => (relay.problem === null ? null : relay),
  },
  {
    code: 'projection_stopped',
    passesMs: 0,
    find: (chain) => followersIn(chain, 'stopped'),
  },
  {
    code: 'projection_waiting',
    passesMs: PROJECTION_MS,
    find: (chain) => followersIn(chain, 'waiting'),
  },
  {
    code: 'projection_differs',
    passesMs: 0,
    find: ({ followers }) => {
      const differing = followers.flatMap(({ name, found }) =>
        found?.differs ? `${name}: ${found.differs}` : [],
      )
      return differing.length === 0 ? null : { problem: differing.join('; ') }
    },
  },
  {
    code: 'header_rule_unknown',
    passesMs: 0,
    // Where only links are checked, nothing is expected of headers; where nothing is held, an answer
    // that could not be read has told no rule.
    find: ({ profile: { headerRule, checks }, state: { tip } }) =>
      headerRule === 'unknown' && checks === 'roots' && tip >= 0
        ? { problem: 'headers of this chain hash in no known way: its blocks are stored without proof' }
        : null,
  },
  {
    code: 'fork_unknown',
    passesMs: 0,
    find: ({ forks: { problem } }) => (problem === null ? null : { problem }),
  },
  {
    code: 'unprovable',
    passesMs: 0,
    find: ({ unproved }) => (unproved === null ? null : { problem: unproved }),
  },
  {
    code: 'postgres_degraded',
    passesMs: RESTART_MS,
    find: ({ storeProblem }) => (storeProblem === null ? null : { problem: storeProblem }),
  },
  {
    code: 'clickhouse_degraded',
    passesMs: RESTART_MS,
    find: ({ clickhouseStatus }) => (clickhouseStatus.state === 'running' ? null : clickhouseStatus),
  },
]

/** Those in a state that say why: one that waits for its first blocks says nothing. */
function followersIn({ followers }: Watched, wanted: string): { readonly problem: string } | null {
  const found = followers.filter(({ state, problem }) => state === wanted && problem !== null)
  if (found.length === 0) return null
  return { problem: found.map(({ name, problem }) => `${name}: ${problem}`).join('; ') }
}
