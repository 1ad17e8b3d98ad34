/** Webhooks of a running program: a matcher for each chain, one sender, and what the API works with. */

import type { WebhookOperations } from '#api/routes/webhooks/access.ts'
import type { ChainReads } from '#api/services.ts'
import type { Egress } from '#egress/Egress.ts'
import { messageOf } from '#errors.ts'
import type { TokenNames } from '#present/tokenNames.ts'
import { appDatabase } from '#rows/database.ts'
import type { Sealer } from '#rows/sealing.ts'
import { failLostDeliveries } from '#rows/webhooks/deliveries.ts'
import type { Disabled } from '#rows/webhooks/outcomes.ts'
import { countPending, readReached } from '#rows/webhooks/pending.ts'
import { Retention } from '#rows/webhooks/Retention.ts'
import type { LeaseHolder } from '#runtime/lease.ts'
import { repeat } from '#runtime/repeat.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { CommitBell } from '#store/ledger/commits.ts'
import type { Postgres } from '#store/postgres.ts'
import { type Stream, streams } from '#store/read/pieces.ts'
import type { Logger } from '#telemetry.ts'
import { checkDestinations } from '#webhooks/checkDestinations.ts'
import { Deliverer } from '#webhooks/delivery/Deliverer.ts'
import { endBacklogs } from '#webhooks/delivery/endBacklogs.ts'
import type { Ending } from '#webhooks/delivery/endSubscription.ts'
import { endTerms } from '#webhooks/delivery/endTerms.ts'
import { tellDisabled } from '#webhooks/delivery/tellDisabled.ts'
import { MatcherKeeper } from '#webhooks/matching/MatcherKeeper.ts'
import type { WatchedChain } from '#webhooks/matching/watchedChain.ts'
import { Replayer } from '#webhooks/replay/Replayer.ts'
import { Replays } from '#webhooks/replay/Replays.ts'
import { Webhooks } from '#webhooks/Webhooks.ts'
import { whileLeased } from '#webhooks/whileLeased.ts'
import { WebhookWatch } from './WebhookWatch.ts'

/** As the setting says. */
export type WebhookMode = 'on' | 'off' | 'loopback'

export interface OpenWebhooksOptions {
  readonly mode: WebhookMode
  readonly postgres: Postgres
  readonly sealer: Sealer
  readonly chains: ReadonlyMap<number, ChainReads>
  readonly tokenNames: TokenNames
  /** This program, to others on the same database. */
  readonly holder: LeaseHolder
  readonly runtime: Runtime
  readonly log: Logger
  readonly egress: Egress
}

