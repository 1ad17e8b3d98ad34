/**
 * Opens the two databases alone, for commands on what is held: no node is asked, and no other
 * program runs beside.
 */

import { SettingError } from '#errors.ts'
import { postgresLeases } from '#rows/leases.ts'
import { visitListed } from '#runtime/failpoints.ts'
import { acquireLease, type Lease, type LeaseHolder } from '#runtime/lease.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { chainLease } from '#store/ledger/chainLease.ts'
import { listChainIds } from '#store/maintain/heldChains.ts'
import { migrateApp, migrateChain, migrateClickHouse } from '#store/maintain/migrate.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from './config.ts'
import { type Engines, findEngines, startEngines } from './engines.ts'
import { holdDataDir } from './heldDataDir.ts'
import { leaseHolder } from './process/leaseHolder.ts'

export interface Stores {
  readonly engines: Engines
  /** This program, to others on the same databases. */
  readonly holder: LeaseHolder
  close(): Promise<void>
}

/** Far longer than a renewal takes; a command after a killed one waits as long. */
const LEASE_MS = 10_000

/** @throws DataDirectoryError when a program runs on this directory */
export async function openStores(config: Config, runtime: Runtime, log: Logger): Promise<Stores> {
  const dataDir = await holdDataDir(config.dataDir, runtime.clock)
  try {
    const engines = await startEngines(config, dataDir, [], runtime, log)
    const close = async () => {
      await engines.close()
      dataDir.release()
    }
    try {
      await migrateApp(engines.postgres)
      return { engines, holder: leaseHolder(dataDir.path), close }
    } catch (error) {
      await close()
      throw error
    }
  } catch (error) {
    dataDir.release()
    throw error
  }
}

/**
 * Works on the databases of a program that runs beside, else opens them. @throws DataDirectoryError
 */
export async function withDatabases<Result>(
  config: Config,
  runtime: Runtime,
  log: Logger,
  work: (engines: Engines) => Promise<Result>,
): Promise<Result> {
  const running = await findEngines(config, log)
  const { engines, close } = running
    ? { engines: running, close: () => running.close() }
    : await openStores(config, runtime, log)
  try {
    return await work(engines)
  } finally {
    await close()
  }
}

/** The chain an option names, or the only one held. @throws SettingError */
export async function selectHeldChain({ engines }: Stores, asked: number | null): Promise<number> {
  const held = await listChainIds(engines.postgres)
  const [only] = held
  if (asked !== null) {
    if (held.includes(asked)) return asked
    throw new SettingError(
      '--chain',
      `chain ${asked} is not held here; held are ${held.join(', ') || 'none'}`,
    )
  }
  if (only === undefined) throw new SettingError('DATABASE_URL', 'holds no chain')
  if (held.length > 1) throw new SettingError('--chain', `say which one; held are ${held.join(', ')}`)
  return only
}

/**
 * Brings a chain's schemas up to date and works on it as its only writer. @throws LeaseHeldError
 */
export async function withChainLease<Result>(
  { engines, holder }: Stores,
  chainId: number,
  config: Config,
  runtime: Runtime,
  log: Logger,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const leases = postgresLeases(engines.postgres)
  const lease = await acquireLease({
    store: leases,
    name: chainLease(chainId),
    holder,
    ttlMs: LEASE_MS,
    runtime,
    log,
    failpoint: visitListed(runtime.failpoint),
  })
  try {
    await migrateChain(engines.postgres, chainId, { leases, holder })
    await migrateClickHouse(engines.clickhouse, chainId, { cluster: config.clickhouseCluster })
    return await work(lease)
  } finally {
    await lease.release()
  }
}
