/**
 * The ClickHouse lane of one chain with everything it needs: journal, sink, sealing, and the checks
 * before it writes.
 */
import type { ClickHouseClient } from '@clickhouse/client'
import type { Lease } from '#runtime/lease.ts'
import type { Runtime } from '#runtime/runtime.ts'
import { readLane } from '../ledger/lane.ts'
import { readLedgerIdentity } from '../ledger/ledger.ts'
import type { Postgres } from '../postgres.ts'
import { schemaOf } from '../sql.ts'
import { adoptClickHouse } from './adopt.ts'
import { ClickHouseSink } from './ClickHouseSink.ts'
import { ClickHouseTables } from './ClickHouseTables.ts'
import { claimClickHouse } from './fence.ts'
import { ClickHouseJournal } from './journal.ts'
import { ClickHouseLane, type ClickHouseLaneOptions, PARTITION_BLOCKS } from './lane.ts'
import { postgresLaneLedger } from './laneLedger.ts'
import { reconcileClickHouse } from './reconcile.ts'
import { sealNextPartition } from './seal.ts'
import { databaseOf } from './template.ts'

export interface OpenLaneOptions
  extends Pick<ClickHouseLaneOptions, 'cache' | 'decode' | 'log' | 'onWritten' | 'takeAsked'> {
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  /**
   * Folder from which an engine on this machine reads rows (ClickHouseTablesOptions); null where
   * rows go through HTTP.
   */
  readonly rowsFolder: string | null
  readonly chainId: number
  readonly lease: Pick<Lease, 'fence' | 'assertHeld'>
  readonly runtime: Runtime
}

/**
 * Asks nothing of ClickHouse yet, so that an engine that is down holds up this lane and nothing
 * else.
 */
export function openClickHouseLane(options: OpenLaneOptions): ClickHouseLane {
  const { postgres, clickhouse, rowsFolder, chainId, lease, runtime, cache, decode, log, onWritten } = options
  const { clock, failpoint } = runtime
  const [schema, database] = [schemaOf(chainId), databaseOf(chainId)]
  const journal = new ClickHouseJournal(postgres, schema, lease.fence)
  const assertMayWrite = () => lease.assertHeld()
  const partitionBlocks = PARTITION_BLOCKS
  let ledgerId = ''
  const prepare = async () => {
    await adoptClickHouse(postgres, clickhouse, chainId)
    const { fence } = lease
    await claimClickHouse({ clickhouse, database, fence, assertMayWrite, clock })
    const stores = { postgres, clickhouse, schema, database }
    await reconcileClickHouse({ ...stores, fence, assertMayWrite, partitionBlocks, log })
    const lane = await readLane(postgres.pool, schema)
    ledgerId = `${(await readLedgerIdentity(postgres, schema)).ledgerId}/${lane?.withdrawals ?? 0}`
  }
  const seal = async () => {
    let agreed = true
    for (;;) {
      const sealed = await sealNextPartition({
        postgres,
        clickhouse,
        journal,
        schema,
        database,
        partitionBlocks,
      })
      if (!sealed) return agreed
      agreed &&= sealed.agreed
    }
  }
  const sink = new ClickHouseSink({
    tables: new ClickHouseTables({ client: clickhouse, database, clock, rowsFolder }),
    ledgerId: () => ledgerId,
    journal,
    fence: lease.fence,
    assertMayWrite,
    failpoint,
  })
  return new ClickHouseLane({
    ledger: postgresLaneLedger(postgres, schema),
    sink,
    journal,
    partitionBlocks,
    cache,
    decode,
    clock,
    takeAsked: options.takeAsked,
    log,
    prepare,
    seal,
    onWritten,
  })
}