export interface OpenedWebhooks {
  readonly operations: WebhookOperations
  /** Notes for the operator. */
  readonly notes: readonly string[]
  /** How they stand. */
  readonly watch: WebhookWatch
  /** The streams of a chain, each with why it does not move, or null. */
  problemsOf(chainId: number): readonly { readonly stream: Stream; readonly problem: string | null }[]
  /** Matches and sends until aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** How often what is past its time is removed. */
const RETENTION_MS = 60_000
/** Between two pieces of it. */
const PIECE_MS = 1_000
/** How often the backlogs of paused subscriptions are measured: what comes meanwhile is kept too. */
const BACKLOG_MS = 60_000
/** Longer than any attempt outside of the queue. */
const LOST_MS = 5 * 60_000

/** Null where the operator wants none. */
export function openWebhooks(options: OpenWebhooksOptions): OpenedWebhooks | null {
  const { mode, postgres, sealer, chains, holder, egress, runtime, log } = options
  if (mode === 'off') return null
  const app = appDatabase(postgres)
  const outgoing = new CommitBell()
  const { clock, failpoint } = runtime
  const watched = new Map([...chains].map(([id, chain]) => [id, watchedOf(chain, options)]))
  const replays = { app, chains: watched, outgoing, clock }
  const replayer = new Replayer({ ...replays, failpoint, log })
  const disabled = (found: readonly Disabled[]) => tellDisabled({ app, postgres }, found)
  const deliverer = new Deliverer({ app, sealer, egress, outgoing, disabled, runtime, log })
  const keepers = [...chains.values()].flatMap((chain) => {
    const of = watched.get(chain.chainId) ?? watchedOf(chain, options)
    const { bell, followed } = chain.state
    const bells = { blocks: bell, fills: followed }
    return streams.map(
      (stream) =>
        new MatcherKeeper({ ...of, stream, bell: bells[stream], app, outgoing, runtime, holder, log }),
    )
  })
  const problemOf = (id: number, stream: Stream) =>
    keepers.find((keeper) => keeper.isOf(id, stream))?.problem ?? null
  const watch = new WebhookWatch({
    clock,
    count: async () => {
      const [pending, reached] = await Promise.all([countPending(app), readReached(app)])
      return { pending, reached }
    },
    tipOf: (id) => chains.get(id)?.state.tip ?? -1,
    problemOf,
    attempts: () => deliverer.attempts,
  })
  if (mode === 'loopback')
    log.warn({}, 'WEBHOOKS is loopback: events are also sent to this machine, for development')
  return {
    operations: {
      app,
      chains: [...chains.keys()],
      run: new Webhooks({ app, postgres, chains: watched, sealer, egress, clock, outgoing, log }),
      replays: new Replays(replays),
    },
    notes:
      mode === 'loopback' ? ['WEBHOOKS=loopback: events may be sent to this machine; for development'] : [],
    watch,
    problemsOf: (id) => streams.map((stream) => ({ stream, problem: problemOf(id, stream) })),
    run: async (signal) => {
      const removing = keepRemoving(app, runtime, log, signal)
      const bounding = keepBounding({ app, postgres }, outgoing, runtime, log, signal)
      const checking = tellRefused({ app, sealer, egress }, log, signal)
      const replaying = whileLeased(
        { postgres, name: 'webhooks:replays', holder, runtime, log },
        signal,
        (_fence, held) => replayer.run(held),
      )
      const matching = keepers.map((keeper) => keeper.run(signal))
      await Promise.all([...matching, replaying, deliverer.run(signal), removing, bounding, checking])
    },
  }
}

function watchedOf(
  { chainId, kind, state }: ChainReads,
  { postgres, log, tokenNames }: OpenWebhooksOptions,
): WatchedChain {
  return {
    chain: { chainId, kind },
    startBlock: state.startBlock,
    schema: state.schema,
    postgres,
    readTokens: (tokens, signal) =>
      tokenNames.read(chainId, tokens, signal).catch((error: unknown) => {
        log.warn({ chainId, problem: messageOf(error) }, 'names of tokens are left out of events')
        return new Map()
      }),
  }
}

/** Ids that one line of the log names. */
const TOLD_MAX = 20

async function tellRefused(
  of: Parameters<typeof checkDestinations>[0],
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  try {
    const refused = await checkDestinations(of, signal)
    if (refused.length > 0)
      log.warn(
        { count: refused.length, webhooks: refused.slice(0, TOLD_MAX) },
        'destinations of webhooks lead where this service does not go: nothing is sent there',
      )
  } catch (error) {
    if (!signal.aborted) log.warn({ problem: messageOf(error) }, 'destinations of webhooks were not checked')
  }
}

async function keepRemoving(
  app: WebhookOperations['app'],
  { clock }: Runtime,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const retention = new Retention(app, log)
  await repeat({ clock, signal }, async () => {
    const more = await retention.pass()
    await failLostDeliveries(app, LOST_MS).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ problem: messageOf(error) }, 'lost attempts could not be ended')
    })
    return more ? PIECE_MS : RETENTION_MS
  })
}

async function keepBounding(
  of: Ending,
  outgoing: CommitBell,
  { clock }: Runtime,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const failed = { log, ms: BACKLOG_MS, message: 'backlogs of webhooks were not measured' }
  await repeat({ clock, signal, failed }, async () => {
    const ended = await endBacklogs(of)
    if (ended.length > 0) {
      outgoing.ring()
      const webhooks = ended.map(({ webhookId }) => webhookId)
      log.warn({ webhooks }, 'paused webhooks kept too much: disabled')
    }
    if ((await endTerms(of)).length > 0) outgoing.ring()
    return BACKLOG_MS
  })
}
