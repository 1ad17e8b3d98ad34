/**
 * The parts of a running program, opened in order and closed in reverse: directory, nodes, engines,
 * chains.
 */
import { randomUUID } from 'node:crypto'
import { contractCalls } from '#ingest/rpc/contractCalls.ts'
import { replaceClickHouseViews, replacePostgresViews } from '#query/setup/replaceViews.ts'
import { postgresLeases } from '#rows/leases.ts'
import type { LeaseHolder } from '#runtime/lease.ts'
import type { Clock, Runtime } from '#runtime/runtime.ts'
import { adoptClickHouse } from '#store/clickhouse/adopt.ts'
import { CommitNotices } from '#store/ledger/CommitNotices.ts'
import { assertProjectionsCurrent } from '#store/ledger/projectionVersions.ts'
import { ChainWrittenError, migrateApp, migrateChain, migrateClickHouse } from '#store/maintain/migrate.ts'
import type { Postgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import type { Logger } from '#telemetry.ts'
import { Chain } from './chain/Chain.ts'
import { describeAlone, describeRules } from './chain/chainRules.ts'
import { dropLostGeneration } from './chain/lostGeneration.ts'
import { assertNotOldDevChain, describeOld, findOldDevChains } from './chain/oldDevChains.ts'
import {
  type FoundChain,
  findChains,
  identifyChain,
  type ReachableChain,
  reachChain,
  renewWhereLost,
} from './chains.ts'
import type { Config } from './config.ts'
import { describeDevChain } from './devChains.ts'
import { type Engines, startEngines } from './engines.ts'
import { holdDataDir } from './heldDataDir.ts'
import { leaseHolder } from './process/leaseHolder.ts'
import { assertNotInterrupted } from './process/stopSignal.ts'

/** No program of any version holds a lease for longer without renewing it. */
const LEASE_MS_MAX = 15_000

export interface Program {
  readonly engines: Engines
  readonly reachable: readonly ReachableChain[]
  readonly chains: readonly Chain[]
  /** This program, to others on the same databases. */
  readonly holder: LeaseHolder
  /** Dev chains of this program's own. */
  readonly localIds: ReadonlySet<number>
  /** Notes on the dev chains for the operator. */
  readonly notes: readonly string[]
  /** Closes what was opened, newest first. Chains are stopped before by whoever started them. */
  close(): Promise<void>
}

/**
 * Opens everything a writer of chains needs; nothing is indexed yet. @throws InterruptedError when
 * `stop` aborts
 */
export async function openProgram(
  config: Config,
  runtime: Runtime,
  log: Logger,
  stop: AbortSignal = new AbortController().signal,
): Promise<Program> {
  const opened: (() => Promise<void> | void)[] = []
  const close = async () => {
    for (const end of opened.splice(0).toReversed()) await end()
  }
  try {
    const dataDir = await holdDataDir(config.dataDir, runtime.clock)
    opened.push(() => dataDir.release())
    const found = await findChains(config, dataDir.path, runtime, log)
    opened.push(...found.flatMap(endsOf))
    assertNotInterrupted(stop)
    const chainIds = [...new Set(found.flatMap(({ told }) => told.map(({ chainId }) => chainId)))]
    const engines = await startEngines(config, dataDir, chainIds, runtime, log)
    opened.push(() => engines.close())
    assertNotInterrupted(stop)
    await migrateApp(engines.postgres)
    const running = found.flatMap(({ devChain }) => devChain?.chainId ?? [])
    const oldDevChains = await findOldDevChains(engines.postgres, dataDir.path, running)
    const holder = leaseHolder(dataDir.path)
    const chains: Chain[] = []
    const reachable: ReachableChain[] = []
    for (const one of found) {
      const renewed = await renewWhereLost(one, engines.postgres, dataDir.path, runtime, log)
      if (renewed !== one) opened.push(...endsOf(renewed))
      const chain = await reachChain(renewed, engines.postgres, runtime, log)
      assertNotOldDevChain(oldDevChains, chain)
      reachable.push(chain)
    }
    const notices = new CommitNotices(engines.postgres, randomUUID())
    for (const one of reachable)
      chains.push(await openChain(config, one, { engines, holder, notices }, runtime, log))
    opened.push(listen(notices, runtime))
    const notes = notesOf(reachable, oldDevChains)
    for (const id of oldDevChains) log.warn({ chainId: id }, `DATA_DIR ${describeOld(id)}`)
    const localIds = new Set(reachable.flatMap(({ devChain, chainId }) => (devChain ? [chainId] : [])))
    return { engines, reachable, chains, holder, localIds, notes, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The ends of a chain that was found; a dev chain last. */
const endsOf = ({ devChain, identities }: FoundChain): (() => Promise<void>)[] => [
  ...(devChain ? [() => devChain.stop()] : []),
  () => identities.close(),
]

const notesOf = (reachable: readonly ReachableChain[], oldDevChains: ReadonlySet<number>): string[] => [
  ...reachable.flatMap(({ devChain }) => (devChain ? describeDevChain(devChain) : [])),
  ...[...oldDevChains].map((id) => `DATA_DIR ${describeOld(id)}`),
]

/** Begins to hear of other processes' commits; what it answers ends that. */
function listen(notices: CommitNotices, { clock }: Runtime): () => Promise<void> {
  const stop = new AbortController()
  const listening = notices.run(clock, stop.signal)
  return () => {
    stop.abort()
    return listening
  }
}

/** The common part of a program's chains. */
interface Opened {
  readonly engines: Engines
  readonly holder: LeaseHolder
  readonly notices: CommitNotices
}

async function openChain(
  config: Config,
  reachable: ReachableChain,
  { engines, holder, notices }: Opened,
  runtime: Runtime,
  log: Logger,
): Promise<Chain> {
  const { postgres, clickhouse, clickhouseRowsFolder, viewSecurity } = engines
  const { chainId, kind, source, relay, finality } = reachable
  await migrateWhenFree(postgres, chainId, holder, runtime.clock)
  if (reachable.devChain) await dropLostGeneration(reachable, engines, log)
  await assertProjectionsCurrent(postgres.pool, schemaOf(chainId))
  const identity = await identifyChain(reachable, postgres, runtime)
  const less = describeRules(identity)
  if (less !== null) log.warn({ chainId }, less)
  const lonely = describeAlone(identity.alone ?? [])
  if (lonely !== null) log.warn({ chainId }, lonely)
  await migrateClickHouse(clickhouse, chainId, { cluster: config.clickhouseCluster })
  await replacePostgresViews(postgres, chainId)
  await replaceClickHouseViews(clickhouse, chainId, viewSecurity)
  if ((await adoptClickHouse(postgres, clickhouse, chainId)) === 'rebuilding')
    log.info({ chainId }, 'ClickHouse is empty; it is filled from what Postgres holds')
  return new Chain({
    identity,
    kind,
    checks: reachable.config.checks,
    source,
    relay,
    finality,
    postgres,
    clickhouse,
    clickhouseRowsFolder,
    callContracts: contractCalls(source),
    workerThreads: config.workerThreads,
    ...(config.auditPercentPerDay !== null && { auditPercentPerDay: config.auditPercentPerDay }),
    holder,
    notices,
    runtime,
    log,
  })
}

/**
 * Brings the chain's schema up to date. A program on this data directory that was killed where we
 * cannot see it, as in another container, holds its lease for some seconds more; one that goes on is
 * the operator's slip. @throws ChainWrittenError, SettingError
 */
async function migrateWhenFree(
  postgres: Postgres,
  chainId: number,
  holder: LeaseHolder,
  clock: Clock,
): Promise<void> {
  const writers = { leases: postgresLeases(postgres), holder }
  try {
    return await migrateChain(postgres, chainId, writers)
  } catch (error) {
    if (!(error instanceof ChainWrittenError) || holder.conflictWith(error.holder) === null) throw error
    await clock.sleep(Math.min(error.expiresInMs, LEASE_MS_MAX))
  }
  try {
    await migrateChain(postgres, chainId, writers)
  } catch (error) {
    const conflict = error instanceof ChainWrittenError ? holder.conflictWith(error.holder) : null
    throw conflict ?? error
  }
}
