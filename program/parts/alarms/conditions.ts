/**
 * Every condition that its owner is called for. A new one is one value here, and its code in the
 * schema of /status.
 */
import type { FinalityProblem } from '#ingest/finality/watch/FinalityWatch.ts'
import type { Watched } from './watched.ts'

export interface Condition<Code extends string = string> {
  readonly code: Code
  /**
   * It passes by itself within this time: only then is the owner called. 0 for what does not pass.
   */
  readonly passesMs: number
  /** What holds now; null where it does not. */
  readonly find: (chain: Watched) => { readonly problem: string | null } | null
}

const defineCondition = <const Code extends string>(condition: Condition<Code>): Condition<Code> => condition

/** A store that restarts, or a node, is back within this. */
const RESTART_MS = 10_000
/**
 * A projection waits at every start, for blocks and for a node; one that is stuck does so for
 * longer.
 */
const PROJECTION_MS = 120_000

/** A piece that failed is tried again each second, and smaller each time: down to one block by then. */
const WEBHOOKS_MS = 60_000

/** A node that does not answer the books at one look, an hour apart, does at the next. */
const UNCHECKED_MS = 2 * 3_600_000

const certificatesOf = ({ certificates: { problems } }: Watched, code: FinalityProblem['kind']) => {
  const found = problems.find(({ kind }) => kind === code)
  return found ? { problem: found.message } : null
}

const lanesOf = ({ headStatus, historyStatus }: Watched) => [headStatus, historyStatus]

