/**
 * The two sides that conformance.ts compares: the ports of a writer over the simulated stores, and
 * over the real ones.
 */
import type { BlockRange } from '#ingest/range.ts'
import type { HeadSink, HistorySink } from '#ingest/sink.ts'
import { hash } from '#primitives.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { type AnalyticsTables, ClickHouseTables } from '#store/clickhouse/ClickHouseTables.ts'
import { ClickHouseJournal, type Journal } from '#store/clickhouse/journal.ts'
import { PARTITION_BLOCKS } from '#store/clickhouse/lane.ts'
import { type LaneLedger, postgresLaneLedger } from '#store/clickhouse/laneLedger.ts'
import { openChain } from '#store/ledger/ledger.ts'
import { PostgresHeadSink } from '#store/ledger/PostgresHeadSink.ts'
import { PostgresHistorySink } from '#store/ledger/PostgresHistorySink.ts'
import { chunkBlocks } from '#store/ledger/partitions.ts'
import type { ChainStore } from '../store/support/chainStore.ts'
import { Bugs } from './bugs.ts'
import type { Kernel, SimProcess } from './kernel.ts'
import { emptyLedger, type SimBatch } from './ledgerState.ts'
import { emptyEngine, SimClickHouse } from './simClickHouse.ts'
import { headSink } from './simHead.ts'
import { historySink } from './simHistory.ts'
import { journalOf, laneLedger } from './simJournal.ts'
import { openLedger } from './simLease.ts'
import { SimLedger } from './simLedger.ts'

/** First block of the head lane. */
export const HEAD_FROM = 12

/** The ports of one writer, over either kind of store. */
export interface Ports {
  readonly head: HeadSink<SimBatch>
  readonly history: HistorySink<SimBatch>
  readonly journal: Journal
  readonly ledger: LaneLedger
  readonly tables: AnalyticsTables
}

export interface Side {
  /** A writer with a larger fence than all before; the earlier ones stay and must be refused. */
  claim(fence: bigint): Promise<Ports>
  close(): Promise<void>
}

const noListener = {
  appended: async () => {},
  reverted: () => {},
  withdraw: (_: BlockRange, revert: () => Promise<void>) => revert(),
}

export function realSide(store: ChainStore): Side {
  const { postgres, clickhouse, schema, database, chainId } = store
  const identity = {
    chainId,
    genesisHash: hash(`0x${'00'.repeat(32)}`),
    headerRule: 'ethereum',
    startBlock: 0,
  } as const
  return {
    async claim(fence) {
      await openChain(postgres, identity, HEAD_FROM, fence)
      const options = { postgres, schema, fence, listener: noListener, failpoint: () => {} }
      return {
        head: new PostgresHeadSink(options),
        history: new PostgresHistorySink(options),
        journal: new ClickHouseJournal(postgres, schema, fence),
        ledger: postgresLaneLedger(postgres, schema),
        tables: new ClickHouseTables({
          client: clickhouse,
          database,
          clock: systemRuntime().clock,
          rowsFolder: store.access.clickhouseRowsFolder,
        }),
      }
    },
    close: () => store.close(),
  }
}

export function simulatedSide(kernel: Kernel): Side {
  const process: SimProcess = { name: 'writer', alive: true, stoppedUntilMs: 0 }
  const faults = { errorRate: 0, lostRate: 0, latencyMs: [1, 1], tailMs: 0, full: false } as const
  const bugs = new Bugs()
  const ledger = new SimLedger({
    kernel,
    process,
    state: emptyLedger(),
    faults,
    bugs,
    chunkBlocks: chunkBlocks({ from: 0, to: HEAD_FROM - 1 }),
    violated: () => {},
  })
  const tables = new SimClickHouse({
    kernel,
    process,
    state: emptyEngine(),
    faults,
    bugs,
    partitionBlocks: PARTITION_BLOCKS,
  })
  return {
    async claim(fence) {
      await inVirtualTime(kernel, openLedger(ledger, HEAD_FROM, fence))
      const ports: Ports = {
        head: headSink(ledger, fence, noListener),
        history: historySink(ledger, fence, noListener),
        journal: journalOf(ledger, fence),
        ledger: laneLedger(ledger),
        tables,
      }
      return awaitedPorts(kernel, ports)
    },
    close: async () => {},
  }
}

/** The same ports, whose calls let virtual time pass until they are answered. */
function awaitedPorts(kernel: Kernel, ports: Ports): Ports {
  const awaited = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => inVirtualTime(kernel, Promise.resolve(member.apply(target, args)))
      },
    })
  return {
    head: awaited(ports.head),
    history: awaited(ports.history),
    journal: awaited(ports.journal),
    ledger: awaited(ports.ledger),
    tables: awaited(ports.tables),
  }
}

async function inVirtualTime<T>(kernel: Kernel, promise: Promise<T>): Promise<T> {
  let over = false
  const end = () => {
    over = true
  }
  promise.then(end, end)
  await kernel.run(
    kernel.nowMs + 60_000,
    () => over,
    () => {},
  )
  return promise
}
