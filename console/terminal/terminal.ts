/**
 * The state of the program as lines of text, for a terminal that is watched. Pure: the same report
 * gives the same lines. Rates come from two reports, so that they say what happened and not what
 * was hoped for.
 */

import { counted, grouped } from '#text/quantity.ts'
import { finalityLabel } from '../model/finalityLabel.ts'
import type { ChainStatus, HistoryStatus, StatusReport, StoreStatus } from '../model/wire.ts'

/** The part of GET /status that is shown. */
export interface Report extends Pick<StatusReport, 'ready' | 'notes'> {
  readonly chains: readonly ReportedChain[]
}

type Store = Pick<StoreStatus, 'tip' | 'state' | 'problem'>

export interface ReportedChain
  extends Pick<
    ChainStatus,
    'chainId' | 'role' | 'isLocal' | 'head' | 'finalized' | 'finality' | 'lagBlocks' | 'lanes' | 'history'
  > {
  readonly stores: { readonly postgres: Store; readonly clickhouse: Store }
  readonly verification: Pick<ChainStatus['verification'], 'checks' | 'provedBlocks' | 'unprovableBlocks'>
}

/** A report and when it was taken. */
export interface Sample {
  readonly report: Report
  readonly atMs: number
  /** Unix milliseconds, from which ages of what a report names are told. */
  readonly nowMs: number
}

const BAR_CELLS = 24
/** More bars than this would push the rest off the screen. */
const CHUNK_BARS_MAX = 4

/**
 * The whole view. `before` is an older sample of the same program; without it no rates are shown.
 */
export function renderReport(now: Sample, before: Sample | null): string[] {
  const lines = [now.report.ready ? 'ready' : 'catching up']
  for (const chain of now.report.chains) {
    const earlier = before?.report.chains.find((candidate) => candidate.chainId === chain.chainId)
    const seconds = before ? (now.atMs - before.atMs) / 1000 : 0
    lines.push('', ...renderChain(chain, earlier ?? null, { seconds, nowMs: now.nowMs }))
  }
  if (now.report.notes.length > 0) lines.push('', ...now.report.notes.map((note) => `note  ${note}`))
  return lines
}

/** @param times since the report before, and the time now in Unix milliseconds */
function renderChain(
  chain: ReportedChain,
  before: ReportedChain | null,
  { seconds, nowMs }: { readonly seconds: number; readonly nowMs: number },
): string[] {
  const { postgres, clickhouse } = chain.stores
  const { checks, provedBlocks, unprovableBlocks } = chain.verification
  const unprovable =
    unprovableBlocks !== null && unprovableBlocks > 0 ? `, ${grouped(unprovableBlocks)} not provable` : ''
  return [
    `chain ${chain.chainId}${chain.isLocal ? ' (local dev chain)' : ''}${chain.role === 'standby' ? ' (standby: another process writes)' : ''}`,
    `  head        ${height(chain.head)}   finalized ${height(chain.finalized)}   lag ${chain.lagBlocks === null ? '-' : counted(chain.lagBlocks, 'block')}`,
    `  finality    ${finalityLabel(chain, nowMs)}`,
    storeLine('Postgres', postgres, before?.stores.postgres ?? null, seconds),
    storeLine('ClickHouse', clickhouse, before?.stores.clickhouse ?? null, seconds),
    `  verified    ${provedBlocks === null ? 'blocks are not counted yet' : counted(provedBlocks, 'block')} (${checks}${unprovable})`,
    ...(chain.history ? historyLines(chain.history) : []),
    ...chain.lanes
      .filter((lane) => lane.problem !== null)
      .map((lane) => `  ${lane.name}: ${lane.state}: ${lane.problem}`),
  ]
}

function storeLine(name: string, store: Store, before: Store | null, seconds: number): string {
  const moved = (store.tip ?? 0) - (before?.tip ?? store.tip ?? 0)
  const rate = seconds > 0 && before ? `   ${(Math.max(0, moved) / seconds).toFixed(1)} blocks/s` : ''
  const trouble = store.problem === null ? '' : `   ${store.state}: ${store.problem}`
  return `  ${name.padEnd(11)} ${height(store.tip)}${rate}${trouble}`
}

function historyLines(history: HistoryStatus): string[] {
  if (history.blocksDone >= history.blocksTotal) return []
  const rate =
    history.blocksPerSecond === null ? '' : `   ${grouped(Math.round(history.blocksPerSecond))} blocks/s`
  const eta = history.etaSeconds === null ? '' : `   ${duration(history.etaSeconds)} left`
  const begun = history.chunks.filter((chunk) => chunk.tip !== null)
  return [
    `  history     ${bar(history.blocksDone, history.blocksTotal)} ${percent(history)}${rate}${eta}`,
    ...begun.slice(0, CHUNK_BARS_MAX).map(({ from, to, tip }) => {
      const done = (tip ?? from - 1) - from + 1
      return `    ${bar(done, to - from + 1)} ${grouped(from)} to ${grouped(to)}`
    }),
  ]
}

function bar(done: number, total: number): string {
  const cells = total > 0 ? Math.floor((done / total) * BAR_CELLS) : 0
  return `[${'#'.repeat(cells)}${'.'.repeat(BAR_CELLS - cells)}]`
}

/** Rounded down: 100 % means all of it. */
const percent = ({ blocksDone, blocksTotal }: HistoryStatus): string =>
  `${blocksTotal > 0 ? Math.floor((blocksDone / blocksTotal) * 1000) / 10 : 0} %`

const height = (value: number | null): string => (value === null ? '-' : grouped(value))

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5_400) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3_600).toFixed(1)} h`
}
