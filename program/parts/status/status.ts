/** The program's knowledge of itself, for /status, /ready and the terminal view. */

import type { ChainStatus, StatusReport, StatusSource } from '#api/routes/service/status.ts'
import { isoSeconds } from '#http/schema.ts'
import { newestSegment } from '#ingest/range.ts'
import program from '#package.json' with { type: 'json' }
import type { Runtime } from '#runtime/runtime.ts'
import type { ParityStatus } from '#store/compare/ParityWatch.ts'
import type { FollowerStatus } from '#store/follow/FollowerDriver.ts'
import { ProofCounter } from '#store/ledger/ProofCounter.ts'
import { countProofs, type ProofCounts } from '#store/ledger/proofs.ts'
import type { Postgres } from '#store/postgres.ts'
import type { Chain } from '../../chain/Chain.ts'
import type { AlarmWatch } from '../alarms/AlarmWatch.ts'
import type { WebhookWatch } from '../webhooks/WebhookWatch.ts'
import { readinessOf } from './readiness.ts'

export interface StatusOptions {
  readonly chains: readonly Chain[]
  readonly postgres: Postgres
  readonly runtime: Runtime
  readonly parityOf: (chain: Chain) => ParityStatus
  readonly alarms: Pick<AlarmWatch, 'active'>
  /** How webhooks stand; null where there are none. */
  readonly webhooks: Pick<WebhookWatch, 'report'> | null
  /** Dev chains of this program's own. */
  readonly local: ReadonlySet<number>
  /** Notes for the operator, such as open access. */
  readonly notes: () => readonly string[]
}

export function createStatusSource(options: StatusOptions): StatusSource {
  const { chains, runtime, notes, parityOf, alarms, webhooks } = options
  const startedAt = isoSeconds(Math.floor(runtime.clock.now() / 1000))
  const proofs = new ProofCounter({
    clock: runtime.clock,
    count: (schema) => countProofs(options.postgres, schema),
  })
  return {
    ready: async (scope) => readinessOf(chains, scope),
    waitForBlock: async (block, chainId, signal) => {
      const asked = chains.filter((chain) => chainId === undefined || chain.state.chainId === chainId)
      await Promise.all(asked.map((chain) => chain.state.waitForBlock(block, runtime.clock, signal)))
    },
    status: async (): Promise<StatusReport> => ({
      version: program.version,
      ready: readinessOf(chains, 'all').ready,
      startedAt,
      ...alarmReport(alarms),
      chains: await Promise.all(
        chains.map(async (chain) => ({
          ...statusOf(chain, await proofs.of(chain.state.schema), parityOf(chain)),
          isLocal: options.local.has(chain.state.chainId),
        })),
      ),
      webhooks: await webhookStatus(webhooks),
      notes: [...notes(), ...chains.flatMap((chain) => chain.notes)],
    }),
  }
}

async function webhookStatus(watch: StatusOptions['webhooks']): Promise<StatusReport['webhooks']> {
  if (!watch) return null
  const { chains, pending, attempts, problem } = await watch.report()
  return {
    chains: chains.map((chain) => ({ ...chain })),
    pending: pending && { ...pending },
    attempts: { ...attempts },
    problem,
  }
}

function alarmReport(watch: StatusOptions['alarms']): Pick<StatusReport, 'degraded' | 'alarms'> {
  const alarms = watch.active().map(({ sinceMs, chainId, code, problem }) => ({
    chainId,
    code,
    problem,
    since: isoSeconds(Math.floor(sinceMs / 1_000)),
  }))
  return { degraded: alarms.length > 0, alarms }
}

function statusOf(
  chain: Chain,
  proofs: ProofCounts | null,
  parity: ParityStatus,
): Omit<ChainStatus, 'isLocal'> {
  const { state, profile, historyProgress: history } = chain
  return {
    chainId: state.chainId,
    kind: profile.kind,
    role: chain.role,
    startBlock: state.startBlock,
    head: known(state.head),
    finalized: known(state.finalized),
    finality: { ...chain.finality, height: known(chain.finality.height) },
    lagBlocks: state.head < 0 || state.tip < 0 ? null : Math.max(0, state.head - state.tip),
    coverage: [...state.coverage('postgres')],
    stores: { postgres: postgresStatus(chain), clickhouse: clickhouseStatus(chain) },
    lanes: [
      { name: 'head', ...chain.headStatus },
      { name: 'history', ...chain.historyStatus },
    ],
    projections: projectionsOf(chain.followers),
    relay: relayOf(chain),
    endpoints: chain.nodes.endpoints().map(({ cost, ...endpoint }) => ({ ...endpoint, cost: { ...cost } })),
    history: history && {
      target: history.target,
      blocksTotal: history.blocksTotal,
      blocksDone: history.blocksDone,
      blocksPerSecond: history.blocksPerSecond,
      etaSeconds: history.etaSeconds,
      chunks: history.chunks.map(({ range, tip }) => ({ ...range, tip: tip < range.from ? null : tip })),
    },
    parity,
    forks: chain.forks.forks.map((fork) => ({ ...fork, activatesAt: isoSeconds(fork.activatesAt) })),
    verification: {
      checks: profile.checks,
      headerRule: profile.headerRule,
      unproved: [...(profile.loose ?? [])],
      provisional: [...chain.provisional],
      provedBlocks: proofs?.provedBlocks ?? null,
      unprovableBlocks: proofs?.unprovableBlocks ?? null,
      unprovableTxs: proofs?.unprovableTxs ?? null,
      foreignReceipts: chain.foreignReceipts,
      audit: auditOf(chain),
    },
  }
}

const known = (height: number) => (height < 0 ? null : height)

export const projectionsOf = (followers: readonly FollowerStatus[]): ChainStatus['projections'] =>
  followers.map(({ tip, found, ...follower }) => ({
    ...follower,
    ...{ tip: known(tip), strays: found?.strays ?? null, differs: found?.differs ?? null },
  }))

function relayOf({ relay }: Chain): ChainStatus['relay'] {
  const { isApart, endpoints } = relay.status()
  return {
    isApart,
    endpoints: endpoints.map(({ cost, ...endpoint }) => ({ ...endpoint, cost: { ...cost } })),
  }
}

function auditOf({ audit }: Chain): ChainStatus['verification']['audit'] {
  return audit && { ...audit, differences: audit.differences.map((found) => ({ ...found })) }
}

function postgresStatus({ state, storeProblem }: Chain): ChainStatus['stores']['postgres'] {
  return {
    tip: state.tip < 0 ? null : state.tip,
    state: storeProblem === null ? 'running' : 'down',
    problem: storeProblem,
    coverage: [...state.coverage('postgres')],
  }
}

function clickhouseStatus({ state, clickhouseStatus: lane }: Chain): ChainStatus['stores']['clickhouse'] {
  const coverage = state.coverage('clickhouse')
  return { tip: newestSegment(coverage)?.to ?? null, ...lane, coverage: [...coverage] }
}
