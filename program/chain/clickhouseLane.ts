/** The carrier of batches from Postgres's commits on to ClickHouse. */

import { blockCount } from '#ingest/range.ts'
import type { Lease } from '#runtime/lease.ts'
import type { ClickHouseLane } from '#store/clickhouse/lane.ts'
import { openClickHouseLane } from '#store/clickhouse/openLane.ts'
import type { CommitListener } from '#store/ledger/PostgresHeadSink.ts'
import { metrics } from '#telemetry.ts'
import { releaseClickhouse, releasePostgres, rowCount } from '#transform/batch.ts'
import { type Writing, wake } from './writing.ts'

/** The lane of this chain, under the lease; `run` moves it. */
export function clickhouseLaneOf(writing: Writing, lease: Lease): ClickHouseLane {
  const { options, pool, cache, state } = writing
  const { identity, postgres, clickhouse, clickhouseRowsFolder, runtime, log } = options
  const chain = String(identity.chainId)
  return openClickHouseLane({
    postgres,
    clickhouse,
    rowsFolder: clickhouseRowsFolder,
    chainId: identity.chainId,
    lease,
    runtime,
    log,
    cache,
    takeAsked: () => state.demand.take(),
    decode: (raw) => pool.decode(raw),
    onWritten: (range, batches) => {
      metrics.tipBlock.set({ chain, store: 'clickhouse' }, range.to)
      metrics.blocksCommitted.inc({ chain, store: 'clickhouse', lane: 'all' }, blockCount(range))
      for (const batch of batches) {
        metrics.rowsCommitted.inc({ chain, store: 'clickhouse' }, rowCount(batch))
        releaseClickhouse(batch)
      }
      wake(writing)
    },
  })
}

/**
 * Keeps what Postgres committed for ClickHouse, and lets history wait while ClickHouse is behind.
 */
export function commitListener(writing: Writing, clickhouseLane: ClickHouseLane): CommitListener {
  const { options, cache } = writing
  const chain = String(options.identity.chainId)
  return {
    appended: async (batch, lane) => {
      cache.add(releasePostgres(batch))
      clickhouseLane.committed(lane, blockCount(batch.range))
      metrics.blocksCommitted.inc({ chain, store: 'postgres', lane }, blockCount(batch.range))
      metrics.rowsCommitted.inc({ chain, store: 'postgres' }, rowCount(batch))
      // Rows of a chunk are seen by nobody until it is attached.
      if (lane === 'head') {
        metrics.tipBlock.set({ chain, store: 'postgres' }, batch.range.to)
        wake(writing)
      } else if (!clickhouseLane.failing) await cache.room()
    },
    reverted: (range) => {
      cache.drop(range)
      wake(writing)
    },
    withdraw: (range, revert) => clickhouseLane.withdraw(range, revert),
  }
}
