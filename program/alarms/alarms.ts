/** What of a chain its owner must know: read off what the lanes, stores, parity and audit say of themselves. */
import type { ParityStatus } from '#store/compare/ParityWatch.ts'

/** Each is one condition that holds or does not; texts change while it holds. */
export type AlarmCode =
  | 'parity_differs'
  | 'audit_differs'
  | 'finality_violated'
  | 'lane_stopped'
  | 'lane_waiting'
  | 'postgres_degraded'
  | 'clickhouse_degraded'

export interface Alarm {
  readonly chainId: number
  readonly code: AlarmCode
  /** In words; holds no secret. */
  readonly problem: string
}

interface Saying {
  readonly state: string
  readonly problem: string | null
}

/** What of a chain is looked at. */
export interface WatchedChain {
  readonly state: { readonly chainId: number }
  readonly audit: Saying | null
  readonly headStatus: Saying
  readonly historyStatus: Saying
  readonly clickhouseStatus: Saying
  readonly storeProblem: string | null
}

/** The conditions that hold now, each code at most once. */
export function alarmsOf(chain: WatchedChain, parity: Pick<ParityStatus, 'state' | 'problem'>): Alarm[] {
  const { chainId } = chain.state
  const alarms: Alarm[] = []
  const raise = (code: AlarmCode, problem: string | null) =>
    alarms.push({ chainId, code, problem: problem ?? 'no reason is known' })
  if (parity.state === 'differs') raise('parity_differs', parity.problem)
  if (chain.audit?.state === 'differs') raise('audit_differs', chain.audit.problem)
  const { headStatus, historyStatus, clickhouseStatus, storeProblem } = chain
  if (headStatus.state === 'finality_violated') raise('finality_violated', headStatus.problem)
  const lanes = [headStatus, historyStatus]
  const stopped = lanes.find(({ state }) => state === 'stopped')
  if (stopped) raise('lane_stopped', stopped.problem)
  const waiting = lanes.find(
    ({ state, problem }) => state === 'waiting' || (state === 'filling' && problem !== null),
  )
  if (waiting) raise('lane_waiting', waiting.problem)
  if (storeProblem !== null) raise('postgres_degraded', storeProblem)
  if (clickhouseStatus.state !== 'running') raise('clickhouse_degraded', clickhouseStatus.problem)
  return alarms
}
