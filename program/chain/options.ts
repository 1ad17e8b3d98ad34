/** The parts that a chain is put together from, and the bounds of its work. */
import type { ClickHouseClient } from '@clickhouse/client'
import type { Relay } from '#ingest/relay/Relay.ts'
import type { CallContracts } from '#ingest/rpc/contractCalls.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import { SENDERS_ONE_IN } from '#ingest/verify/senders/senderSample.ts'
import type { LeaseHolder } from '#runtime/lease.ts'
import type { Runtime } from '#runtime/runtime.ts'
import type { CommitNotices } from '#store/ledger/CommitNotices.ts'
import type { ChainIdentity } from '#store/ledger/ledger.ts'
import type { Postgres } from '#store/postgres.ts'
import type { Logger } from '#telemetry.ts'
import type { ChainProfile, Checks } from '#transform/profile.ts'
import type { ReachedFinality } from '../finality/ChainFinality.ts'

export interface ChainOptions {
  readonly identity: ChainIdentity
  readonly kind: ChainProfile['kind']
  readonly checks: Checks
  readonly source: RpcSource
  /** The calls of clients, over the source's endpoints or its own. */
  readonly relay: Relay
  /** The decider of finality beside the endpoints; absent if they decide alone. */
  readonly finality?: ReachedFinality
  readonly postgres: Postgres
  readonly clickhouse: ClickHouseClient
  /**
   * The folder from which the embedded engine reads rows; null for another server, whose rows go through
   * HTTP.
   */
  readonly clickhouseRowsFolder: string | null
  /** For what no event carries, such as tokens of genesis. */
  readonly callContracts: CallContracts
  readonly workerThreads: number
  /** Holder of the writing lease: this process. */
  readonly holder: LeaseHolder
  /** To and from other processes on the same database; none where one process is all there is. */
  readonly notices?: CommitNotices
  /**
   * Percent of history that is read again from the node each day, besides what became final; absent
   * audits nothing.
   */
  readonly auditPercentPerDay?: number
  /**
   * Other bounds than usual, such as a test's that has a hundred blocks and wants many batches of
   * them.
   */
  readonly limits?: Partial<ChainLimits>
  readonly runtime: Runtime
  readonly log: Logger
}

/** Bounds of one chain's work. */
export interface ChainLimits {
  /**
   * Fetched and decoded bytes in flight, head and history together: memory is flat whatever the
   * length.
   */
  readonly inFlightBytesMax: number
  /** Encoded batches waiting for ClickHouse; beyond it they are derived again from the archive. */
  readonly cacheBytesMax: number
  readonly batchBlocksMax: number
  /**
   * Ten minutes of a chain with two blocks a second: catching up takes longer than starting over at
   * the head.
   */
  readonly sealGapBlocks: number
  readonly leaseMs: number
  /**
   * One in so many transactions has its sender recovered before it is stored; the audit recovers
   * all.
   */
  readonly sendersOneIn: number
}

export const usualLimits: ChainLimits = {
  inFlightBytesMax: 128 * 1024 * 1024,
  cacheBytesMax: 128 * 1024 * 1024,
  batchBlocksMax: 250,
  sealGapBlocks: 1_200,
  leaseMs: 10_000,
  sendersOneIn: SENDERS_ONE_IN,
}
