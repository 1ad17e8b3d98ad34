/**
 * A chain opened for work on what is held: its lease, and worker threads that read the archive. No
 * node is asked.
 */

import { SettingError } from '#errors.ts'
import { type BlockRange, blockCount } from '#ingest/range.ts'
import type { Lease } from '#runtime/lease.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { BatchCache } from '#store/clickhouse/BatchCache.ts'
import { openClickHouseLane } from '#store/clickhouse/openLane.ts'
import { claimChain } from '#store/ledger/claim.ts'
import { type ChainIdentity, readChainIdentity } from '#store/ledger/ledger.ts'
import { schemaOf } from '#store/sql.ts'
import { type Logger, silentLogger } from '#telemetry.ts'
import { createDecodePool, type DecodePool } from '#transform/decode/decodePool.ts'
import { heldKindOf } from './chain/chainKind.ts'
import type { Config } from './config.ts'
import { InterruptedError } from './process/stopSignal.ts'
import { openStores, type Stores, selectHeldChain, withChainLease } from './stores.ts'

export interface OfflineChain extends Pick<Stores, 'engines'> {
  readonly identity: ChainIdentity
  readonly schema: string
  readonly lease: Lease
  readonly pool: DecodePool
  readonly runtime: Runtime
}

/**
 * Opens the chain asked for, or the only one held, and closes everything after the work. @throws
 * SettingError, LeaseHeldError
 */
export async function withOfflineChain(
  config: Config,
  asked: number | null,
  runtime: Runtime,
  log: Logger,
  work: (chain: OfflineChain) => Promise<void>,
): Promise<void> {
  const stores = await openStores(config, runtime, log)
  const { engines } = stores
  try {
    const chainId = await selectHeldChain(stores, asked)
    await withChainLease(stores, chainId, config, runtime, log, async (lease) => {
      const identity = await readChainIdentity(engines.postgres, chainId)
      if (!identity) throw new SettingError('DATABASE_URL', `holds nothing of chain ${chainId}`)
      const schema = schemaOf(chainId)
      await claimChain(engines.postgres, schema, lease.fence)
      const { headerRule, loose = [], dropped = [] } = identity
      // The archive holds what was proved when it came.
      const kind = await heldKindOf(engines.postgres, chainId)
      const profile = { chainId, kind, headerRule, loose, dropped, checks: 'links' } as const
      const pool = createDecodePool({ threads: config.workerThreads, profile, log })
      try {
        await work({ engines, identity, schema, lease, pool, runtime })
      } finally {
        await pool.close()
      }
    })
  } finally {
    await stores.close()
  }
}

/**
 * Brings ClickHouse to what the ledger says: what is beyond goes, what is final and missing is made
 * from the archive.
 */
export async function fillClickHouse(
  { engines, identity, lease, pool, runtime }: OfflineChain,
  stop: AbortSignal,
  onWritten: (blocks: number) => void = () => {},
): Promise<void> {
  const lane = openClickHouseLane({
    postgres: engines.postgres,
    clickhouse: engines.clickhouse,
    rowsFolder: engines.clickhouseRowsFolder,
    chainId: identity.chainId,
    lease,
    runtime,
    cache: new BatchCache(0),
    decode: (raw) => pool.decode(raw),
    // The command has just changed what it corrects; nobody needs a warning of it.
    log: silentLogger,
    onWritten: (range: BlockRange) => onWritten(blockCount(range)),
  })
  while (await lane.step()) if (stop.aborted) throw new InterruptedError()
}