export const conditions = [
  defineCondition({
    code: 'parity_differs',
    passesMs: 0,
    find: ({ parity }) => (parity.state === 'differs' ? parity : null),
  }),
  defineCondition({
    code: 'audit_differs',
    passesMs: 0,
    find: ({ audit }) => (audit?.state === 'differs' ? audit : null),
  }),
  defineCondition({
    code: 'finality_violated',
    passesMs: 0,
    find: ({ headStatus }) => (headStatus.state === 'finality_violated' ? headStatus : null),
  }),
  defineCondition({
    code: 'lane_stopped',
    passesMs: 0,
    find: (chain) => lanesOf(chain).find(({ state }) => state === 'stopped') ?? null,
  }),
  defineCondition({
    code: 'lane_waiting',
    passesMs: RESTART_MS,
    find: (chain) =>
      lanesOf(chain).find(
        ({ state, problem }) => state === 'waiting' || (state === 'filling' && problem !== null),
      ) ?? null,
  }),
  defineCondition({
    code: 'head_stalled',
    passesMs: 0,
    find: ({ stall }) => (stall === null ? null : { problem: stall }),
  }),
  defineCondition({
    code: 'finality_held',
    passesMs: 0,
    find: ({ nodes: { finalityHeld } }) => (finalityHeld === null ? null : { problem: finalityHeld }),
  }),
  defineCondition({
    code: 'finality_equivocated',
    passesMs: 0,
    find: (chain) => certificatesOf(chain, 'finality_equivocated'),
  }),
  defineCondition({
    code: 'finality_key_unknown',
    passesMs: 0,
    find: (chain) => certificatesOf(chain, 'finality_key_unknown'),
  }),
  defineCondition({
    code: 'finality_certificates_missing',
    passesMs: 0,
    find: (chain) => certificatesOf(chain, 'finality_certificates_missing'),
  }),
  defineCondition({
    code: 'relay_degraded',
    passesMs: RESTART_MS,
    find: ({ relay }) => (relay.problem === null ? null : relay),
  }),
  defineCondition({
    code: 'projection_stopped',
    passesMs: 0,
    find: (chain) => followersIn(chain, 'stopped'),
  }),
  defineCondition({
    code: 'projection_waiting',
    passesMs: PROJECTION_MS,
    find: (chain) => followersIn(chain, 'waiting'),
  }),
  defineCondition({
    code: 'projection_differs',
    passesMs: 0,
    find: ({ followers }) => {
      const differing = followers.flatMap(({ name, found }) =>
        found?.differs ? `${name}: ${found.differs}` : [],
      )
      return differing.length === 0 ? null : { problem: differing.join('; ') }
    },
  }),
  defineCondition({
    code: 'header_rule_unknown',
    passesMs: 0,
    // Where only links are checked, nothing is expected of headers; where nothing is held, an answer
    // that could not be read has told no rule.
    find: ({ profile: { headerRule, checks }, state: { tip } }) =>
      headerRule === 'unknown' && checks === 'roots' && tip >= 0
        ? { problem: 'headers of this chain hash in no known way: its blocks are stored without proof' }
        : null,
  }),
  defineCondition({
    code: 'fork_unknown',
    passesMs: 0,
    find: ({ forks: { problem } }) => (problem === null ? null : { problem }),
  }),
  defineCondition({
    code: 'unprovable',
    passesMs: 0,
    find: ({ unproved }) => (unproved === null ? null : { problem: unproved }),
  }),
  defineCondition({
    code: 'postgres_degraded',
    passesMs: RESTART_MS,
    find: ({ storeProblem }) => (storeProblem === null ? null : { problem: storeProblem }),
  }),
  defineCondition({
    code: 'clickhouse_degraded',
    passesMs: RESTART_MS,
    find: ({ clickhouseStatus }) => (clickhouseStatus.state === 'running' ? null : clickhouseStatus),
  }),
  defineCondition({
    code: 'webhooks_stalled',
    passesMs: WEBHOOKS_MS,
    find: standingStreams,
  }),
  defineCondition({
    code: 'payment_reversed',
    passesMs: 0,
    find: ({ payments }) =>
      counted(payments?.reversed, 'payments of the last day were taken back by the chain'),
  }),
  defineCondition({
    code: 'payment_differs',
    passesMs: 0,
    find: ({ payments }) =>
      counted(
        payments?.differing,
        'payments of the last day are not what the chain has: `millrace payments audit`',
      ),
  }),
  defineCondition({
    code: 'books_differ',
    passesMs: 0,
    find: ({ payments }) =>
      counted(payments?.books, 'entries, rows or transfers of money differ: `millrace books check`'),
  }),
  defineCondition({
    code: 'books_unchecked',
    passesMs: UNCHECKED_MS,
    find: ({ payments }) =>
      counted(
        payments?.unchecked,
        'chains did not tell what the books are compared with: `millrace books check`',
      ),
  }),
  defineCondition({
    code: 'settlement_unknown',
    passesMs: 0,
    find: ({ payments }) =>
      counted(
        payments?.unknown,
        'payments were sent more than a minute ago, and nobody knows whether they settled',
      ),
  }),
  defineCondition({
    code: 'channels_unsettled',
    passesMs: 0,
    find: ({ channels }) => (channels === null ? null : { problem: channels }),
  }),
  defineCondition({
    code: 'payouts_waiting',
    passesMs: 0,
    find: ({ payments }) =>
      counted(
        payments?.waiting,
        'refunds or rewards wait for more than ten minutes: `millrace payments refunds`',
      ),
  }),
  defineCondition({
    code: 'payouts_large',
    passesMs: 0,
    find: ({ payments }) =>
      counted(payments?.large, 'refunds or rewards are above the budget of a day: one a day is sent'),
  }),
  defineCondition({
    code: 'payments_stopped',
    passesMs: 0,
    find: ({ payments }) =>
      counted(
        payments?.stopped,
        'of payouts and wallet stand, as the database may not know what was sent: `millrace wallet resume`',
      ),
  }),
]

const counted = (count: number | undefined, what: string): { readonly problem: string } | null =>
  count ? { problem: `${count} ${what}` } : null

/** Streams that do not move, and why. */
function standingStreams({ webhooks }: Watched): { readonly problem: string } | null {
  const standing = webhooks.flatMap(({ stream, problem }) =>
    problem === null ? [] : `${stream}: ${problem}`,
  )
  return standing.length === 0 ? null : { problem: standing.join('; ') }
}

/** Those in a state that say why: one that waits for its first blocks says nothing. */
function followersIn({ followers }: Watched, wanted: string): { readonly problem: string } | null {
  const found = followers.filter(({ state, problem }) => state === wanted && problem !== null)
  if (found.length === 0) return null
  return { problem: found.map(({ name, problem }) => `${name}: ${problem}`).join('; ') }
}
